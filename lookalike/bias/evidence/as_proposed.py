"""A run as its model proposed: what rounding alone puts above a proposal stands below it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lookalike.bias.evidence.files import Proposals
from lookalike.io.tables import Run

ROUNDING = 1e-4  # of a cosine, by vectors in float16


def as_proposed(run: Run, proposals: Proposals) -> Run:
    """Return a run in which a model's own proposals stand above what only a rounding puts there.

    A pool may have been filled from vectors before they were stored in float16: a candidate that
    nobody proposed may then come out above the last that the model did propose, by `ROUNDING` at
    most. What is further above stays there.

    Args:
        run: a model's whole ranking; names of queries and candidates as in `proposals`.
        proposals: of the pool; those of `run.name` are its own.

    >>> from lookalike.bias.evidence.files import make_proposals
    >>> pool = make_proposals([("q", "a", "net", 1), ("q", "b", "net", 2)])
    >>> run = Run.of("net", [("q", "a", 0.9), ("q", "new", 0.70001), ("q", "b", 0.7)])
    >>> by_query = as_proposed(run, pool).by_query()["q"]
    >>> sorted(by_query, key=by_query.get, reverse=True)
    ['a', 'b', 'new']
    """
    asked: dict[str, set[str]] = {}
    own: dict[str, set[str]] = {}
    for q, c, m in zip(proposals.queries.tolist(), proposals.candidates.tolist(),
                       proposals.models.tolist(), strict=True):  # fmt: skip
        query, candidate = proposals.query_ids[q], proposals.candidate_ids[c]
        asked.setdefault(query, set()).add(candidate)
        if proposals.generators[m] == run.name:
            own.setdefault(query, set()).add(candidate)
    scores = run.scores.copy()
    last = {
        query: min((found[c] for c in own.get(query, ()) if c in found), default=np.inf)
        for query, found in run.by_query().items()
    }
    for i, (q, c) in enumerate(zip(run.queries.tolist(), run.candidates.tolist(), strict=True)):
        query = run.query_ids[q]
        is_asked = run.candidate_ids[c] in asked.get(query, ())
        if not is_asked and last[query] <= scores[i] <= last[query] + ROUNDING:
            scores[i] = last[query] - ROUNDING / 10
    return replace(run, scores=scores)
