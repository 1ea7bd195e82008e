"""The models of a release: who they are, and a file of scores for each."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from catalog.models import Image
from catalog.vectors.embeddings import EmbeddingError, forget_vectors
from catalog.vectors.projections import seen_among
from evaluation.models import Run as UploadedRun
from evaluation.results.inputs import EmbeddedModel, ImageTable, model_family, models_on
from evaluation.runs.ranking_task import RankingTask, ranking_task
from evaluation.runs.stored_runs import load_run
from lookalike.core.arrays import Ints
from lookalike.core.progress import Progress
from lookalike.io.parquet import with_depth
from lookalike.io.tables import Run
from lookalike.release.errors import ReleaseError
from lookalike.release.exports import RUN_DEPTH
from lookalike.release.format.layout import RUN_SCHEMA
from lookalike.release.format.tables import ROWS, TableWriter, named
from pooling.models import Pool, PoolQuery, PoolSource
from releases.freeze.scope import Images, Scope, unranked_ids


@dataclass(frozen=True)
class Entrant:
    """A model that takes part.

    Attributes:
        id: free of white space, also the name of its file.
        name: as shown.
        kind: "embeddings", "scores", or "proposals" of a source that scores no other pair.
        about: the other keys of its entry in models.json.
        embedded: its vectors, None for an uploaded run.
        sha256: of its stored scores, "" for vectors.
    """

    id: str
    name: str
    kind: str
    about: dict[str, Any]
    embedded: EmbeddedModel | None = None
    sha256: str = ""

    def entry(self) -> dict[str, Any]:
        """Return its entry in models.json."""
        return {"id": self.id, "name": self.name, "kind": self.kind, **self.about}


def list_models(scope: Scope, *, with_runs: bool) -> list[Entrant]:
    """Return the sources of the pools, then other embedded models, then uploaded runs.

    Raises:
        ReleaseError: there is none.
    """
    entrants: list[Entrant] = []
    pools = list(Pool.objects.filter(pk__in=scope.pool_ids).order_by("slug"))
    done = PoolSource.objects.filter(pool__in=pools, done_at__isnull=False)
    sources = list(done.select_related("embedding_set").order_by("pool__slug", "position"))
    pooled = {source.spec for source in sources}
    families = {model_family(spec) for spec in pooled}
    notions = {campaign.notion_model for campaign in scope.campaigns}
    embedded = models_on(pools[0], sources, notions) if pools else []
    asked = PoolQuery.objects.filter(pool__in=pools).values_list("image__sha256", flat=True)
    queries = set(asked)
    for model in embedded:
        entrant = _embedded(model, sources, pooled, families)
        seen = seen_among(model.images.spec, queries)
        if seen:
            entrant.about.update(n_seen_queries=len(seen), n_queries=len(queries))
        entrants.append(entrant)
    vectors = {model.name for model in embedded}
    for source in sources:
        if source.spec not in vectors | {entrant.name for entrant in entrants}:
            about: dict[str, Any] = {
                "family": model_family(source.spec),
                "badge": "pooled",
                "card": {},
            }
            about |= {"k": source.k, "n_proposals": source.n_proposals, "fingerprint": ""}
            entrants.append(Entrant("", source.spec, "proposals", about))
    if with_runs:
        _add_runs(entrants, scope, families)
    if all(entrant.kind == "proposals" for entrant in entrants):
        raise ReleaseError(
            "No model takes part: embed the pool’s catalog, or upload a run to the campaign and "
            "let uploaded runs take part."
        )
    return list(_numbered(entrants))


def _add_runs(entrants: list[Entrant], scope: Scope, families: set[str]) -> None:
    """Add the uploaded runs; one named like a source without vectors is that source's scores."""
    place = {entrant.name: at for at, entrant in enumerate(entrants) if entrant.kind == "proposals"}
    runs = UploadedRun.objects.filter(campaign__in=scope.campaign_ids)
    for run in runs.order_by("campaign__slug", "name"):
        at = place.pop(run.name, None)
        if at is not None:
            proposed = entrants[at].about
            about = {
                **proposed,
                "family": run.family or proposed["family"],
                "fingerprint": run.sha256,
            }
            entrants[at] = Entrant("", run.name, "scores", about, sha256=run.sha256)
            continue
        badge = "sibling" if run.family and run.family in families else "outsider"
        about = {"family": run.family or run.name, "badge": badge, "card": {}}
        about["fingerprint"] = run.sha256
        entrants.append(Entrant("", run.name, "scores", about, sha256=run.sha256))


