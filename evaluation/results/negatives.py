"""Negatives drawn at evaluation for the areas "Neg" of the VSD paper: uniform, and from a band."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from evaluation.below_pool.bounds import BOUNDS
from evaluation.results.inputs import EmbeddedModel, EvaluationInputs
from evaluation.results.stored import NegativesSummary, SampleEstimates
from evaluation.runs.ranking_task import RankingTask, labelled_task
from lookalike.core.arrays import Ints
from lookalike.io.tables import Run
from lookalike.metrics.match import match_run
from lookalike.metrics.negatives import NegativeList, draw_negatives
from lookalike.metrics.rank import ranked_candidates
from lookalike.prevalence.sampling import rank_strata
from pooling.models import Pool
from pooling.pools.queries import left_out_ids

BAND = (100, 500)
"""First and last rank, as the VSD paper has them."""


@dataclass(frozen=True)
class DrawnNegatives:
    """What an evaluation drew; no row of a judgement, label or question is made of it.

    Attributes:
        uniform: from the whole catalog; None for a campaign without a pool.
        band: from ranks 100 to 500 of the models that built the pool; None where none of them
            has vectors, or no list is so long.
    """

    uniform: NegativeList | None = None
    band: NegativeList | None = None

    @property
    def by_kind(self) -> dict[str, NegativeList]:
        """The lists that hold a pair."""
        kinds = {"uniform": self.uniform, "band": self.band}
        return {kind: one for kind, one in kinds.items() if one is not None and one.pairs}

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Every pair drawn, of both lists."""
        return sorted({pair for one in self.by_kind.values() for pair in one.pairs})

    @property
    def hashes(self) -> dict[str, str]:
        """SHA-256 of each list."""
        return {f"{kind} negatives": one.sha256 for kind, one in self.by_kind.items()}

    def summaries(self) -> tuple[NegativesSummary, ...]:
        """Return what a result stores of each list."""
        return tuple(
            NegativesSummary(
                kind, one.source, one.seed, len(one.pairs), one.sha256, len(one.short),
                one.contamination,
            )
            for kind, one in self.by_kind.items()
        )  # fmt: skip


def draw_at_evaluation(
    inputs: EvaluationInputs,
    embedded: Sequence[EmbeddedModel],
    *,
    seed: int,
    sample: SampleEstimates | None = None,
) -> DrawnNegatives:
    """Draw one negative of each kind for each positive, by a seed and each query's SHA-256.

    Never drawn: the query, its product, what was put to the judges or proposed, and what curation
    had left out of the catalog when the pool was made. Pairs of a sample
    below the pool can be drawn like others there: the share of positives is that of all of them.

    Args:
        inputs: the campaign.
        embedded: its models with vectors.
        seed: of the draw.
        sample: estimates from pairs drawn below the pool: the share of positives among negatives.
    """
    if inputs.pool is None or inputs.proposals is None:
        return DrawnNegatives()
    asked = {(query, candidate) for query, candidate, _ in inputs.asked} - inputs.below_pool
    asked |= set(_proposed(inputs))
    draw = partial(draw_negatives, inputs.qrels, seed=seed, products=inputs.products, asked=asked)
    candidates = _candidates(inputs.pool)
    uniform = draw([], band=None, candidates=candidates)
    references = _references(inputs, embedded)
    if not references:
        return DrawnNegatives(replace(uniform, contamination=_uniform_share(sample)))
    band = draw(references, band=BAND, candidates=candidates)
    depth = min(source.k for source in inputs.sources)
    return DrawnNegatives(
        replace(uniform, contamination=_uniform_share(sample)),
        replace(band, contamination=_band_share(sample, inputs, references, band, depth)),
    )


def _proposed(inputs: EvaluationInputs) -> list[tuple[str, str]]:
    stored = inputs.proposals
    if stored is None:
        return []
    pairs = zip(stored.queries.tolist(), stored.candidates.tolist(), strict=True)
    return [(stored.query_ids[q], stored.candidate_ids[c]) for q, c in pairs]


def _candidates(pool: Pool) -> list[str]:
    held = pool.catalog.images.exclude(pk__in=left_out_ids(pool))
    return list(held.values_list("sha256", flat=True))


def _references(inputs: EvaluationInputs, embedded: Sequence[EmbeddedModel]) -> list[Run]:
    """Return the lists of the models that built the pool, down to the end of the band."""
    proposals = inputs.proposals
    builders = [m for m in embedded if proposals and m.name in proposals.generators]
    if not builders:
        return []
    task: RankingTask = labelled_task(inputs)
    return [task.run_of(model, depth=BAND[1], n_products=BAND[1]) for model in builders]


def _uniform_share(sample: SampleEstimates | None) -> float | None:
    """Return the share of positives below the pool, None where a stratum has no estimate."""
    if sample is None or sample.stratified is None:
        return None
    below = [stratum for stratum in sample.strata[1:] if stratum.n_pairs]
    n_pairs = sum(stratum.n_pairs for stratum in below)
    found = sum(stratum.n_pairs * (stratum.share or 0.0) for stratum in below)
    return found / n_pairs if n_pairs else None


def _band_share(
    sample: SampleEstimates | None,
    inputs: EvaluationInputs,
    references: Sequence[Run],
    band: NegativeList,
    depth: int,
) -> float | None:
    """Return the share of positives expected among pairs of a band, by their best ranks."""
    if sample is None or sample.stratified is None or not band.pairs:
        return None
    share_of = {stratum.name: stratum.share for stratum in sample.strata[1:]}
    strata = rank_strata(depth, BOUNDS)
    best = _best_ranks(inputs, references, band)
    lasts = np.array([stratum.last for stratum in strata if stratum.last is not None])
    shares = [share_of.get(strata[at].name) for at in np.searchsorted(lasts, best).tolist()]
    known = [share for share in shares if share is not None]
    return float(np.mean(known)) if len(known) == len(shares) else None


def _best_ranks(inputs: EvaluationInputs, references: Sequence[Run], band: NegativeList) -> Ints:
    """Return the best rank that any reference gives to each pair."""
    best: dict[tuple[str, str], int] = {}
    for run in references:
        aligned = match_run(inputs.qrels, run, products=inputs.products)
        for query, codes in zip(aligned.query_ids, ranked_candidates(aligned), strict=True):
            for rank, code in enumerate(codes.tolist(), 1):
                pair = query, aligned.candidate_ids[code]
                best[pair] = min(rank, best.get(pair, rank))
    return np.array([best[pair] for pair in band.pairs], np.int64)
