"""Random negatives: unjudged candidates drawn by a seed, kept as a frozen list."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from lookalike.core.arrays import Ints
from lookalike.core.products import query_product
from lookalike.io.errors import InputError
from lookalike.io.tables import Qrels, Run
from lookalike.metrics.match import WHOLE, match_run
from lookalike.metrics.rank import ranked_candidates


@dataclass(frozen=True)
class NegativeList:
    """Drawn pairs, with all that is needed to draw them again.

    Attributes:
        pairs: (query id, candidate id), in order.
        source: "uniform over A", or "ranks 100-500 of A, B"; "" where unknown.
        seed: of the draw, None where unknown.
        short: queries that got fewer than asked for, because no more candidates were left.
        contamination: estimated share of positives among them (β), None where unknown.
    """

    pairs: tuple[tuple[str, str], ...]
    source: str = ""
    seed: int | None = None
    short: tuple[str, ...] = ()
    contamination: float | None = None

    @property
    def sha256(self) -> str:
        """The hash of the pairs, one "query TAB candidate" a line: names the frozen list."""
        text = "".join(f"{query}\t{candidate}\n" for query, candidate in self.pairs)
        return hashlib.sha256(text.encode()).hexdigest()


def draw_uniform(
    n_wanted: ArrayLike, n_candidates: int, barred: Sequence[Ints], rng: np.random.Generator
) -> list[Ints]:
    """Draw candidates of each query from the whole catalogue, each equally likely.

    Uniform negatives are mostly trivial; the expected AUC does not depend on how many are drawn,
    the AP does.

    Args:
        n_wanted: shape (n_queries,), how many for each query, >= 0.
        n_candidates: size of the catalogue.
        barred: for each query the candidates never to draw: itself, its product, its judged ones.
        rng: source of chance.

    Returns:
        For each query the drawn candidates in ascending order, fewer where too few are left.
    """
    drawn = []
    for wanted, banned in zip(np.asarray(n_wanted).tolist(), barred, strict=True):
        bar = np.unique(banned)
        n_left = n_candidates - bar.size
        places = np.sort(rng.choice(n_left, min(wanted, n_left), replace=False))
        # the i-th candidate that is not barred: step over the barred ones up to it
        drawn.append(places + np.searchsorted(bar - np.arange(bar.size), places, side="right"))
    return drawn


def draw_band(
    n_wanted: ArrayLike,
    lists: Sequence[Sequence[Ints]],
    band: tuple[int, int],
    barred: Sequence[Ints],
    rng: np.random.Generator,
) -> list[Ints]:
    """Draw candidates of each query from a band of ranks of reference models.

    Source: Barkan et al. (VSD) draw from ranks 100 to 500 of "the baselines" and say neither how
    many nor whose; here the union of the bands of the named models, each member equally likely.

    Args:
        n_wanted: as in `draw_uniform`.
        lists: for each reference model and query the candidates in rank order, without the query
            and one image per product if products are to count once.
        band: first and last rank, from 1, both included.
        barred: as in `draw_uniform`.
        rng: source of chance.

    Returns:
        As `draw_uniform`.

    Raises:
        InputError: if the band is empty or there is no model.
    """
    first, last = band
    if not 1 <= first <= last:
        raise InputError(f"the rank band {first}-{last} is empty or does not start at 1 or later")
    if not lists:
        raise InputError("a rank band needs at least one reference model")
    drawn = []
    for q, wanted in enumerate(np.asarray(n_wanted).tolist()):
        bands = [np.asarray(of_model[q])[first - 1 : last] for of_model in lists]
        left = np.setdiff1d(np.concatenate(bands), barred[q])
        drawn.append(np.sort(rng.choice(left, min(wanted, left.size), replace=False)))
    return drawn


def draw_negatives(
    qrels: Qrels,
    references: Sequence[Run],
    *,
    band: tuple[int, int] | None,
    seed: int,
    per_positive: int = 1,
    products: Mapping[str, str] | None = None,
    candidates: Sequence[str] | None = None,
    asked: Iterable[tuple[str, str]] = (),
    keys: Mapping[str, str] | None = None,
) -> NegativeList:
    """Draw a frozen list of random negatives for every query with a positive.

    Never drawn: the query, images of its product, judged candidates, pairs in `asked`. With
    products, a reference's list counts each product once, by its best image. What a query gets
    depends on the seed, its key and its own candidates alone, so lists over other queries agree.

    Args:
        qrels: the labels.
        references: named runs. A band is taken from their rankings; without one every candidate
            that any of them lists is as likely as another, unless `candidates` are given.
        band: first and last rank, both included; None: uniform.
        seed: of the draw.
        per_positive: how many for each positive of the query.
        products: as in `match_run`.
        candidates: all images that may be drawn; None: all that the references list.
        asked: further pairs that are never drawn, such as those still to be judged.
        keys: what stands for each query in the draw, such as its SHA-256; its name by default.

    Raises:
        InputError: if there is no reference where one is needed, the band is empty or ends below
            the exact depth of a reference, or per_positive < 1.
    """
    if per_positive < 1 or not (references or (candidates and band is None)):
        raise InputError("random negatives need a reference run and at least one per positive")
    listed = {name for run in references for name in run.candidate_ids}
    drawable = listed if candidates is None else set(candidates)
    ids = tuple(sorted(drawable if band is None else listed | drawable))
    code_of = {name: code for code, name in enumerate(ids)}
    lists = [] if band is None else _ranked_codes(qrels, references, products, code_of, band[1])
    never = np.array([at for at, name in enumerate(ids) if name not in drawable], np.int64)
    barred = [np.append(one, never) for one in _barred(qrels, code_of, products, asked)]
    wanted = per_positive * np.bincount(
        qrels.queries[qrels.labels == 1], minlength=len(qrels.query_ids)
    )
    drawn = []
    for q, query in enumerate(qrels.query_ids):
        rng = _rng(seed, (keys or {}).get(query, query))
        if band is None:
            drawn += draw_uniform(wanted[q : q + 1], len(ids), barred[q : q + 1], rng)
        else:
            own = [[of_model[q]] for of_model in lists]
            drawn += draw_band(wanted[q : q + 1], own, band, barred[q : q + 1], rng)
    names = ", ".join(run.name for run in references)
    if band is not None:
        source = f"ranks {band[0]}-{band[1]} of {names}"
    else:
        source = f"uniform over {names or 'all candidates'}"
    rows = list(zip(qrels.query_ids, drawn, wanted.tolist(), strict=True))
    return NegativeList(
        pairs=tuple((query, ids[code]) for query, codes, _ in rows for code in codes.tolist()),
        source=source,
        seed=seed,
        short=tuple(query for query, codes, n_wanted in rows if codes.size < n_wanted),
    )


def with_negatives(qrels: Qrels, negatives: Sequence[tuple[str, str]]) -> Qrels:
    """Return the positives of the labels together with drawn negatives in place of judged ones.

    The queries and their numbers stay. A drawn pair that has been judged since is left out: a
    list is frozen, labels go on.

    Raises:
        InputError: if a pair belongs to a query without labels, or none is left.
    """
    place = {name: code for code, name in enumerate(qrels.query_ids)}
    judged = {(query, candidate) for query, candidate, _ in qrels}
    strange = next((query for query, _ in negatives if query not in place), None)
    if strange is not None:
        raise InputError(f"the random negatives hold query {strange!r}, which has no labels")
    kept = [(query, candidate, 0) for query, candidate in negatives]
    kept = [pair for pair in kept if pair[:2] not in judged]
    if not kept:
        raise InputError("no random negative is left: all of them have been judged")
    labels = Qrels.of([pair for pair in qrels if pair[2] == 1] + kept)
    codes = np.array([place[name] for name in labels.query_ids])
    return replace(labels, query_ids=qrels.query_ids, queries=codes[labels.queries])


def _ranked_codes(
    qrels: Qrels,
    references: Sequence[Run],
    products: Mapping[str, str] | None,
    code_of: Mapping[str, int],
    depth: int,
) -> list[list[Ints]]:
    """Return the list of each reference and query as codes, one image per product.

    Raises:
        InputError: a reference's lists end above the depth.
    """
    lists = []
    for run in references:
        matched = match_run(qrels, run, products=products)
        depths, unit = matched.depths, "ranks"
        if products is not None:
            depths, unit = matched.product_depths, "products"
        complete = int(depths.min(initial=WHOLE))
        if complete < depth:
            raise InputError(
                f"the band ends at rank {depth:,}, and run {run.name!r} is complete down to "
                f"{complete:,} {unit} only"
            )
        codes = np.array([code_of.get(name, -1) for name in matched.candidate_ids], np.int64)
        ranked = ranked_candidates(matched, one_per_product=products is not None)
        lists.append([codes[of_query] for of_query in ranked])
    return lists


def _rng(seed: int, key: str) -> np.random.Generator:
    """Return the generator of one query."""
    return np.random.default_rng([seed, int.from_bytes(hashlib.sha256(key.encode()).digest())])


def _barred(
    qrels: Qrels,
    code_of: Mapping[str, int],
    products: Mapping[str, str] | None,
    asked: Iterable[tuple[str, str]],
) -> list[Ints]:
    """Return for each query the codes never to draw."""
    further: dict[str, list[int]] = {}
    for query, candidate in asked:
        if candidate in code_of:
            further.setdefault(query, []).append(code_of[candidate])
    siblings: dict[str, list[int]] = {}
    for image, product in (products or {}).items():
        if product and image in code_of:
            siblings.setdefault(product, []).append(code_of[image])
    barred = []
    for query, judged in qrels.by_query().items():
        codes = [code_of[name] for name in (query, *judged) if name in code_of]
        codes += siblings.get(query_product(products, query), []) + further.get(query, [])
        barred.append(np.array(codes, dtype=np.int64))
    return barred
