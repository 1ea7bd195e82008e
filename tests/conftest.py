"""Every test runs against a real PostgreSQL and Valkey: the embedded ones of var/test."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
os.environ.setdefault("LOOKALIKE_DATA", str(ROOT / "var" / "test"))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
os.environ.setdefault("XDG_RUNTIME_DIR", "/tmp")  # noqa: S108

import pytest

from config import embedded, settings


def pytest_sessionstart(session: pytest.Session) -> None:
    """Bring the servers up before Django connects; the last process to end stops them."""
    embedded.hold_services(settings.SERVICES)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real photos, votes and TREC files, which is not part of the repository."""
    folder = Path(os.environ.get("LOOKALIKE_SHARED_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"real data is absent: {folder} (set LOOKALIKE_SHARED_DATA)")
    return folder
