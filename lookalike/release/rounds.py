"""A release whose pool rounds have judged in part: estimates from its own tables and runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from lookalike.bias.evidence.as_proposed import as_proposed
from lookalike.bias.evidence.files import make_proposals
from lookalike.core.errors import Refused
from lookalike.io.errors import InputError
from lookalike.planning.estimates import Estimates, estimate, undrawn
from lookalike.planning.measures import needed_depth
from lookalike.planning.pool_files import NamedPool, named_pool
from lookalike.planning.rounds import Round
from lookalike.release.errors import ReleaseError
from lookalike.release.format.folder import Folder
from lookalike.release.format.layout import FIRST_WITH_BOARD
from lookalike.release.scoring import Results, rounded
from lookalike.stats.units import PRODUCT, QUERY

IN_PART = (
    "rounds have judged a part of its pool: plain measures would take what was drawn for all "
    "there is. Its own estimates are in results.json; `lookalike rounds estimate --release` makes "
    "others"
)


def judged_share(folder: Folder) -> float:
    """Return the share of the pool's pairs with a label; 1 where no rounds drew them."""
    if not any(campaign.get("rounds") for campaign in folder.info["campaigns"]):
        return 1.0
    pool = set(folder.rows("pool", "query_id", "image_id"))
    labels = {(query, image) for query, image, _ in folder.qrels()}
    return len(pool & labels) / len(pool)


def estimated_results(folder: Folder) -> Results:
    """Return estimates of the measures that have one, of the models that built the pool.

    Raises:
        ReleaseError: no estimate is valid; why.
    """
    named = named_pool_of(folder)
    labels = named.labels(folder.qrels())
    rounds = read_rounds(folder, named)
    labels[undrawn(labels, rounds)] = np.nan
    names = [name for name in folder.info["measures"] if _has_estimate(name, named.pool.depth)]
    try:
        found = estimate(named.pool, labels, rounds, names)
    except Refused as problem:
        raise ReleaseError(f"Nothing can be estimated: {problem.message}.") from problem
    summary = {
        "measures": names,
        "n_queries": named.pool.n_queries,
        "judged": rounded(found.judged),
        "models": [_model(found, m, len(folder.qrels())) for m in range(len(named.pool.models))],
    }
    return Results(list(named.pool.models), (), names, {}, summary)


def read_rounds(folder: Folder, named: NamedPool) -> list[Round]:
    """Return the rounds as they were drawn, in their order.

    Args:
        folder: the release.
        named: its pool.

    Raises:
        ReleaseError: a pair of a round is not of the pool.
    """
    place = {pair: at for at, pair in enumerate(named.pairs)}
    rounds: dict[int, Round] = {}
    columns = ("round", "query_id", "image_id", "probability", "is_drawn")
    for number, query, image, probability, is_drawn in folder.rows("rounds", *columns):
        if number not in rounds:
            n = len(named.pairs)
            rounds[number] = Round(np.full(n, np.nan), np.zeros(n, np.bool_))
        if (query, image) not in place:
            raise ReleaseError(f"Round {number} holds {query} and {image}, no pair of the pool.")
        at = place[query, image]
        rounds[number].probabilities[at] = probability
        rounds[number].drawn[at] = is_drawn
    return [rounds[number] for number in sorted(rounds)]


def named_pool_of(folder: Folder, unit: str | None = None) -> NamedPool:
    """Return the pool with what the models say of it that have built it and have scores.

    Args:
        folder: the release.
        unit: of queries, as `Folder.unit_of` takes it; None: that of the release's own results.

    Raises:
        ReleaseError: there is no such model.
    """
    rows = folder.rows("pool", "query_id", "image_id", "model_id", "rank")
    is_pooled = {
        model["id"]
        for model in folder.scored
        if model["badge"] == "pooled" and model["kind"] == "embeddings"
    }
    proposals = make_proposals(list(rows))
    runs = [
        as_proposed(folder.run(model["id"]), proposals)
        for model in folder.models
        if model["id"] in is_pooled
    ]
    if not runs:
        raise ReleaseError("No model that has built the pool has scores.")
    is_old = folder.info["schema_version"] < FIRST_WITH_BOARD  # their queries are independent
    chosen = QUERY if is_old and unit is None else unit
    return named_pool(
        proposals,
        runs,
        products=folder.products,
        unit_of=folder.unit_of(chosen),
        unit=chosen or PRODUCT,
    )


def _has_estimate(name: str, depth: int) -> bool:
    try:
        return needed_depth(name) <= depth
    except InputError:
        return False


def _model(found: Estimates, m: int, n_labels: int) -> Mapping[str, Any]:
    measures = {}
    for one in found.measures:
        ends = one.intervals()[m]
        measures[one.name] = {
            "value": rounded(float(one.shown[m])), "n_queries": None,
            "low": rounded(ends.low), "high": rounded(ends.high),
        }  # fmt: skip
    return {
        "id": found.pool.models[m],
        "coverage": {"n_pairs": n_labels, "n_scored": n_labels},
        "measures": measures,
    }
