"""Which code computed something, so that what is kept of it does not outlive the code."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.util import find_spec
from pathlib import Path


@cache
def source_digest(*packages: str) -> str:
    """Return the SHA-256 of all Python source of some packages, hexadecimal.

    Args:
        packages: dotted names; none of them is imported, only what they are part of.

    Raises:
        ModuleNotFoundError: there is no such package.

    >>> source_digest("lookalike.core") == source_digest("lookalike.core", "lookalike.stats")
    False
    """
    digest = hashlib.sha256()
    for package in packages:
        found = find_spec(package)
        if found is None or not found.submodule_search_locations:
            raise ModuleNotFoundError(f"There is no package {package}.")
        for folder in found.submodule_search_locations:
            for path in sorted(Path(folder).rglob("*.py")):
                digest.update(path.read_bytes())
    return digest.hexdigest()
