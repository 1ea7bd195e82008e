"""How each kind of source finds its candidates.

Only tasks and commands import this: backbones and the search load torch.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from catalog.images.blobs import original_on_disk
from catalog.models import EmbeddingSet, Image
from jobs.services import JobError, JobProgress
from lookalike.core.arrays import Ints
from lookalike.core.progress import Progress, Silent
from lookalike.io.errors import InputError
from lookalike.pooling.source_spec import SourceKind
from lookalike.search.scored import Doubles, ScoresOf, best_scored, random_scores
from pooling.embedding.embed import embed_by
from pooling.models import Index, Pool, PoolSource
from pooling.sources.admission import make_filters
from pooling.sources.nearest import Found, nearest_by_index, nearest_candidates
from pooling.sources.plugins import load_plugin, scores_by
from pooling.sources.ranking_task import RankingTask
from pooling.sources.upload_files import whole_upload
from pooling.sources.upload_readers import read_embeddings, read_ranking
from pooling.sources.upload_services import stored_embeddings


@dataclass(frozen=True)
class Answer:
    """What a source proposes, and what it made it from.

    Attributes:
        found: the candidates.
        embedding_set, query_embedding_set: of the candidates and the queries, if it has vectors.
        version: what a plug-in says of itself.
    """

    found: Found
    embedding_set: EmbeddingSet | None = None
    query_embedding_set: EmbeddingSet | None = None
    version: str = ""


class _NotesOfSource(Silent):
    """The progress of a search, whose notes name the source."""

    def __init__(self, source: PoolSource, progress: Progress) -> None:
        self._source = source
        self._progress = progress

    def note(self, text: str) -> None:
        """Say what is being done now."""
        self._progress.note(f"{self._source.spec}: {text}")


def propose(source: PoolSource, k: int, progress: JobProgress) -> Answer:
    """Return a source's k best candidates for every query of its pool.

    Raises:
        JobError: it cannot propose; the message names it and why.
        JobLostError: the job was cancelled or taken over.
    """
    try:
        return _PROPOSERS[source.kind](source, k, progress)
    except InputError as problem:
        raise JobError(str(problem)) from problem


def _by_model(source: PoolSource, k: int, progress: JobProgress) -> Answer:
    """Embed what is missing, and search; a source that goes deeper searches the same vectors."""
    pool, candidates, queries = source.pool, source.embedding_set, source.query_embedding_set
    if source.done_at is None or candidates is None or queries is None:
        catalogs = [pool.catalog, *([pool.query_catalog] if pool.query_catalog else [])]
        sets = embed_by(source.spec, catalogs, progress)
        candidates, queries = sets[0], sets[-1]
    return _by_vectors(source, k, (candidates, queries), progress)


def _by_embeddings(source: PoolSource, k: int, progress: JobProgress) -> Answer:
    progress.start(0, None, f"{source.spec}: reading {source.file_name}", is_long=True)
    path, ids_path = _files(source)
    vectors = read_embeddings(path, ids_path, RankingTask.of(source.pool))
    return _by_vectors(source, k, stored_embeddings(source=source, given=vectors), progress)


def _by_vectors(
    source: PoolSource, k: int, sets: tuple[EmbeddingSet, EmbeddingSet], progress: JobProgress
) -> Answer:
    _say_searching(source, progress)
    candidates, queries = sets
    search = nearest_candidates if source.pool.index == Index.EXACT else nearest_by_index
    notes = _NotesOfSource(source, progress)
    answer = search(source.pool, k, candidates, queries, notes)
    return Answer(answer, embedding_set=candidates, query_embedding_set=queries)


def _by_ranking(source: PoolSource, k: int, progress: JobProgress) -> Answer:
    _say_searching(source, progress)
    path, _ = _files(source)
    ranking = read_ranking(path, RankingTask.of(source.pool))
    query_ids, images = _images_of(source.pool)
    order = np.argsort(images.ids)
    rows = order[np.searchsorted(images.ids, ranking.candidate_ids, sorter=order)]
    by_query = np.argsort(ranking.query_ids, kind="stable")
    sorted_queries = ranking.query_ids[by_query]

    def scores_of(query: int, allowed: Ints) -> Doubles:
        begin, end = np.searchsorted(sorted_queries, [query_ids[query], query_ids[query] + 1])
        scores = np.full(len(images.ids), -np.inf)
        scores[rows[by_query[begin:end]]] = ranking.scores[by_query[begin:end]]
        progress.update(query)
        return scores[allowed]

    return Answer(_scored(source.pool, k, query_ids, images, scores_of))


def _by_chance(source: PoolSource, k: int, progress: JobProgress) -> Answer:
    _say_searching(source, progress)
    seed = int(source.spec.partition(":")[2])
    query_ids, images = _images_of(source.pool)
    sha256_of = _sha256_of(query_ids)

    def scores_of(query: int, allowed: Ints) -> Doubles:
        progress.update(query)
        return random_scores(seed, sha256_of[query], len(images.ids))[allowed]

    return Answer(_scored(source.pool, k, query_ids, images, scores_of))


def _by_plugin(source: PoolSource, k: int, progress: JobProgress) -> Answer:
    dotted = source.spec.partition(":")[2]
    plugin = load_plugin(dotted)
    if source.version and source.version != plugin.version:
        raise JobError(
            f"{source.spec} proposed as version {source.version!r} and is {plugin.version!r} now."
        )
    _say_searching(source, progress)
    query_ids, images = _images_of(source.pool)
    sha256_of = _sha256_of(query_ids)

    def scores_of(query: int, allowed: Ints) -> Doubles:
        progress.update(query)
        candidates = [original_on_disk(images.sha256[row]) for row in allowed.tolist()]
        return scores_by(plugin, dotted, original_on_disk(sha256_of[query]), candidates)

    answer = _scored(source.pool, k, query_ids, images, scores_of)
    return Answer(answer, version=plugin.version)


@dataclass(frozen=True)
class _Images:
    """A catalog's images by content hash: their ids, shape (n,), and these hashes."""

    ids: Ints
    sha256: list[str]


