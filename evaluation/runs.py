"""Where the scores of uploaded runs lie: parquet files named by their content."""

from __future__ import annotations

from pathlib import Path

from django.conf import settings


def run_path(sha256: str) -> Path:
    """Return where the stored scores of that hash lie (or would lie)."""
    return Path(settings.DATA_DIR) / "runs" / sha256[:2] / f"{sha256}.parquet"
