"""The data folder that a benchmark fills: one of its own, which LOOKALIKE_DATA names."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from tests.made_tables import copy_tables


def own_folder(*, copied_tables: bool = False) -> Path:
    """Return the folder, or exit where none is given.

    Args:
        copied_tables: give it a database with all tables, if it has none. That database does not
            wait for the disk: for benchmarks that count time of processors.
    """
    if "LOOKALIKE_DATA" not in os.environ:
        sys.exit("Set LOOKALIKE_DATA to a folder of its own; the benchmark fills its database.")
    data = Path(os.environ["LOOKALIKE_DATA"])
    if copied_tables and not (data / "postgres").exists():
        copy_tables(data)
    return data
