"""What the judged sample says of the pairs below a pool."""

from __future__ import annotations

import numpy as np

from annotation.queries.labels import LabelTable
from evaluation.models import Sample
from evaluation.results.stored import SampleEstimates, Stratum
from lookalike.core.arrays import Ints
from lookalike.prevalence.strata import (
    StratumCount,
    WeightedPrevalence,
    stratified_prevalence,
    weighted_prevalence,
)
from lookalike.stats.proportion import clopper_pearson

POOL = "the pool"


def sample_estimates(
    sample: Sample,
    table: LabelTable,
    pooled: set[tuple[int, int]],
    rng: np.random.Generator,
    n_bootstraps: int,
) -> SampleEstimates:
    """Return the weighted estimates of a sample.

    Drawn pairs without a decided label are left out of their stratum, as if they had not been
    drawn; how many is said.

    Args:
        sample: the frozen draw.
        table: every label of the campaign.
        pooled: (query id, candidate id) of the pool as it was when the sample was drawn.
        rng: draws the bootstrap over queries.
        n_bootstraps: how many samples.
    """
    label_of = {
        (query, candidate): int(label)
        for query, candidate, _, _, label in table
        if label is not None
    }
    rows = list(sample.pairs.order_by("id").values_list("query_id", "candidate_id", "stratum"))
    labels = [label_of[pair] for pair in pooled if pair in label_of]
    counts = [StratumCount(POOL, sample.n_pool_pairs, len(labels), sum(labels))]
    for h, stratum in enumerate(sample.strata):
        labels = [label_of[q, c] for q, c, of in rows if of == h and (q, c) in label_of]
        counts.append(StratumCount(stratum["name"], stratum["n_pairs"], len(labels), sum(labels)))
    held = [count for count in counts if count.n_pairs]
    missing = [count.name for count in held if not count.is_census and count.n_sampled < 2]
    known = [(q, c, 0) for q, c in sorted(pooled) if (q, c) in label_of]
    known += [(q, c, h + 1) for q, c, h in rows if (q, c) in label_of]
    labels = [label_of[q, c] for q, c, _ in known]
    n_drawn = [len(pooled), *(stratum["n_drawn"] for stratum in sample.strata)]
    return SampleEstimates(
        aim=sample.get_aim_display(),
        seed=sample.seed,
        n_drawn=len(rows),
        n_labelled=sum(count.n_sampled for count in counts[1:]),
        strata=tuple(_stratum(count, n) for count, n in zip(counts, n_drawn, strict=True)),
        missing=tuple(missing),
        stratified=None if missing else stratified_prevalence(held, pool=counts[0]),
        weighted=None if missing else _weighted(known, labels, counts, rng, n_bootstraps),
    )


def _stratum(count: StratumCount, n_drawn: int) -> Stratum:
    """Return one stratum on its own, with its exact interval at 95 %."""
    n, a = count.n_sampled, count.n_positive
    interval = clopper_pearson(a, n, 0.95) if n and not count.is_census else None
    return Stratum(count.name, count.n_pairs, n, a, a / n if n else None, interval, n_drawn)


def _weighted(
    known: list[tuple[int, int, int]],
    labels: list[int],
    counts: list[StratumCount],
    rng: np.random.Generator,
    n_bootstraps: int,
) -> WeightedPrevalence:
    """Weigh every label by one over the chance that its pair had to be labelled."""
    chance = [count.n_sampled / count.n_pairs if count.n_pairs else 1.0 for count in counts]
    queries: Ints = np.array([q for q, _, _ in known], np.int64)
    return weighted_prevalence(
        labels, [chance[h] for _, _, h in known], queries, rng, n_bootstraps=n_bootstraps
    )
