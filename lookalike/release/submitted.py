"""Score runs and embeddings on a release, from its files alone: the site does it here, too."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from lookalike.core.arrays import Ints
from lookalike.core.products import query_product
from lookalike.io.errors import FormatError
from lookalike.io.image_names import ImageNames
from lookalike.io.named_images import named_rows, rows_by_image
from lookalike.io.runs import run_rows
from lookalike.io.tables import Qrels, Run
from lookalike.io.vector_arrays import NPY
from lookalike.io.vectors import VectorTable, holds_vectors, read_vectors
from lookalike.metrics.embedding_runs import NOTHING_TO_RANK, embedding_run, named_gallery
from lookalike.metrics.match import Missing, match_run
from lookalike.metrics.negatives import NegativeList
from lookalike.metrics.pairs_scored import ScoredPairs, pairs_scored
from lookalike.metrics.scoring import Scored
from lookalike.release.format.folder import Folder
from lookalike.release.format.manifest import read_manifest
from lookalike.release.format.tables import rows_of
from lookalike.release.scoring import ranks_more, score_together

N_PRODUCTS = 20
NAMELESS = (
    "A .npy holds no names of images. Give a .npz with the arrays ids and vectors, or a "
    "parquet file with the columns id and vector."
)


@dataclass(frozen=True)
class Judged:
    """What a run is scored on: a release.

    Attributes:
        folder: the release.
        further: pairs that vectors are to score, too, such as negatives drawn elsewhere.
    """

    folder: Folder
    further: Sequence[tuple[str, str]] = ()

    def names(self) -> ImageNames[str]:
        """Return the names of the images, for one file: a name finds the image id."""
        ids = {image: image for image in self.folder.image_ids}
        hashes = {sha256: image for image, sha256 in self.folder.sha256_of.items()}
        paths = ((path, image) for image, path in self.folder.path_of.items())
        return ImageNames(paths, (ids | hashes).items(), title=self.folder.title)

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
        self,
        path: Path,
        name: str = "",
        *,
        ids_path: Path | None = None,
        lower_is_better: bool = False,
        depth: int | None = None,
    ) -> Run:
        """Return a run with images by their id in the release.

        A TREC run that the release itself holds, which is cut, stands for the model's scores.

        Args:
            path: scores in any format of `read_run`, or vectors in any of `read_vectors`.
            name: of the run; that of its file if empty.
            ids_path: for a .npy, a text file with one id a line.
            lower_is_better: scores are distances; embeddings are ranked by cosine all the same.
            depth: as in `read_run`.

        Raises:
            FormatError: what is wrong, with the line or row; also if it scores another benchmark.
        """
        with path.open("rb") as stream:
            if stream.read(len(NPY)) == NPY and ids_path is None:
                raise FormatError(path, None, NAMELESS)
        if holds_vectors(path):
            return self.ranked(name or path.stem, read_vectors(path, ids_path), path)
        if own := self._own_run(path):
            return replace(own, name=name or own.name)
        file = run_rows(path)
        named = named_rows(file.rows, self.names().find, path, file.unit)
        run = file.run(
            path,
            name or file.name,
            named,
            merge=True,
            lower_is_better=lower_is_better,
            depth=depth,
        )
        if not set(run.query_ids) & set(self.queries):
            reason = f"it scores none of the queries of {self.folder.title}"
            raise FormatError(path, None, reason)
        return self.with_depth(run)

    def with_depth(self, run: Run) -> Run:
        """Return a run with the rank down to which its lists seem complete, unless it says it.

        Lists that hold every candidate are whole. Others are cut at the least number of rows of a
        query where most queries have as many. Where the numbers differ, pairs were added because
        they were judged, and lists are cut at the deepest rank at which any of them holds an image
        that was not put to the judges.
        """
        if run.depth is not None:
            return run
        aligned = match_run(self.pairs, run, products=self.folder.products)
        n_listed = np.bincount(aligned.run_queries, minlength=aligned.n_queries)
        is_listed = n_listed > 0
        n_rows = np.bincount(run.queries, minlength=len(run.query_ids))
        place = {query: at for at, query in enumerate(aligned.query_ids)}
        asked = [at for at, query in enumerate(run.query_ids) if query in place]
        rows = n_rows[asked]
        own = rows - n_listed[[place[run.query_ids[at]] for at in asked]]
        is_whole = n_listed >= self._n_candidates(aligned.query_ids)
        if is_whole[is_listed].all():
            return run
        if 2 * (rows == rows.min()).sum() > rows.size:
            return replace(run, depth=int(rows.min()))
        is_asked = np.zeros(aligned.scores.size, np.bool_)
        is_asked[aligned.judged_at[aligned.judged_at >= 0]] = True
        deepest = int(aligned.ranks[~is_asked].max(initial=0))
        return replace(run, depth=deepest + int(own.min())) if deepest else run

    def _n_candidates(self, queries: Sequence[str]) -> Ints:
        """Return how many candidates each query may find, shape (n_queries,)."""
        ranked = [i for i, is_ranked in self.folder.rows("images", "image_id", "is_candidate")
                  if is_ranked]  # fmt: skip
        products = self.folder.products or {}
        n_of = Counter(products.get(image) or image for image in ranked)
        known = set(ranked)
        own = [
            n_of[product] if (product := query_product(products, query)) else int(query in known)
            for query in queries
        ]
        return len(ranked) - np.array(own, np.int64)

    def _own_run(self, path: Path) -> Run | None:
        """Return the scores of the model whose TREC run of this release a file is, if it is one."""
        entries = read_manifest(self.folder.path).files
        n_bytes = path.stat().st_size
        sha256 = ""
        for model in self.folder.scored:
            entry = entries.get(f"trec/runs/{model['id']}.txt")
            if entry is None or entry.n_bytes != n_bytes:
                continue
            sha256 = sha256 or hashlib.sha256(path.read_bytes()).hexdigest()
            if entry.sha256 == sha256:
                note = (
                    f"{path.name} is the release’s own run of {model['name']}, cut for other "
                    "programs: its scores are taken from the release"
                )
                return replace(self.folder.run(model["id"]), notes=(note,))
        return None

    def pairs_scored(
        self, run: Run, missing: Missing = "error", source: object = ""
    ) -> ScoredPairs:
        """Return how many of the pairs put to the judges a run scores.

        Args:
            run: with images by their id in the release.
            missing: "error" refuses a run without a score for every pair.
            source: what to call it in a message; the run's name if empty.

        Raises:
            MissingScoresError: pairs without a score.
        """
        named = source or f"run {run.name!r}"
        return pairs_scored(self.pairs, run, self.folder.products, named, missing)

    def score(
        self,
        runs: Sequence[Run],
        measures: Sequence[str] | None = None,
        *,
        labels: Qrels | None = None,
        complete: bool = False,
        negatives: Mapping[str, NegativeList] | None = None,
    ) -> list[Scored]:
        """Return the measures of runs; a missing score counts as the worst.

        Scores of the pairs put to the judges alone are no lists: they have no cut-off measures.

        Args:
            runs: from `read`, or of this release; each mean is over the queries that are defined
                for all of them.
            measures: names; those of the release if None.
            labels: others than the release's public ones.
            complete: there is no more to rank than the pairs put to the judges.
            negatives: drawn negatives by kind in place of the release's own.
        """
        public = self.folder.qrels()
        bare = [
            run.name
            for run in runs
            if not complete and not ranks_more(self.folder, public, run, self.folder.questions)
        ]
        used = public if labels is None else labels
        return score_together(
            self.folder,
            used,
            runs,
            without_list=bare,
            measures=measures,
            negatives=negatives,
        )

    def ranked(self, name: str, table: VectorTable, source: str | Path) -> Run:
        """Return the candidates ranked by cosine, with a score for drawn negatives, too.

        Args:
            name: of the run.
            table: vectors of images by any of their names.
            source: where they come from.

        Raises:
            FormatError: a name that stands for no image, two vectors of one, or none to rank.
        """
        row_of = rows_by_image(source, table, self.names().find)
        images = self.folder.rows("images", "image_id", "is_candidate")
        ranked = sorted(image for image, is_ranked in images if is_ranked and image in row_of)
        queries = sorted(query for query in self.queries if query in row_of)
        if not ranked or not queries:
            raise FormatError(source, None, NOTHING_TO_RANK)
        pairs = [*self.folder.rows("pairs", "query_id", "image_id"), *self.further]
        for drawn in self.folder.drawn_negatives().values():
            pairs += drawn.pairs
        return embedding_run(
            name,
            table.vectors[[row_of[query] for query in queries]],
            table.vectors[[row_of[image] for image in ranked]],
            named_gallery(queries, ranked, pairs, self.folder.products),
            n_products=N_PRODUCTS,
            is_lean=True,
        )
