"""Draw the pairs that are judged next, from proposals and the labels of earlier rounds alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from annotation.models import Campaign
from annotation.queries.labels import labels
from lookalike.core.arrays import Floats, Ints
from lookalike.core.errors import Refused
from lookalike.planning.pool import RankedPool
from lookalike.planning.rounds import Round, draw_round
from lookalike.pooling.source_spec import SourceKind
from lookalike.stats.intervals import LEAST_QUERIES
from pooling.models import Index, Pool
from pooling.pools.queries import stored_proposals


@dataclass(frozen=True)
class PairPool:
    """A pool as rounds draw from it.

    Attributes:
        ranked: its pairs with the ranks and scores of those models that proposed them.
        image_ids: shape (n_pairs, 2), query and candidate of each.
    """

    ranked: RankedPool
    image_ids: Ints

    def labels(self, campaign: Campaign) -> Floats:
        """Return the label of each pair, NaN where it has none, shape (n_pairs,)."""
        table = labels(campaign)
        decided = table.is_decided
        pairs = zip(table.query_ids[decided].tolist(), table.candidate_ids[decided].tolist(),
                    strict=True)  # fmt: skip
        label_of = dict(zip(pairs, table.is_similar[decided].tolist(), strict=True))
        pairs_asked = map(tuple, self.image_ids.tolist())
        return np.array([label_of.get(pair, np.nan) for pair in pairs_asked], np.float64)


def check_pool(pool: Pool) -> None:
    """Refuse a pool that cannot be judged in rounds.

    Raises:
        Refused: saying why.
    """
    if pool.candidate_rule:
        raise Refused(
            "pool",
            f"“{pool}” has rules on candidates: the models’ whole lists hold what they left out, "
            "and no measure of such lists can be estimated. Judge it whole.",
        )
    if pool.index != Index.EXACT:
        raise Refused(
            "pool",
            f"“{pool}” was filled by an approximate index: what it missed in the models’ lists "
            "could never be drawn. Judge it whole, or make the pool by exact search.",
        )
    if pool.queries.count() < LEAST_QUERIES:
        raise Refused(
            "pool",
            f"“{pool}” has {pool.queries.count()} queries; below {LEAST_QUERIES} no estimate has "
            "an interval. Judge it whole.",
        )


def pair_pool(pool: Pool) -> PairPool:
    """Return the pairs of a pool; what was drawn by chance has no ranks.

    Raises:
        Refused: no model has ranked anything.
    """
    sources, proposals = stored_proposals(pool)
    is_ranking = np.array([source.kind != SourceKind.RANDOM for source in sources], np.bool_)
    if not is_ranking.any():
        raise Refused("pool", f"no model has ranked anything for “{pool}”; judge it whole.")
    width = int(proposals.candidate.max()) + 1
    keys, at = np.unique(proposals.query * width + proposals.candidate, return_inverse=True)
    queries, candidates = np.divmod(keys, width)
    ranks = np.zeros((len(sources), keys.size), np.int64)
    scores = np.full((len(sources), keys.size), -np.inf)
    ranks[proposals.model, at] = proposals.rank + 1
    scores[proposals.model, at] = proposals.score
    query_ids = pool.query_ids
    ranked = RankedPool(
        models=tuple(s.spec for s, ranks_pairs in zip(sources, is_ranking, strict=True)
                     if ranks_pairs),
        n_queries=query_ids.size,
        queries=queries,
        ranks=ranks[is_ranking],
        scores=scores[is_ranking],
        depth=int(ranks[is_ranking].max()),
    )  # fmt: skip
    return PairPool(ranked, np.stack([query_ids[queries], candidates], axis=1))


def draw(
    pairs: PairPool, known: Floats, *, share: float, floor: float | None, seed: int, n_rounds: int
) -> Round:
    """Draw a round.

    Args:
        pairs: of the pool.
        known: shape (n_pairs,), labels so far; NaN where open.
        share: of the pool's pairs, about what is drawn.
        floor: as `draw_round` takes it.
        seed: of all rounds.
        n_rounds: drawn before.

    Raises:
        Refused: nothing is open, or the floor cannot be.
    """
    n_known = int((~np.isnan(known)).sum())
    return draw_round(
        pairs.ranked,
        known,
        n_wanted=max(1, round(share * pairs.ranked.n_pairs)),
        rng=np.random.default_rng([seed, n_known, n_rounds]),
        floor=floor,
    )
