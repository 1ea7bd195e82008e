"""Write the primary tables of a release from a snapshot, without a Python object for each row."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from annotation.queries.frozen_rows import (
    frozen_judgements,
    frozen_judges,
    frozen_pairs,
    frozen_rulings,
)
from catalog.frozen_rows import FrozenImage, NearDuplicates, near_duplicates
from evaluation.below_pool.frozen_rows import frozen_draws
from evaluation.rounds.frozen_rows import frozen_round_pairs
from jobs.work.snapshot import Snapshot
from lookalike.core.arrays import Ints
from lookalike.release.format.layout import ALL_TABLES
from lookalike.release.format.tables import ROWS, TableWriter, named, write_table
from pooling.pools.frozen_rows import frozen_proposals, frozen_sources
from releases.freeze.scope import Images, Scope, unranked_ids


def write_images(
    view: Snapshot, scope: Scope, folder: Path, file_of: Callable[[FrozenImage], str]
) -> None:
    """Write the table of images; `file_of` says where an image lies in the release, or ""."""
    images = scope.images
    rows = [images.rows[at] for at in images.first_row.tolist()]
    left_out = unranked_ids(scope)
    ranked = {
        row.sha256 for row in images.rows if row.catalog in scope.ranked and row.id not in left_out
    }
    json_of = {
        text: json.dumps(json.loads(text), ensure_ascii=False, sort_keys=True)
        for text in {row.attributes for row in rows}
    }
    write_table(
        folder,
        "images",
        {
            "image_id": images.names,
            "sha256": images.sha256,
            "path": [row.path for row in rows],
            "product_id": [scope.product_of(row) for row in rows],
            "width": [row.width for row in rows],
            "height": [row.height for row in rows],
            "format": [row.format for row in rows],
            "n_bytes": [row.n_bytes for row in rows],
            "perceptual_hash": [row.perceptual_hash for row in rows],
            "duplicate_group": _groups(images, near_duplicates(view, images.catalogs)),
            "attributes": [json_of[row.attributes] for row in rows],
            "is_candidate": [row.sha256 in ranked for row in rows],
            "file": [file_of(row) for row in rows],
        },
    )


def _groups(images: Images, near: Sequence[NearDuplicates]) -> list[str]:
    """Name each group of near duplicates by its first image; "" for an image without any."""
    first = list(range(len(images.names)))

    def head(code: int) -> int:
        while first[code] != code:
            first[code] = first[first[code]]
            code = first[code]
        return code

    grouped: set[int] = set()
    for pair in near:
        a, b = images.code(pair).tolist()
        if a != b:
            grouped |= {a, b}
            low, high = sorted((head(a), head(b)))
            first[high] = low
    return [images.names[head(code)] if code in grouped else "" for code in range(len(first))]


def write_queries(scope: Scope, folder: Path) -> None:
    """Write the table of queries, in the order in which they were drawn."""
    is_hidden = np.isin(scope.queries, scope.hidden)
    write_table(
        folder,
        "queries",
        {
            "query_id": named(scope.images.names, scope.queries),
            "position": np.arange(scope.queries.size),
            "split": np.where(is_hidden, "hidden", "public"),
        },
    )


def write_pairs(view: Snapshot, scope: Scope, folder: Path) -> tuple[Ints, Ints]:
    """Write the pairs put to the judges; return the database ids of both images of each."""
    pairs = frozen_pairs(view, scope.campaign_ids)
    drawn = frozen_draws(view, scope.campaign_ids)
    pairs = pairs.join(drawn, ["query", "image", "campaign"], use_threads=False)
    rows = _Rows(scope, pairs)
    rows.write(
        folder,
        "pairs",
        rows.by_pair(),
        campaign=_texts(pairs["campaign"], scope.slugs),
        stratum=pairs["stratum"].fill_null("pool"),
        inclusion=pairs["inclusion"].fill_null(1.0),
    )
    return pairs["query"].to_numpy(), pairs["image"].to_numpy()


def write_round_pairs(view: Snapshot, scope: Scope, folder: Path) -> None:
    """Write every pair that was open in a round with the chance that it was drawn."""
    pairs = frozen_round_pairs(view, scope.campaign_ids)
    slugs = _texts(pairs["campaign"], scope.slugs)
    rows = _Rows(scope, pairs)
    order = rows.by_pair()
    by_round = np.lexsort((pairs["round"].to_numpy()[order], slugs.indices.to_numpy()[order]))
    rows.write(
        folder,
        "rounds",
        order[by_round],
        campaign=slugs,
        **{name: pairs[name] for name in ("round", "probability", "is_drawn")},
    )


def write_pool(view: Snapshot, scope: Scope, folder: Path, model_ids: dict[str, str]) -> None:
    """Write who proposed what at which rank."""
    sources = frozen_sources(view, scope.pool_ids)
    proposals = frozen_proposals(view, scope.pool_ids)
    places = _looked_up(proposals["source"], {row.id: at for at, row in enumerate(sources)})
    order = np.lexsort((proposals["rank"].to_numpy(), proposals["position"].to_numpy(), places))
    _Rows(scope, proposals).write(
        folder,
        "pool",
        order,
        model_id=_texts(proposals["source"], {row.id: model_ids[row.spec] for row in sources}),
        rank=proposals["rank"],
        score=proposals["score"],
        pool=_texts(proposals["source"], {row.id: row.pool for row in sources}),
    )


def write_judgements(
    view: Snapshot,
    scope: Scope,
    folder: Path,
    hidden_folder: Path | None,
    names: Mapping[int, str],
) -> None:
    """Write judgements and rulings; those of hidden queries go into the other folder.

    Args:
        view: the moment that is frozen.
        scope: what is frozen.
        folder: of the release.
        hidden_folder: of the hidden labels, None where there are none.
        names: pseudonym of each account on a panel.
    """
    judges = frozen_judges(view, scope.campaign_ids)
    judgements = frozen_judgements(view, scope.campaign_ids)
    annotator = _texts(judgements["member"], {row.member: names[row.account] for row in judges})
    judged = _Rows(scope, judgements)
    graded = ("grade",) if scope.scale else ()
    kept = (*graded, "answer", "reason", "is_counted", "mode", "visible_ms", "guideline_version")
    columns = {
        **{name: judgements[name] for name in kept},
        "annotator": annotator,
        "decided_at": _hours(judgements["hour"]),
        "campaign": _texts(judgements["campaign"], scope.slugs),
    }
    order = judged.by_pair(annotator.indices.to_numpy())
    rulings = frozen_rulings(view, scope.campaign_ids)
    ruled = _Rows(scope, rulings)
    for place, is_hidden in ((folder, False), (hidden_folder, True)):
        if place is not None:
            judged.write(place, "judgements", judged.select(order, is_hidden), **columns)
            by_pair = ruled.select(ruled.by_pair(), is_hidden)
            said = {name: rulings[name] for name in ("answer", *graded)}
            ruled.write(place, "rulings", by_pair, **said)


class _Rows:
    """Rows about pairs of images, in the order of the database."""

    def __init__(self, scope: Scope, rows: pa.Table) -> None:
        self._images = scope.images
        self._hidden = scope.hidden
        self._queries = scope.images.code(rows["query"].to_numpy())
        self._candidates = scope.images.code(rows["image"].to_numpy())

    def by_pair(self, third: Ints | None = None) -> Ints:
        """Return the order of the rows by query, image and a third number."""
        keys = self._queries * len(self._images.names) + self._candidates
        order: Ints = (
            np.argsort(keys, kind="stable") if third is None else np.lexsort((third, keys))
        )
        return order

    def select(self, order: Ints, is_hidden: bool) -> Ints:
        """Return what of an order is of hidden queries, or of the others."""
        rows: Ints = order[np.isin(self._queries[order], self._hidden) == is_hidden]
        return rows

    def write(self, folder: Path, table: str, order: Ints, **columns: Any) -> None:
        """Write rows in an order, a block in memory at a time."""
        texts = pa.array(self._images.names, pa.string())
        held = ALL_TABLES[table].graded() if "grade" in columns else ALL_TABLES[table]
        with TableWriter(folder / held.path, held.schema) as writer:
            for start in range(0, order.size, ROWS):
                rows = order[start : start + ROWS]
                block = {name: column.take(rows) for name, column in columns.items()}
                block["query_id"] = named(texts, self._queries[rows])
                block["image_id"] = named(texts, self._candidates[rows])
                writer.add(block)


def _looked_up(column: pa.ChunkedArray, place: Mapping[int, int]) -> Ints:
    """Return the value of each id of a column; every id is known."""
    known = np.array(sorted(place), np.int64)
    values = np.array([place[pk] for pk in known.tolist()], np.int64)
    looked_up: Ints = values[np.searchsorted(known, column.to_numpy())] if known.size else known
    return looked_up


def _texts(column: pa.ChunkedArray, text_of: Mapping[int, str]) -> pa.DictionaryArray:
    """Return the text of each id of a column; codes are in the order of the texts."""
    texts = sorted(set(text_of.values()))
    place = {text: code for code, text in enumerate(texts)}
    codes = _looked_up(column, {pk: place[text] for pk, text in text_of.items()})
    return pa.DictionaryArray.from_arrays(codes.astype(np.int32), pa.array(texts, pa.string()))


def _hours(column: pa.ChunkedArray) -> pa.DictionaryArray:
    """Return hours since 1970 as text."""
    hours, codes = np.unique(column.to_numpy(), return_inverse=True)
    texts = np.datetime_as_string(hours.astype("datetime64[h]").astype("datetime64[m]"))
    words = pa.array([f"{text}Z" for text in texts.tolist()], pa.string())
    return pa.DictionaryArray.from_arrays(codes.astype(np.int32), words)
