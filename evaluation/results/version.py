"""Which code computed a result."""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path

from lookalike import __version__

ROOT = Path(__file__).resolve().parents[2]


@cache
def code_version() -> str:
    """Return the version of the program, with the commit where there is one to be had."""
    try:
        described = subprocess.run(
            ["git", "describe", "--always", "--dirty", "--abbrev=12"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
            timeout=10,
        ).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return __version__
    return f"{__version__}+{described}"
