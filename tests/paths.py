"""Where the tests find files that are not code."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
GOLDEN_RELEASES = ROOT / "tests" / "golden" / "releases"
# Real photos, votes and TREC files, which are not part of the repository.
SHARED_DATA = Path(os.environ.get("LOOKALIKE_SHARED_DATA", ROOT.parent / "shared" / "data"))


def shared(name: str) -> Path:
    """Return a file of the shared data, or skip the test saying that it is not there."""
    path = SHARED_DATA / name
    if not path.exists():
        pytest.skip(f"real test data is absent: {path}")
    return path
