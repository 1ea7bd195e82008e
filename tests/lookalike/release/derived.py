"""A release that this code derived again from what another one froze."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from lookalike.release.derive import derive
from lookalike.release.format.archive import opened
from lookalike.release.format.folder import Folder, write_json
from lookalike.release.format.layout import FIRST_WITH_BOARD, MANIFEST, SCHEMA_VERSION, TABLES
from lookalike.release.format.manifest import make_manifest
from lookalike.release.model_entries import complete_entries
from tests.paths import GOLDEN_RELEASES

NEWEST = GOLDEN_RELEASES / "small-4.0.0.zip"


def derive_again(target: Path, source: Path = NEWEST, **changes: object) -> Path:
    """Unpack a release, write all of it that follows from the frozen part anew, and seal it.

    Args:
        target: where to; must not exist.
        source: a release.
        changes: what release.json shall say instead.
    """
    with opened(source) as folder:
        shutil.copytree(folder, target)
    info = json.loads((target / "release.json").read_bytes())
    info |= changes
    write_json(target / "release.json", info)
    if "grades" in changes:
        _grade(target)
    if info.get("schema_version", 1) >= FIRST_WITH_BOARD:
        entries = json.loads((target / "models.json").read_bytes())
        write_json(target / "models.json", complete_entries(Folder(target), entries))
    derive(target)
    seal(target)
    return target


def _grade(folder: Path) -> None:
    """Give votes and rulings grades from 0 to 3, two on each side, as if a scale had asked."""
    for name in ("judgements", "rulings"):
        table = pq.read_table(folder / TABLES[name].path)
        rows = zip(table["image_id"].to_pylist(), table["answer"].to_pylist(), strict=True)
        side = {"different": 0, "similar": 2}
        grades = [side[said] + int(image, 16) % 2 if said in side else None for image, said in rows]
        table = table.append_column("grade", pa.array(grades, pa.int8()))
        pq.write_table(table.select(TABLES[name].graded().schema.names), folder / TABLES[name].path)


def seal(folder: Path) -> None:
    """Write a manifest that fits whatever a release's folder holds."""
    info = Folder(folder).info
    text = make_manifest(folder, info["name"], info["version"], info["schema_version"]).text()
    (folder / MANIFEST).write_text(text, encoding="utf-8", newline="")


def current_release(target: Path) -> Path:
    """Return a release of the current schema version with units enough for intervals.

    All but four of its 14 queries get products of their own.
    """
    derive_again(target, schema_version=SCHEMA_VERSION)
    queries = pq.read_table(target / TABLES["queries"].path)["query_id"].to_pylist()
    images = pq.read_table(target / TABLES["images"].path)
    rows = images.to_pylist()
    for row in rows:
        if row["image_id"] in queries[4:]:
            row["product_id"] = f"only {row['image_id']}"
    pq.write_table(pa.Table.from_pylist(rows, images.schema), target / TABLES["images"].path)
    derive(target)
    seal(target)
    return target
