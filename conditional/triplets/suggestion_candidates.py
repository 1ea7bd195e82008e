"""What models score: the candidates of a pool's queries, or neighbours by embedding sets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from catalog.models import Catalog, EmbeddingSet, Image
from catalog.vectors.embeddings import EmbeddingError, load_vectors
from lookalike.conditional.builders.disagreements import ScoredCandidates
from lookalike.core.arrays import Bools, Floats, Ints
from lookalike.core.errors import Refused
from lookalike.core.progress import Progress
from lookalike.pooling.source_spec import SourceKind
from pooling.models import Pool, PoolSource

AT_ONCE = 200
ANCHORS_AT_ONCE = 32
BLOCK = 8192


def speaking_sources(pool: Pool) -> list[PoolSource]:
    """Return the sources of a pool that have an opinion: all that are done but random pairs.

    Raises:
        Refused: the pool is being filled, its queries are of another catalog, or fewer
            than two sources have an opinion.
    """
    if not pool.has_ended:
        raise Refused("source", f"“{pool}” is not filled yet; wait for it.")
    if pool.query_catalog_id not in {None, pool.catalog_id}:
        raise Refused("source", f"the queries of “{pool}” are of another catalog.")
    done = pool.sources.filter(done_at__isnull=False).order_by("position")
    sources = [source for source in done if source.kind != SourceKind.RANDOM]
    if len(sources) < 2:
        raise Refused("source", f"“{pool}” has fewer than two models to disagree.")
    return sources


def scored_of_pool(
    pool: Pool, sources: Sequence[PoolSource], queries: Sequence[int], progress: Progress
) -> list[ScoredCandidates]:
    """Return the candidates of queries with the scores of the sources that proposed them.

    Args:
        queries: image ids of queries.
        progress: told how many queries are done.
    """
    row_of = {source.pk: row for row, source in enumerate(sources)}
    found: list[ScoredCandidates] = []
    for start in range(0, len(queries), AT_ONCE):
        part = list(queries[start : start + AT_ONCE])
        proposed: dict[int, list[tuple[int, int, float]]] = {}
        proposals = pool.proposals.filter(query__in=part, source__in=list(row_of)).order_by()
        rows = proposals.values_list("query_id", "candidate_id", "source_id", "score")
        for query, candidate, source, score in rows.iterator():
            proposed.setdefault(query, []).append((candidate, row_of[source], score))
        pks = {*part, *(candidate for rows in proposed.values() for candidate, *_ in rows)}
        product_of = dict(Image.objects.filter(pk__in=pks).values_list("pk", "product_id"))
        found += [
            _of_query(query, rows, product_of, len(sources)) for query, rows in proposed.items()
        ]
        progress.update(start + len(part), len(queries))
    return found


def _of_query(
    query: int, rows: list[tuple[int, int, float]], product_of: dict[int, str], n_models: int
) -> ScoredCandidates:
    images = sorted({candidate for candidate, *_ in rows} - {query})
    place_of = {candidate: place for place, candidate in enumerate(images)}
    scores = np.full((n_models, len(images)), np.nan)
    floors = np.full(n_models, np.nan)
    for candidate, model, score in rows:
        floors[model] = np.fmin(floors[model], score)
        if candidate in place_of:
            scores[model, place_of[candidate]] = score
    return ScoredCandidates(
        query,
        product_of[query],
        np.array(images, np.int64),
        [product_of[pk] for pk in images],
        scores,
        floors,
    )


def scored_by_embeddings(
    embedding_sets: Sequence[EmbeddingSet], anchors: Sequence[int], k: int, progress: Progress
) -> list[ScoredCandidates]:
    """Return the union of the k nearest of each anchor by each set, with all their cosines.

    Images of the anchor's own product are no candidates.

    Raises:
        Refused: vectors are missing, damaged or of length zero.
    """
    catalog = embedding_sets[0].catalog
    product_of = dict(catalog.images.values_list("pk", "product_id"))
    spaces = [_Space(found, product_of.keys()) for found in embedding_sets]
    images = spaces[0].image_ids
    if any(not np.array_equal(space.image_ids, images) for space in spaces):
        raise Refused("source", "the embedding sets do not hold the same images.")
    names = {name: code for code, name in enumerate(sorted({*product_of.values()} - {""}))}
    codes = np.array([names.get(product_of[int(pk)], -1) for pk in images], np.int64)
    rows = np.searchsorted(images, np.array(anchors, np.int64))
    found: list[ScoredCandidates] = []
    for start in range(0, len(rows), ANCHORS_AT_ONCE):
        part = rows[start : start + ANCHORS_AT_ONCE]
        cosines = [space.cosines(part) for space in spaces]
        for place, row in enumerate(part.tolist()):
            barred = np.zeros(len(images), np.bool_) if codes[row] < 0 else codes == codes[row]
            barred[row] = True
            scores = np.stack([each[place] for each in cosines])
            found.append(_of_anchor(row, images, scores, barred=barred, k=k, product_of=product_of))
        progress.update(start + len(part), len(anchors))
    return found


def _of_anchor(
    row: int,
    images: Ints,
    scores: Floats,
    *,
    barred: Bools,
    k: int,
    product_of: Mapping[int, str],
) -> ScoredCandidates:
    open_to = np.where(barred, -np.inf, scores)
    n = min(k, int((~barred).sum()))
    nearest = np.unique(np.argpartition(-open_to, n - 1, axis=1)[:, :n]) if n else np.empty(0, int)
    anchor = int(images[row])
    return ScoredCandidates(
        anchor,
        product_of[anchor],
        images[nearest],
        [product_of[int(pk)] for pk in images[nearest]],
        scores[:, nearest],
        np.full(len(scores), np.nan),
    )


class _Space:
    """Vectors of the living images of a catalog, by ascending image id."""

    def __init__(self, embedding_set: EmbeddingSet, living: Iterable[int]) -> None:
        try:
            image_ids, self._vectors = load_vectors(embedding_set)
        except EmbeddingError as problem:
            raise Refused("source", str(problem)) from problem
        is_living = np.isin(image_ids, np.fromiter(living, np.int64))
        order = np.argsort(image_ids)
        self._rows: Ints = order[is_living[order]]
        self.image_ids: Ints = image_ids[self._rows]
        self._lengths = np.concatenate(
            [np.linalg.norm(block, axis=1) for block in self._blocks()] or [np.empty(0)]
        )
        if not self._lengths[self._rows].all():
            raise Refused("source", f"{embedding_set} has a vector of length 0.")

    def cosines(self, places: Ints) -> Floats:
        """Shape (n_places, n_images): of the images at some places with all."""
        asked = self._rows[places]
        units = np.asarray(self._vectors[asked], np.float32) / self._lengths[asked, None]
        dots = np.concatenate([units @ block.T for block in self._blocks()], axis=1)
        found: Floats = (dots / self._lengths)[:, self._rows].astype(np.float64)
        return found

    def _blocks(self) -> Iterator[NDArray[np.float32]]:
        for start in range(0, len(self._vectors), BLOCK):
            yield np.asarray(self._vectors[start : start + BLOCK], np.float32)


def sampled_images(catalog: Catalog, n: int, seed: int) -> list[int]:
    """Draw the ids of so many images; depends on their contents and the seed alone."""
    return _sampled(list(catalog.images.order_by("sha256").values_list("pk", flat=True)), n, seed)


def sampled_queries(pool: Pool, n: int, seed: int) -> list[int]:
    """Draw the image ids of so many queries of a pool."""
    known: list[int] = pool.query_ids.tolist()
    return known if n >= len(known) else _sampled(known, n, seed)


def _sampled(known: list[int], n: int, seed: int) -> list[int]:
    chosen: list[int] = np.random.default_rng([seed, 3]).permutation(known)[:n].tolist()
    return chosen


def list_models(chosen: Sequence[PoolSource] | Sequence[EmbeddingSet]) -> Iterator[str]:
    """Yield the specs, each once; a further set of the same spec is named by its number, too."""
    seen: dict[str, int] = {}
    for one in chosen:
        seen[one.spec] = seen.get(one.spec, 0) + 1
        yield one.spec if seen[one.spec] == 1 else f"{one.spec} ({seen[one.spec]})"
