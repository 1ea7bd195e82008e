"""Which answered pairs the board does not compare, and why: nothing is dropped unsaid."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from evaluation.results.inputs import EvaluationInputs
from lookalike.core.products import is_own_product

REASONS = {
    "no_vote": "only can’t tell or skip",
    "tie": "a tie that the rule leaves open",
    "own_product": "the candidate shows the query’s product",
    "itself": "the candidate is the query’s own picture",
    "below_pool": "drawn below the pool: no model proposed them",
}
"""Why an answered pair is not compared, by the names that releases use, too."""


def left_out_sentence(counts: Mapping[str, int]) -> str:
    """Say how many answered pairs are not compared, and why; "" where all are."""
    if not counts:
        return ""
    parts = [f"{n:,} ({REASONS[reason]})" for reason, n in counts.items()]
    return f"Answered pairs that are not compared: {', '.join(parts)}."


def count_left_out(inputs: EvaluationInputs) -> dict[str, int]:
    """Return how many answered pairs are not compared, by reason; each pair counts once."""
    table = inputs.table
    n_drawn = len(inputs.all_labels) - len(table)
    found: Counter[str] = Counter({"below_pool": n_drawn})
    has_votes = (table.n_similar + table.n_different > 0) | table.is_ruled
    found["no_vote"] = int((~table.is_decided & ~has_votes).sum())
    found["tie"] = int((~table.is_decided & has_votes).sum())
    for query, candidate, _ in inputs.qrels:
        if query == candidate:
            found["itself"] += 1
        elif is_own_product(inputs.products, query, candidate):
            found["own_product"] += 1
    return {reason: found[reason] for reason in REASONS if found[reason]}
