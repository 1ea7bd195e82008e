"""How many of the pairs put to the judges a run scores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from lookalike.io.tables import Qrels, Run
from lookalike.metrics.match import Missing, MissingScoresError, match_run


@dataclass(frozen=True)
class ScoredPairs:
    """How many labelled pairs are compared, and how many of them a model scores."""

    n_pairs: int
    n_scored: int

    @property
    def share(self) -> float:
        """The scored part."""
        return self.n_scored / self.n_pairs if self.n_pairs else 0.0


def pairs_scored(
    pairs: Qrels, run: Run, products: Mapping[str, str] | None, source: object, missing: Missing
) -> ScoredPairs:
    """Return how many pairs a run scores; those of one product are never compared.

    Args:
        pairs: put to the judges.
        run: the scores.
        products: of images; None where pairs of one product are compared.
        source: of the run, its file or its name.
        missing: "error" refuses a run that lacks scores.

    Raises:
        MissingScoresError: saying how many pairs have no score, and naming the first.
    """
    aligned = match_run(pairs, run, products=products)
    n = int((~aligned.is_excluded).sum())
    absent = np.flatnonzero(~aligned.is_excluded & (aligned.judged_at < 0))
    if absent.size and missing == "error":
        query = aligned.query_ids[aligned.queries[absent[0]]]
        candidate = aligned.candidate_ids[aligned.candidates[absent[0]]]
        raise MissingScoresError(
            f"{source}: no score for {absent.size:,} of {n:,} pairs put to the judges "
            f"(first: query {query}, candidate {candidate}). Add them, or let missing scores "
            "count as the worst."
        )
    return ScoredPairs(n, n - absent.size)