def _embedded(
    model: EmbeddedModel, sources: list[PoolSource], pooled: set[str], families: set[str]
) -> Entrant:
    family = model_family(model.images.spec)
    badge = "sibling" if family in families else "outsider"
    proposed = [source for source in sources if source.spec == model.name]
    about: dict[str, Any] = {
        "family": family,
        "badge": "pooled" if model.name in pooled else badge,
        "k": max((source.k for source in proposed), default=None),
        "n_proposals": sum(source.n_proposals for source in proposed),
        "fingerprint": model.images.fingerprint,
        "dim": model.images.dim,
        "metric": "cosine of vectors scaled to length 1",
        "card": model.images.card,
    }
    return Entrant("", model.name, "embeddings", about, embedded=model)


def _numbered(entrants: list[Entrant]) -> Iterator[Entrant]:
    """Give each entrant an id made from its name that no other has."""
    used: set[str] = set()
    for entrant in entrants:
        stem = re.sub(r"[^a-z0-9]+", "-", entrant.name.lower()).strip("-")[:60] or "model"
        name, number = stem, 2
        while name in used:
            name, number = f"{stem}-{number}", number + 1
        used.add(name)
        yield replace(entrant, id=name)


def write_runs(
    scope: Scope,
    entrants: list[Entrant],
    pairs: tuple[Ints, Ints],
    folder: Path,
    progress: Progress,
) -> None:
    """Write the scores of every model, one in memory at a time.

    Args:
        scope: what is frozen.
        entrants: from `list_models`.
        pairs: database ids of query and candidate of every pair put to the judges.
        folder: of the release.
        progress: told what is done now.

    Raises:
        ReleaseError: a model's vectors or scores are missing or damaged.
    """
    task = ranking_of(scope, pairs) if any(entrant.embedded for entrant in entrants) else None
    for entrant in entrants:
        if entrant.kind == "proposals":
            continue
        progress.note(f"Reading the scores of {entrant.name}")
        try:
            if entrant.embedded is not None and task is not None:
                run = task.run_of(entrant.embedded, is_lean=True, depth=RUN_DEPTH)
                forget_vectors()
            else:
                run = load_run(entrant.sha256, entrant.name)
        except (EmbeddingError, ValueError) as problem:
            raise ReleaseError(f"{entrant.name}: {problem}") from problem
        _write_run(folder / "runs" / f"{entrant.id}.parquet", run, scope.images)


def ranking_of(scope: Scope, pairs: tuple[Ints, Ints]) -> RankingTask:
    """Return what embedded models are asked to rank."""
    images = scope.images
    rows = sorted(images.rows)
    table = ImageTable(
        images.ids,
        [images.names[code] for code in images.codes.tolist()],
        [row.product for row in rows],
        [{} for _ in rows],
        [row.catalog for row in rows],
    )
    pool = Pool.objects.get(pk=scope.pools[0].id)
    held = Image.objects.filter(catalog_id__in={pool.catalog_id, pool.asking.pk})
    newer = set(held.values_list("pk", flat=True)) - set(images.ids.tolist())
    return ranking_task(
        pool, table, pairs[0], pairs[1], without=sorted(newer | unranked_ids(scope))
    )


def _write_run(path: Path, run: Run, images: Images) -> None:
    """Write scores by query and candidate; images that the release lacks are left out."""
    place = {name: code for code, name in enumerate(images.names)}
    place |= {sha256: code for code, sha256 in enumerate(images.sha256)}
    query_codes = np.array([place.get(name, -1) for name in run.query_ids], np.int64)
    image_codes = np.array([place.get(name, -1) for name in run.candidate_ids], np.int64)
    queries, candidates = query_codes[run.queries], image_codes[run.candidates]
    kept = np.flatnonzero((queries >= 0) & (candidates >= 0))
    order = kept[np.lexsort((candidates[kept], queries[kept]))]
    with TableWriter(path, with_depth(RUN_SCHEMA, run.depth)) as writer:
        for start in range(0, order.size, ROWS):
            rows = order[start : start + ROWS]
            writer.add(
                {
                    "query": named(images.names, queries[rows]),
                    "candidate": named(images.names, candidates[rows]),
                    "score": run.scores[rows],
                }
            )
