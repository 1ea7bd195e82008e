"""The measures by name: "P@5", "AP'", "macro_roc_auc", and which names there are."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from typing import Any, Literal

import numpy as np

from lookalike.core.arrays import Floats, Ints
from lookalike.io.errors import InputError
from lookalike.metrics import retrieval, vsd
from lookalike.metrics.rank import JudgedRanks, condensed

Parameter = Literal["none", "k", "k or none", "p"]

_NAME = re.compile(r"(?P<family>[^@]+?)(?:@(?P<parameter>[^@]*))?")


LONGEST_K = 18  # characters


class UnknownMeasureError(InputError):
    """A measure name that does not exist, or whose cut-off makes no sense."""


@dataclass(frozen=True)
class Lists:
    """One system's rankings, in the three ways that measures look at them.

    Attributes:
        plain: ranks among all candidates.
        one_per_product: ranks in the VSD benchmark's lists.
        as_trec: bpref of a query without judged negatives as trec_eval has it.
        unjudged: ranks of the pool's pairs that were not judged; None if none is known.
    """

    plain: JudgedRanks
    one_per_product: JudgedRanks
    as_trec: bool = False
    unjudged: JudgedRanks | None = None

    @cached_property
    def condensed(self) -> JudgedRanks:
        """Ranks among the judged candidates alone."""
        return condensed(self.plain)


@dataclass(frozen=True)
class Family:
    """A measure before its cut-off is chosen.

    Attributes:
        parameter: what follows the @: a rank k >= 1, a persistence 0 < p < 1, or nothing.
        values: the per-query values, shape (n_queries,), from lists and parameter.
    """

    parameter: Parameter
    values: Callable[[Lists, Any], Floats]


RANKED: Mapping[str, Family] = {
    "vsd_hr": Family("k", lambda x, k: vsd.vsd_hit_rate(x.one_per_product, k)),
    "vsd_mrr": Family("k", lambda x, k: vsd.vsd_reciprocal_rank(x.one_per_product, k)),
    "Success": Family("k", lambda x, k: retrieval.success(x.plain, k)),
    "MRR": Family("k or none", lambda x, k: retrieval.reciprocal_rank(x.plain, k)),
    "P": Family("k", lambda x, k: retrieval.precision(x.plain, k)),
    "P_all": Family("k", lambda x, k: retrieval.precision_all(x.plain, k)),
    "P_max": Family("k", lambda x, k: retrieval.precision_max(x.plain, k)),
    "P'": Family("k", lambda x, k: retrieval.precision(x.condensed, k)),
    "R": Family("k", lambda x, k: retrieval.recall(x.plain, k)),
    "R-Prec": Family("none", lambda x, _: retrieval.r_precision(x.plain)),
    "nDCG": Family("k or none", lambda x, k: retrieval.ndcg(x.plain, k)),
    "nDCG'": Family("k or none", lambda x, k: retrieval.ndcg(x.condensed, k)),
    "nDCG(dcg='exp-log2')": Family(
        "k or none", lambda x, k: retrieval.ndcg(x.plain, k, is_exponential=True)
    ),
    "AP": Family("k or none", lambda x, k: retrieval.average_precision(x.plain, k)),
    "AP'": Family("none", lambda x, _: retrieval.average_precision(x.condensed)),
    "MAP@R": Family("none", lambda x, _: retrieval.map_at_r(x.plain)),
    "bpref": Family("none", lambda x, _: retrieval.bpref(x.plain, as_trec=x.as_trec)),
    "infAP": Family("none", lambda x, _: retrieval.inferred_ap(x.plain, x.unjudged)),
    "RBP": Family("p", lambda x, p: retrieval.rank_biased_precision(x.plain, p)),
    "RBP_residual": Family("p", lambda x, p: retrieval.rank_biased_residual(x.plain, p)),
    "judged": Family("k", lambda x, k: retrieval.judged(x.plain, k)),
    "hole": Family("k", lambda x, k: retrieval.hole(x.plain, k)),
    "tie_rate": Family("k", lambda x, k: retrieval.tie_rate(x.plain, k)),
}
"""Measures of a ranking."""

OVER_PAIRS: tuple[str, ...] = ("vsd_pair_mrr",)
"""Measures that are one number over all positive pairs, from the ranking."""

AREAS: tuple[str, ...] = ("macro_roc_auc", "micro_roc_auc", "macro_pr_auc", "micro_pr_auc")
"""Measures of scored pairs, on annotated negatives."""

RANDOM_AREAS: tuple[str, ...] = tuple(f"{name}_random" for name in AREAS)
"""The same on random negatives in place of the annotated ones."""

BAND_AREAS: tuple[str, ...] = tuple(f"{name}_band" for name in AREAS)
"""The same on negatives that are drawn from a band of ranks of the models that built a pool."""

NEGATIVE_AREAS: tuple[str, ...] = (*RANDOM_AREAS, *BAND_AREAS)
"""All areas on drawn negatives: the columns "Neg" of the VSD paper."""

DEFAULT_MEASURES: tuple[str, ...] = (
    *("vsd_hr@5", "vsd_mrr@5", "Success@5", "MRR@5", "P@5", "P_max@5", "judged@5", "AP'"),
    *AREAS,
)

_ENDINGS = {"none": ("",), "k": ("@k",), "k or none": ("", "@k"), "p": ("@p",)}
_NAMES = (*RANKED, *OVER_PAIRS, *AREAS, *NEGATIVE_AREAS)
_OTHER_NAMES = {  # what other programs and papers call them
    "recall": "R",
    "precision": "P",
    "prec": "P",
    "map": "AP",
    "averageprecision": "AP",
    "rr": "MRR",
    "reciprank": "MRR",
    "rprecision": "R-Prec",
    "hr": "vsd_hr",
    "hitrate": "vsd_hr",
    "hit": "Success",
    "accuracy": "Success",
    "rocauc": "macro_roc_auc",
    "auc": "macro_roc_auc",
    "prauc": "macro_pr_auc",
}

IN_VISION = (
    " That is the share of the positives found. What papers on vision call Recall{cut}, any "
    "positive among the first, is Success{cut}."
)

YES_NO: tuple[str, ...] = ("Success", "tie_rate")
"""Measures of a ranking that are 0 or 1 at each query."""

YES_NO_AT_1: tuple[str, ...] = (
    *("vsd_hr", "vsd_mrr", "MRR", "P", "P_all", "P_max", "P'", "judged", "hole"),
)
"""Measures that are so where k is 1."""

TO_LAST_POSITIVE: tuple[str, ...] = ("R-Prec", "MAP@R")
"""Measures of a ranking that look down to rank R, the number of positives."""

ON_JUDGED: tuple[str, ...] = ("P'", "nDCG'", "AP'", "bpref")
"""Measures of a ranking that look at its judged candidates alone."""


@dataclass(frozen=True)
class Measure:
    """A measure with its cut-off: what a name means.

    Attributes:
        name: as it is written, "P@5".
        family: the part before the @, "P"; a key of RANKED or a member of the tuples.
        parameter: 5, 0.8 or None.
    """

    name: str
    family: str
    parameter: int | float | None = None

    @property
    def is_area(self) -> bool:
        """Whether it needs the score of every judged pair instead of ranks."""
        return self.family in AREAS or self.needs_negatives

    @property
    def needs_negatives(self) -> bool:
        """Whether it needs a list of drawn negatives."""
        return self.family in NEGATIVE_AREAS

    @property
    def is_banded(self) -> bool:
        """Whether its negatives are drawn from a band of ranks."""
        return self.family in BAND_AREAS

    @property
    def needs_list(self) -> bool:
        """Whether it asks for ranks among all candidates, which a run of judged pairs lacks."""
        return not self.is_area and self.family not in ON_JUDGED

    @property
    def needs_products(self) -> bool:
        """Whether it counts each product once, so that it is another measure without them."""
        return self.family.startswith("vsd_")

    @property
    def is_yes_no(self) -> bool:
        """Whether its value at a query is 0 or 1, whatever the labels."""
        return self.family in YES_NO or (self.family in YES_NO_AT_1 and self.parameter == 1)

    def reach(self, lists: Lists) -> Floats:
        """Return the rank of each query down to which it looks, shape (n_queries,).

        Infinite where it looks at the whole list; 0 where it takes no rank among all candidates.
        """
        n_queries = lists.plain.n_queries
        if not self.needs_list:
            return np.zeros(n_queries)
        if self.family in TO_LAST_POSITIVE:
            return lists.plain.count(1).astype(np.float64)
        if self.family in OVER_PAIRS:
            return np.full(n_queries, float(vsd.OFFICIAL_DEPTH))
        if not isinstance(self.parameter, int):
            return np.full(n_queries, np.inf)
        return np.full(n_queries, float(self.parameter + (self.family == "tie_rate")))

    def depths(self, lists: Lists) -> Ints:
        """Return the rank of each query down to which its ranks are right, shape (n_queries,)."""
        return (lists.one_per_product if self.needs_products else lists.plain).depths

    def values(self, lists: Lists) -> Floats:
        """Return the per-query values of a measure of a ranking, shape (n_queries,)."""
        return RANKED[self.family].values(lists, self.parameter)


def parse_measure(name: str) -> Measure:
    """Return the measure that a name like "P@5", "RBP@0.8" or "micro_pr_auc" means.

    Raises:
        UnknownMeasureError: naming what is wrong and every form that is known.
    """
    if name in (*OVER_PAIRS, *AREAS, *NEGATIVE_AREAS):
        return Measure(name, name)
    if name in RANKED and "" in _ENDINGS[RANKED[name].parameter]:
        return Measure(name, name)
    match = _NAME.fullmatch(name)
    family = RANKED.get(match["family"]) if match else None
    if match is None or family is None:
        raise UnknownMeasureError(
            f"unknown measure {name!r}; known: {', '.join(known_forms())}{_hint(name)}"
        )
    text = match["parameter"]
    if family.parameter == "none" or text is None:
        wanted = [form for form in known_forms() if form.split("@")[0] == match["family"]]
        raise UnknownMeasureError(f"measure {name!r} is written {' or '.join(wanted)}")
    if family.parameter == "p":
        return Measure(name, match["family"], _persistence(name, text))
    return Measure(name, match["family"], _rank(name, text))


def known_measures(names: Iterable[str], products: Mapping[str, str] | None) -> list[str]:
    """Return names of measures, without those that need products where none is known.

    >>> known_measures(["vsd_hr@5", "P@5"], {"a.jpg": "", "b.jpg": ""})
    ['P@5']
    """
    is_known = _knows_a_product(products)
    return [name for name in names if is_known or not parse_measure(name).needs_products]


def refuse_without_products(
    measures: Iterable[Measure], products: Mapping[str, str] | None, advice: str
) -> None:
    """Refuse measures that need products where none is known.

    Args:
        measures: asked for.
        products: {image: product}, "" where unknown; None where none are to be told apart.
        advice: how products are given here.

    Raises:
        InputError: it names the measure, and what would be right.
    """
    if _knows_a_product(products):
        return
    for measure in measures:
        if measure.needs_products:
            same = {"vsd_hr": f"P@{measure.parameter}"}.get(measure.family)
            reason = f"; where every image is a product of its own, it is {same}" if same else ""
            raise InputError(
                f"measure {measure.name!r} counts each product once and no product is known: "
                f"{advice}{reason}"
            )


def _knows_a_product(products: Mapping[str, str] | None) -> bool:
    return products is not None and any(products.values())


def known_forms() -> list[str]:
    """Return every name there is, with k and p where a number goes."""
    ranked = (name + end for name, family in RANKED.items() for end in _ENDINGS[family.parameter])
    return [*ranked, *OVER_PAIRS, *AREAS, *NEGATIVE_AREAS]


def _hint(name: str) -> str:
    """Return a question for what an unknown name may have meant, or nothing."""
    family, at, parameter = name.partition("@")
    plain = family.lower().replace(" ", "").replace("_", "").replace("-", "")
    known = {form.lower().replace("_", "").replace("-", ""): form for form in _NAMES}
    known |= _OTHER_NAMES
    near = [plain] if plain in known else get_close_matches(plain, known, n=1, cutoff=0.7)
    if not near:
        return ""
    meant = known[near[0]]
    takes_k = meant in RANKED and RANKED[meant].parameter != "none"
    cut = at + parameter if takes_k else ""
    other = IN_VISION.format(cut=cut) if meant == "R" and cut else ""
    return f". Did you mean {meant}{cut}?{other}"


def _rank(name: str, text: str) -> int:
    if len(text) > LONGEST_K:
        raise UnknownMeasureError(f"measure {name[:LONGEST_K]!r}…: k is too long for a rank")
    if not (text.isascii() and text.lstrip("-").isdecimal()):
        raise UnknownMeasureError(f"measure {name!r}: k = {text!r} is not a whole number")
    if int(text) < 1:
        raise UnknownMeasureError(f"measure {name!r}: k must be at least 1")
    return int(text)


def _persistence(name: str, text: str) -> float:
    try:
        p = float(text)
    except ValueError:
        raise UnknownMeasureError(f"measure {name!r}: p = {text!r} is not a number") from None
    if not 0 < p < 1:
        raise UnknownMeasureError(f"measure {name!r}: p must lie between 0 and 1")
    return p
