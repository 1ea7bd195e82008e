"""Scoring by the names of measures: what a notebook calls."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from lookalike.core.products import Products
from lookalike.io.matched_names import MatchedNames
from lookalike.io.tables import Qrels, Run
from lookalike.metrics.match import Missing, Mode, refuse_strangers
from lookalike.metrics.measures import (
    DEFAULT_MEASURES,
    known_measures,
    parse_measure,
    refuse_without_products,
)
from lookalike.metrics.negatives import NegativeList
from lookalike.metrics.scoring import Scored, score_runs


def score(
    qrels: Qrels,
    runs: Run | Iterable[Run],
    measures: Sequence[str] | None = None,
    *,
    products: Mapping[str, str] | None = None,
    mode: Mode = "image",
    missing: Missing = "error",
    trec: bool = False,
    complete: bool = False,
    negatives: Sequence[tuple[str, str]] | None = None,
    contamination: float | None = None,
    band_negatives: Sequence[tuple[str, str]] | None = None,
    band_contamination: float | None = None,
) -> list[Scored]:
    """Return every measure of every run; each mean is over the queries defined for all runs.

    Args:
        qrels: the labels.
        runs: one run, or several that are to be compared.
        measures: names such as "P@5", "AP'" or "macro_roc_auc" (docs/measures.md). If None
            `DEFAULT_MEASURES`, without those of the VSD benchmark where no product is known.
        products: {image: product}, "" where unknown; pairs of one product are left out. vsd_
            measures count each product once: without any they would be others by the same name.
        mode: "image" counts each image, "product" each product once.
        missing: what a judged pair without a score means: "error" refuses the run, "worst"
            ranks it below all others. Only areas need every score.
        trec: order ties, compare scores and average queries as trec_eval does.
        complete: the labels cover all there is to rank. Otherwise what counts ranks is undefined
            for a run that lists the judged pairs alone: positives stand far too high there.
        negatives: (query, candidate) pairs for measures that end in `_random`.
        contamination: the estimated share of positives among `negatives`.
        band_negatives: (query, candidate) pairs for measures that end in `_band`.
        band_contamination: the estimated share of positives among `band_negatives`.

    Names of images that runs, products and negatives write in another way than the labels are
    matched with those of the labels (`lookalike.io.matched_names`).

    Returns:
        One for each run: its name, its coverage of the labels, and {measure: outcome}. A value
        that is undefined is NaN.

    Raises:
        InputError: no run, an unknown measure, mode or missing, a measure that needs products
            without any, labels and runs that do not go together, or a name that may be two
            images.

    >>> qrels = Qrels.of([("q1", "a", 1), ("q1", "b", 0), ("q2", "a", 0), ("q2", "b", 1)])
    >>> beit = Run.of("beit", [("q1", "a", 2), ("q1", "b", 1), ("q2", "a", 2), ("q2", "b", 1)])
    >>> [scored] = score(qrels, beit, ["P@1", "MRR"], complete=True)
    >>> {name: (outcome.value, outcome.n_defined) for name, outcome in scored.outcomes.items()}
    {'P@1': (0.5, 2), 'MRR': (0.75, 2)}
    """
    wanted = known_measures(DEFAULT_MEASURES, products) if measures is None else measures
    parsed = [parse_measure(name) for name in wanted]
    refuse_without_products(parsed, products, "give products={image: product}")
    names = MatchedNames({*qrels.query_ids, *qrels.candidate_ids})
    if products is not None and not isinstance(products, Products):
        products = names.mapping(products, "products")
    if negatives is not None:
        negatives = names.pairs(negatives, "negatives")
    if band_negatives is not None:
        band_negatives = names.pairs(band_negatives, "band_negatives")
    systems = [names.run(run) for run in ([runs] if isinstance(runs, Run) else runs)]
    refuse_strangers(qrels, systems)
    return score_runs(
        qrels,
        systems,
        parsed,
        products=products,
        mode=mode,
        missing=missing,
        trec=trec,
        negatives=_listed(negatives, contamination),
        band_negatives=_listed(band_negatives, band_contamination),
        without_list=() if complete else None,
    )


def _listed(
    pairs: Sequence[tuple[str, str]] | None, contamination: float | None
) -> NegativeList | None:
    return None if pairs is None else NegativeList(tuple(pairs), contamination=contamination)
