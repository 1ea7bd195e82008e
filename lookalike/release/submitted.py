"""Score runs and embeddings on a release, from its files alone: the site does it here, too."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from lookalike.core.arrays import Ints
from lookalike.io.errors import FormatError
from lookalike.io.named_images import UnknownImageError, named_rows, rows_by_image
from lookalike.io.runs import run_rows
from lookalike.io.tables import Qrels, Run, scores_from
from lookalike.io.vectors import VectorTable, holds_vectors, read_vectors
from lookalike.metrics.embedding_runs import Gallery, embedding_run
from lookalike.metrics.match import Missing
from lookalike.metrics.pairs_scored import ScoredPairs, pairs_scored
from lookalike.metrics.scoring import Scored
from lookalike.release.format.folder import Folder
from lookalike.release.format.tables import rows_of
from lookalike.release.labelling import pair_keys
from lookalike.release.scoring import ranks_more, score_together

N_PRODUCTS = 20
NPY = b"\x93NUMPY"
NAMELESS = (
    "A .npy holds no names of images. Give a .npz with the arrays ids and vectors, or a "
    "parquet file with the columns id and vector."
)


@dataclass(frozen=True)
class Judged:
    """What a run is scored on: a release."""

    folder: Folder

    @cached_property
    def image_of(self) -> dict[str, str]:
        """Image id by image id, SHA-256 and path; a path of two images is none."""
        n_of = Counter(self.folder.path_of.values())
        by_path = {path: image for image, path in self.folder.path_of.items() if n_of[path] == 1}
        by_hash = {sha256: image for image, sha256 in self.folder.sha256_of.items()}
        return by_path | by_hash | {image: image for image in self.folder.image_ids}

    def image(self, name: str) -> str:
        """Return the id of an image.

        Raises:
            UnknownImageError: the name stands for none, or for two.
        """
        image = self.image_of.get(name)
        if image is None:
            raise UnknownImageError(
                f"{name!r} is no image of {self.folder.title} (by image_id, SHA-256 or path)"
            )
        return image

    @cached_property
    def pairs(self) -> Qrels:
        """Every pair put to the judges that models are compared by, as if labelled.

        Pairs of hidden queries are among them: which were asked is no secret.
        """
        pairs = rows_of(self.folder.asked(), "query_id", "image_id")
        return Qrels.of((query, image, 0) for query, image in pairs)

    @cached_property
    def queries(self) -> list[str]:
        """The queries of the release."""
        return [query for (query,) in self.folder.rows("queries", "query_id")]

    def read(
        self, path: Path, name: str = "", *, missing: Missing = "error"
    ) -> tuple[Run, ScoredPairs]:
        """Return a run with images by their id in the release, and what it scores.

        Args:
            path: a TREC run, CSV or parquet of scores, or embeddings as .npz or parquet.
            name: of the run; that of its file if empty.
            missing: "error" refuses one without a score for every pair put to the judges.

        Raises:
            FormatError: what is wrong, with the line or row; also if it scores another benchmark.
            MissingScoresError: pairs without a score.
        """
        with path.open("rb") as file:
            if file.read(len(NPY)) == NPY:
                raise FormatError(path, None, NAMELESS)
        if holds_vectors(path):
            run = self._from_vectors(name or path.stem, path, read_vectors(path, None))
        else:
            rows, own_name, unit = run_rows(path)
            named = named_rows(rows, self.image, path, unit)
            run = scores_from(path, name or own_name, named, unit=unit, merge=True)
            if not set(run.query_ids) & set(self.queries):
                reason = f"it scores none of the queries of {self.folder.title}"
                raise FormatError(path, None, reason)
        return run, pairs_scored(self.pairs, run, self.folder.products, path, missing)

    def score(
        self,
        runs: Sequence[Run],
        measures: Sequence[str] | None = None,
        *,
        labels: Qrels | None = None,
        complete: bool = False,
    ) -> list[Scored]:
        """Return the measures of runs; a missing score counts as the worst.

        Scores of the pairs put to the judges alone are no lists: they have no cut-off measures.

        Args:
            runs: from `read`, or of this release; each mean is over the queries that are defined
                for all of them.
            measures: names; those of the release if None.
            labels: others than the release's public ones.
            complete: there is no more to rank than the pairs put to the judges.
        """
        public = self.folder.qrels()
        bare = [
            run.name
            for run in runs
            if not complete
            and not all(ranks_more(self.folder, pairs, run) for pairs in (public, self.pairs))
        ]
        used = public if labels is None else labels
        return score_together(self.folder, used, runs, without_list=bare, measures=measures)

    def _from_vectors(self, name: str, path: Path, table: VectorTable) -> Run:
        """Rank the candidates of the release by cosine."""
        row_of = rows_by_image(path, table, self.image)
        images = self.folder.rows("images", "image_id", "is_candidate")
        ranked = sorted(image for image, is_ranked in images if is_ranked and image in row_of)
        queries = sorted(query for query in self.queries if query in row_of)
        if not ranked or not queries:
            raise FormatError(
                path, None, "it has vectors of none of the queries or of no candidate"
            )
        vectors = table.vectors
        return embedding_run(
            name,
            vectors[[row_of[query] for query in queries]],
            vectors[[row_of[image] for image in ranked]],
            self._gallery(queries, ranked),
            n_products=N_PRODUCTS,
            is_lean=True,
        )

    def _gallery(self, queries: list[str], ranked: list[str]) -> Gallery:
        products = self.folder.products or {}
        number = {product: at for at, product in enumerate(sorted(set(products.values()) - {""}))}

        def numbers(ids: list[str]) -> Ints:
            return np.array([number.get(products.get(image, ""), -1) for image in ids], np.int64)

        place = {image: row for row, image in enumerate(ranked)}
        asked = {query: row for row, query in enumerate(queries)}
        ids = self.folder.image_ids
        keys = pair_keys(ids, self.folder.table("pairs", ["query_id", "image_id"]), "pairs")
        pairs = [(ids[q], ids[c]) for q, c in zip(keys // len(ids), keys % len(ids), strict=True)]
        kept = [(asked[q], place[c]) for q, c in pairs if q in asked and c in place]
        both = np.array(kept, np.int64).reshape(-1, 2)
        return Gallery(
            query_ids=queries,
            image_ids=ranked,
            own=np.array([place.get(query, -1) for query in queries], np.int64),
            query_products=numbers(queries),
            image_products=numbers(ranked),
            judged_queries=both[:, 0],
            judged_images=both[:, 1],
        )