def _images_of(pool: Pool) -> tuple[Ints, _Images]:
    """Return the pool's query ids, and the images of its catalog."""
    query_ids = pool.query_ids
    rows = list(pool.catalog.images.order_by("sha256").values_list("pk", "sha256"))
    ids = np.array([pk for pk, _ in rows], np.int64)
    return query_ids, _Images(ids, [sha256 for _, sha256 in rows])


def _sha256_of(image_ids: Ints) -> list[str]:
    sha256_of = dict(Image.objects.filter(pk__in=image_ids.tolist()).values_list("pk", "sha256"))
    return [sha256_of[pk] for pk in image_ids.tolist()]


def _scored(pool: Pool, k: int, query_ids: Ints, images: _Images, scores_of: ScoresOf) -> Found:
    filters = make_filters(pool, query_ids, images.ids).arrays(len(query_ids), len(images.ids))
    return Found(query_ids, images.ids, best_scored(filters, k, scores_of))


def _files(source: PoolSource) -> tuple[Path, Path | None]:
    """Return where an upload and its list of ids lie."""
    path = whole_upload(source.file_sha256, source.file_name)
    if not source.ids_sha256:
        return path, None
    return path, whole_upload(source.ids_sha256, f"the ids of {source.file_name}")


def _say_searching(source: PoolSource, progress: JobProgress) -> None:
    n_queries = source.pool.queries.count()
    progress.start(0, n_queries, f"{source.spec}: searching", is_long=True)


_PROPOSERS: dict[SourceKind, Callable[[PoolSource, int, JobProgress], Answer]] = {
    SourceKind.BACKBONE: _by_model,
    SourceKind.LEARNED: _by_model,
    SourceKind.EMBEDDINGS: _by_embeddings,
    SourceKind.RANKING: _by_ranking,
    SourceKind.RANDOM: _by_chance,
    SourceKind.PLUGIN: _by_plugin,
}
