"""What the judged sample says of the pairs below a pool."""

from __future__ import annotations

from annotation.queries.labels import LabelTable
from evaluation.models import Sample
from evaluation.results.stored import SampleEstimates, Stratum
from lookalike.prevalence.strata import (
    StratumCount,
    WeightedPrevalence,
    estimate_stratum,
    stratified_prevalence,
    weighted_prevalence,
)

POOL = "the pool"


def sample_estimates(
    sample: Sample,
    table: LabelTable,
    pooled: set[tuple[int, int]],
) -> SampleEstimates:
    """Return the weighted estimates of a sample.

    Of pairs without a decided label, in the pool or drawn, estimates take it that they are like
    the others; the ends of the intervals, that none and that all of them are similar.

    Args:
        sample: the frozen draw.
        table: every label of the campaign.
        pooled: (query id, candidate id) of the pool as it was when the sample was drawn.
    """
    label_of = {
        (query, candidate): int(label)
        for query, candidate, _, _, label in table
        if label is not None
    }
    rows = list(sample.pairs.order_by("id").values_list("query_id", "candidate_id", "stratum"))
    labels = [label_of[pair] for pair in pooled if pair in label_of]
    counts = [_count(POOL, sample.n_pool_pairs, sample.n_pool_pairs, labels)]
    for h, stratum in enumerate(sample.strata):
        labels = [label_of[q, c] for q, c, of in rows if of == h and (q, c) in label_of]
        counts.append(_count(stratum["name"], stratum["n_pairs"], stratum["n_drawn"], labels))
    held = [count for count in counts if count.n_pairs]
    missing = [count.name for count in held if count.n_sampled < (1 if count.is_census else 2)]
    known = [(label_of[pair], 0) for pair in sorted(pooled) if pair in label_of]
    known += [(label_of[q, c], h + 1) for q, c, h in rows if (q, c) in label_of]
    n_drawn = [len(pooled), *(stratum["n_drawn"] for stratum in sample.strata)]
    return SampleEstimates(
        aim=sample.get_aim_display(),
        seed=sample.seed,
        n_drawn=len(rows),
        n_labelled=sum(count.n_sampled for count in counts[1:]),
        strata=tuple(_stratum(count, n) for count, n in zip(counts, n_drawn, strict=True)),
        missing=tuple(missing),
        stratified=None if missing else stratified_prevalence(held, pool=counts[0]),
        weighted=None if missing else _weighted(known, counts),
    )


def _count(name: str, n_pairs: int, n_drawn: int, labels: list[int]) -> StratumCount:
    return StratumCount(name, n_pairs, len(labels), sum(labels), n_drawn - len(labels))


def _stratum(count: StratumCount, n_drawn: int) -> Stratum:
    """Return one stratum on its own, with its exact interval at 95 %."""
    n, a = count.n_sampled, count.n_positive
    estimate = estimate_stratum(count) if n else None
    is_known = count.is_census and not count.n_undecided
    return Stratum(
        count.name,
        count.n_pairs,
        n,
        a,
        estimate.share if estimate else None,
        estimate.interval if estimate and not is_known else None,
        n_drawn,
    )


def _weighted(known: list[tuple[int, int]], counts: list[StratumCount]) -> WeightedPrevalence:
    """Weigh every label by one over the chance that its pair had to be labelled."""
    chance = [count.n_sampled / count.n_pairs if count.n_pairs else 1.0 for count in counts]
    return weighted_prevalence([label for label, _ in known], [chance[h] for _, h in known])
