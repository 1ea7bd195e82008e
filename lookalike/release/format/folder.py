"""A release folder as its readers see it: tables, labels, runs, and what was frozen."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lookalike.agreement.grades import Scale
from lookalike.core.did_you_mean import did_you_mean
from lookalike.core.products import Products
from lookalike.io.parquet import stated_depth
from lookalike.io.tables import Qrels, Run
from lookalike.metrics.match import match_run
from lookalike.metrics.negatives import NegativeList
from lookalike.release.errors import ReleaseError
from lookalike.release.format.layout import (
    ALL_TABLES,
    DRAWN_TABLES,
    FIRST_WITH_BOARD,
    NEGATIVES,
    PRODUCT_PREFIX,
    RUN_SCHEMA,
    has_stripped_images,
)
from lookalike.release.format.tables import coded, read_table, rows_of
from lookalike.release.labelling import make_qrels
from lookalike.stats.units import PRODUCT, QUERY

OLD_DEPTH = 50  # that runs of schema versions 1 to 6 are complete to, at least


@dataclass(frozen=True)
class Folder:
    """A release that lies unpacked in a folder."""

    path: Path

    @property
    def place(self) -> Path:
        """Where it is, as messages name it."""
        return self.path

    @cached_property
    def info(self) -> dict[str, Any]:
        """What was frozen: release.json."""
        info = self.json("release.json")
        if not isinstance(info, dict):
            raise ReleaseError(f"{self.path / 'release.json'} is no JSON object")
        return info

    @cached_property
    def scale(self) -> Scale | None:
        """The grades that judges gave; None where a pair is similar or different."""
        return Scale.from_json(self.info.get("grades"))

    @property
    def title(self) -> str:
        """Its name and version."""
        return f"{self.info['name']} {self.info['version']}"

    @cached_property
    def models(self) -> list[dict[str, Any]]:
        """The models: models.json."""
        models: list[dict[str, Any]] = self.json("models.json")
        return models

    @cached_property
    def image_sha256(self) -> dict[str, str]:
        """The SHA-256 of each image file in the release, by its path here."""
        hashes = dict(self.rows("images", "file", "sha256"))
        hashes.pop("", None)
        if has_stripped_images(self.info):
            hashes |= dict(self.rows("image_files", "file", "sha256"))
        return hashes

    @property
    def scored(self) -> list[dict[str, Any]]:
        """The models that have a run, and so results; others only proposed pairs."""
        return [model for model in self.models if model["kind"] != "proposals"]

    def json(self, name: str) -> Any:
        """Return the content of a JSON file.

        Raises:
            ReleaseError: missing, or not JSON.
        """
        try:
            return json.loads((self.path / name).read_bytes())
        except FileNotFoundError:
            raise ReleaseError(f"{self.path / name} is missing") from None
        except (ValueError, RecursionError) as problem:
            raise ReleaseError(f"{self.path / name} is not JSON: {problem}") from problem

    def table(self, name: str, columns: Sequence[str] | None = None) -> pa.Table:
        """Return a table, or some of its columns.

        Raises:
            ReleaseError: missing, not parquet, or of other columns.
        """
        table = ALL_TABLES[name]
        graded = table.graded().schema if table.may_be_graded else None
        return read_table(self.path / table.path, table.schema, columns, graded)

    def rows(self, name: str, *columns: str) -> Iterator[tuple[Any, ...]]:
        """Return some columns of a table as rows.

        Raises:
            ReleaseError: as for `table`.
        """
        return rows_of(self.table(name, columns), *columns)

    def qrels(self, rule: str = "label") -> Qrels:
        """Return the labels by a rule; `label` is the release's own.

        Raises:
            ReleaseError: no pair has one.
        """
        return make_qrels(self.compared(rule), rule)

    def compared(self, rule: str = "label", labels: pa.Table | None = None) -> pa.Table:
        """Return the labels of a rule that models are compared by: query_id, image_id, label.

        The release's own come with their grades where pairs are graded.

        Pairs drawn below the pool are left out: they would be judged candidates that no model
        proposed.

        Args:
            rule: a column of the table labels.
            labels: rows of such a table that this folder does not hold.
        """
        columns = ["query_id", "image_id", rule]
        columns += ["grade"] if self.scale and rule == "label" else []
        table = self.table("labels", columns) if labels is None else labels.select(columns)
        return self._without_drawn(table.filter(pc.is_valid(table[rule])))

    def asked(self) -> pa.Table:
        """Return the pairs put to the judges that models are compared by: query_id, image_id."""
        return self._without_drawn(self.table("pairs", ["query_id", "image_id"]))

    @cached_property
    def questions(self) -> Qrels:
        """Every pair put to the judges, as if it were labelled."""
        return Qrels.of((q, c, 0) for q, c in self.rows("pairs", "query_id", "image_id"))

    def _without_drawn(self, table: pa.Table) -> pa.Table:
        if not self.below_pool:
            return table
        pairs = rows_of(table, "query_id", "image_id")
        return table.filter(pa.array([pair not in self.below_pool for pair in pairs], pa.bool_()))

    @cached_property
    def below_pool(self) -> set[tuple[str, str]]:
        """The pairs drawn below the pool that no model has proposed since."""
        pairs = self.table("pairs", ["query_id", "image_id", "stratum"])
        if set(coded(pairs["stratum"])[0]) <= {"pool"}:
            return set()
        drawn = pairs.filter(pc.not_equal(pairs["stratum"].cast(pa.string()), "pool"))
        proposed = set(self.rows("pool", "query_id", "image_id"))
        return set(rows_of(drawn, "query_id", "image_id")) - proposed

    def run(self, model_id: str) -> Run:
        """Return the scores of a model, complete down to the depth that its file states.

        Raises:
            ReleaseError: the file is missing or damaged.
        """
        path = self.path / "runs" / f"{model_id}.parquet"
        table = read_table(path, RUN_SCHEMA)
        query_ids, queries = coded(table["query"])
        candidate_ids, candidates = coded(table["candidate"])
        scores = table["score"].to_numpy().astype(np.float64)
        run = Run(model_id, query_ids, candidate_ids, queries, candidates, scores)
        if self.info.get("schema_version", 1) >= FIRST_WITH_BOARD:
            return replace(run, depth=stated_depth(path))
        if any(model["id"] == model_id and model["kind"] == "embeddings" for model in self.models):
            return replace(run, depth=self._depth_of_old(run))
        return run

    def _depth_of_old(self, run: Run) -> int:
        """Return down to which rank the lists of a model's vectors are complete.

        Schema versions 1 to 6 do not state it. All lists were searched to one depth of at least
        `OLD_DEPTH`, and pairs put to the judges added: what stands lowest without having been
        put to them was found by the search.
        """
        aligned = match_run(self.questions, run, products=self.products)
        is_found = np.ones(aligned.scores.size, np.bool_)
        is_found[aligned.judged_at[aligned.judged_at >= 0]] = False
        return max(OLD_DEPTH, int(aligned.ranks[is_found].max(initial=0)))

    @cached_property
    def hidden_queries(self) -> set[str]:
        """The queries whose labels are hidden."""
        rows = self.rows("queries", "query_id", "split")
        return {query for query, split in rows if split == "hidden"}

    @cached_property
    def image_ids(self) -> tuple[str, ...]:
        """The names of all images, ascending."""
        return tuple(sorted(image for (image,) in self.rows("images", "image_id")))

    @cached_property
    def sha256_of(self) -> dict[str, str]:
        """SHA-256 of each image."""
        return dict(self.rows("images", "image_id", "sha256"))

    @cached_property
    def product_of(self) -> dict[str, str]:
        """Product of each image, "" where unknown."""
        return dict(self.rows("images", "image_id", "product_id"))

    def unit_of(self, unit: str | None = None) -> Mapping[str, str] | None:
        """Return the independent unit of each image, "" where unknown; None: each query is one.

        Args:
            unit: "query", "product" or the name of an attribute; None: the product.

        Raises:
            ReleaseError: no image has the attribute.
        """
        if unit is None or unit == PRODUCT:
            return self.product_of
        if unit == QUERY:
            return None
        texts = self.rows("images", "image_id", "attributes")
        attributes = {image: json.loads(text or "{}") for image, text in texts}
        names = list(dict.fromkeys(name for row in attributes.values() for name in row))
        if unit not in names:
            known = did_you_mean(unit, [QUERY, PRODUCT, *names])
            raise ReleaseError(f"{self.place}: no image has the attribute {unit!r}. {known}")
        return {image: str(row.get(unit) or "") for image, row in attributes.items()}

    @property
    def products(self) -> Mapping[str, str] | None:
        """Product of each image, None where the query's own product is compared too."""
        return self.known_products if self.info["exclude_same_product"] else None

    @property
    def known_products(self) -> Mapping[str, str]:
        """Product of each image; queries of another catalog have none of its products.

        Releases up to schema version 6 take equal ids of two catalogs for one product.
        """
        if PRODUCT_PREFIX in self.info:
            return Products(self.product_of, queries={})
        return self.product_of

    def drawn_negatives(self) -> dict[str, NegativeList]:
        """Return the negatives by the kind of draw: uniform, and band where there is one."""
        told = self.info.get(NEGATIVES, {})
        kinds = ["uniform", *(["band"] if "band" in told else [])]
        return {
            kind: NegativeList(
                tuple(self.rows(DRAWN_TABLES[kind], "query_id", "image_id")),
                source=told.get(kind, {}).get("source", "uniform over all candidates"),
                seed=self.info["seeds"]["negatives"],
                contamination=told.get(kind, {}).get("contamination"),
            )
            for kind in kinds
        }

    @cached_property
    def path_of(self) -> dict[str, str]:
        """Path of each image under which it was imported."""
        return dict(self.rows("images", "image_id", "path"))


def write_json(path: Path, content: object) -> None:
    """Write JSON as all files of a release have it."""
    text = json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    path.write_text(text, encoding="utf-8", newline="")
