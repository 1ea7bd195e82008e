"""Negatives of a release: drawn by its seed from what nobody judged, with what is known of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from annotation.models import Campaign
from catalog.vectors.embeddings import forget_vectors
from evaluation.results.negatives import BAND
from evaluation.results.queries import latest_result
from evaluation.results.stored import StoredResult
from lookalike.core.arrays import Ints
from lookalike.core.progress import Progress
from lookalike.io.tables import Run
from lookalike.metrics.negatives import NegativeList
from lookalike.release.derive import write_labels
from lookalike.release.format.folder import Folder, write_json
from lookalike.release.format.layout import BAND_NEGATIVES, NEGATIVES
from lookalike.release.format.tables import write_table
from lookalike.release.random_negatives import draw_from_band, draw_uniformly, pair_columns
from lookalike.release.scoring import drawn_measures
from releases.freeze.model_scores import Entrant, ranking_of
from releases.freeze.scope import Scope

Pairs = tuple[Ints, Ints]


def draw_at_freeze(
    scope: Scope, entrants: Sequence[Entrant], pairs: Pairs, folder: Path, progress: Progress
) -> Pairs:
    """Draw negatives, write what release.json says of them, and return all pairs to score.

    A release without a pool, or without a model that has vectors, has none.

    Args:
        scope: what is frozen.
        entrants: its models.
        pairs: database ids of query and candidate of every pair put to the judges.
        folder: with the tables that were frozen, and release.json.
        progress: told what is done now.
    """
    if not scope.pools or not any(one.embedded for one in entrants):
        return pairs
    progress.note("Drawing negatives")
    release = Folder(folder)
    write_labels(release)
    qrels = release.qrels()
    shares = _contamination(scope)
    drawn = {"uniform": draw_uniformly(release, qrels)}
    references = _references(scope, entrants, pairs)
    if references:
        band = draw_from_band(release, qrels, references, BAND)
        if band.pairs:
            drawn["band"] = band
            write_table(folder, BAND_NEGATIVES.name, pair_columns(band))
    info = release.info
    info[NEGATIVES] = {kind: _entry(one, shares.get(kind)) for kind, one in drawn.items()}
    kinds = [kind for kind, one in drawn.items() if one.pairs]
    info["measures"] = [*info["measures"], *drawn_measures(kinds)]
    write_json(folder / "release.json", info)
    return _with(pairs, scope, [pair for one in drawn.values() for pair in one.pairs])


def _entry(drawn: NegativeList, share: float | None) -> dict[str, Any]:
    return {
        "source": drawn.source,
        "n_pairs": len(drawn.pairs),
        "sha256": drawn.sha256,
        "contamination": share,
    }


def _references(scope: Scope, entrants: Sequence[Entrant], pairs: Pairs) -> list[Run]:
    """Return the lists of the models that built the pools, down to the end of the band."""
    task = ranking_of(scope, pairs)
    runs = []
    for entrant in entrants:
        if entrant.embedded is not None and entrant.about["badge"] == "pooled":
            run = task.run_of(entrant.embedded, is_lean=True, depth=BAND[1], n_products=BAND[1])
            runs.append(run)
            forget_vectors()
    return runs


def _contamination(scope: Scope) -> dict[str, float | None]:
    """Return the share of positives among negatives of each kind, by the campaign's evaluation.

    Several campaigns have no estimate in common, and hidden labels tell nothing.
    """
    if len(scope.campaigns) > 1 or scope.hidden.size:
        return {}
    result = latest_result(Campaign.objects.get(pk=scope.campaign_ids[0]))
    if result is None:
        return {}
    return {one.kind: one.contamination for one in StoredResult(result).summary.negatives}


def _with(pairs: Pairs, scope: Scope, drawn: Sequence[tuple[str, str]]) -> Pairs:
    """Return pairs with drawn ones added, all as database ids."""
    name_of = dict(zip(scope.images.sha256, scope.images.names, strict=True))
    asking = scope.pools[0].query_catalog
    queries = {name_of[row.sha256]: row.id for row in scope.images.rows if row.catalog == asking}
    candidates = {
        name_of[row.sha256]: row.id for row in scope.images.rows if row.catalog in scope.ranked
    }
    return (
        np.append(pairs[0], [queries[query] for query, _ in drawn]).astype(np.int64),
        np.append(pairs[1], [candidates[image] for _, image in drawn]).astype(np.int64),
    )
