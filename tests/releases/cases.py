"""The files of a release, as a reader or a forger takes them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from lookalike.release.format.layout import MANIFEST
from lookalike.release.format.manifest import make_manifest


def rows_of(folder: Path, name: str, without: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = pq.read_table(folder / f"data/{name}.parquet").to_pylist()
    return [{key: value for key, value in row.items() if key not in without} for row in rows]


def sealed(folder: Path) -> None:
    """Write a fitting manifest over whatever the folder holds, as a forger would."""
    text = make_manifest(folder, "small", "1.0.0").text()
    (folder / MANIFEST).write_text(text)
