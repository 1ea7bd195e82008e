"""Which code computed a result."""

from __future__ import annotations

import subprocess
import tomllib
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@cache
def code_version() -> str:
    """Return the version of the program, with the commit where there is one to be had."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        version = str(tomllib.load(file)["project"]["version"])
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
        return version
    return f"{version}+{described}"
