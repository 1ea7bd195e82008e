"""The bias of a release's pool: its evidence, with newcomers if wanted, and the findings."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from lookalike.bias.evidence.assemble import Extras, assemble_evidence, dividing_attributes
from lookalike.bias.evidence.files import VoteTable
from lookalike.bias.evidence.pool import PoolEvidence
from lookalike.bias.report import bias_findings
from lookalike.io.errors import InputError
from lookalike.io.tables import Run
from lookalike.release.errors import ReleaseError
from lookalike.release.format.folder import Folder
from lookalike.release.format.layout import NEGATIVES
from lookalike.release.outsiders import read_pool
from lookalike.release.rounds import IN_PART, judged_share
from lookalike.release.votes import ANSWERS, counted_votes
from lookalike.stats.intervals import METHOD
from lookalike.stats.units import PRODUCT

SEED = 0


def pool_evidence(
    folder: Folder,
    newcomers: Sequence[Run] = (),
    *,
    with_votes: bool = True,
    unit: str | None = None,
) -> PoolEvidence:
    """Return the evidence of a release's pool, over queries with public labels.

    Args:
        folder: the release.
        newcomers: further models to evaluate, of other names than the release's models; a
            missing score counts as the worst.
        with_votes: whether to read the votes behind the labels.
        unit: of queries, as `Folder.unit_of` takes it; None: the product.

    Raises:
        ReleaseError: the release has no pool, or one that rounds have judged in part.
        InputError: no judged pair was proposed, or a newcomer has the name of a model.
    """
    if judged_share(folder) < 1:
        raise ReleaseError(f"{folder.place}: {IN_PART}")
    proposals = read_pool(folder)
    if proposals is None:
        raise ReleaseError(f"{folder.place}: the release has no pool, so no bias of one")
    images = list(folder.rows("images", "image_id", "attributes", "is_candidate"))
    attributes = [json.loads(text or "{}") for _, text, _ in images]
    return assemble_evidence(
        folder.qrels(),
        proposals,
        [*(folder.run(model["id"]) for model in folder.scored), *newcomers],
        missing="worst",
        extras=Extras(
            families={model["id"]: model["family"] for model in folder.models},
            products=folder.products,
            votes=_vote_table(folder) if with_votes else None,
            attributes=dividing_attributes([name for name, _, _ in images], attributes),
            n_catalogue_pairs=_n_catalogue_pairs(images, proposals.query_ids),
            unit_of=folder.unit_of(unit) or {},
            unit_name=unit or PRODUCT,
            **_random_negatives(folder),
        ),
    )


def release_findings(folder: Folder) -> dict[str, Any]:
    """Return what bias.json holds: the findings on the pool, from the release's own data.

    A release without a pool, or with one that rounds have judged in part, has none.
    """
    findings: list[str] = []
    if judged_share(folder) == 1 and read_pool(folder) is not None:
        try:
            evidence = pool_evidence(folder, with_votes=False)
            findings += bias_findings(evidence, np.random.default_rng(SEED))
        except InputError as problem:  # no proposed pair is judged
            findings.append(f"Nothing is known of the pool’s bias: {problem}.")
    return {"findings": findings, "seed": SEED, "intervals": METHOD}


def _vote_table(folder: Folder) -> VoteTable | None:
    votes = counted_votes(folder)
    judges = tuple(sorted({judge for _, _, judge, _ in votes}))
    if len(judges) < 2:
        return None
    place = {judge: at for at, judge in enumerate(judges)}
    return VoteTable(
        judges, tuple((q, c, place[judge], ANSWERS[answer]) for q, c, judge, answer in votes)
    )


def _random_negatives(folder: Folder) -> dict[str, Any]:
    """Return the uniform negatives, where models have scores of them."""
    if NEGATIVES not in folder.info:
        return {}
    drawn = folder.drawn_negatives()["uniform"]
    return {"negatives": drawn.pairs, "contamination": drawn.contamination}


def _n_catalogue_pairs(images: Iterable[tuple[str, str, bool]], queries: Sequence[str]) -> int:
    """Return how many pairs of a query with another candidate there are."""
    ranked = {name for name, _, is_ranked in images if is_ranked}
    return len(ranked) * len(queries) - sum(query in ranked for query in queries)
