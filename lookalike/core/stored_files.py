"""Files that were stored under their hash, and whether they still are what was stored."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from io import FileIO
from typing import BinaryIO, cast


@dataclass(frozen=True)
class StoredFile:
    """A file that something else relies on.

    Attributes:
        kind: such as "original" or "release archive".
        name: where it lies, for people.
        check: says what is wrong with it, "" if nothing is.
        repair: makes it again from what is sound; None where nothing could.
    """

    kind: str
    name: str
    check: Callable[[], str]
    repair: Callable[[], object] | None = None


def damage(open_file: Callable[[], BinaryIO], sha256: str, n_bytes: int | None = None) -> str:
    """Return what is wrong with a file: missing, cut, changed or unreadable; "" if nothing is.

    Args:
        open_file: opens it for reading.
        sha256: of what was stored.
        n_bytes: how much was stored, where that is known.
    """
    try:
        with open_file() as file:
            found = hashlib.file_digest(cast(FileIO, file), "sha256").hexdigest()
            n_held = file.tell()
    except FileNotFoundError:
        return "missing"
    except OSError as problem:
        return f"unreadable: {problem.strerror or problem}"
    if found == sha256:
        return ""
    return "cut" if n_bytes is not None and n_held < n_bytes else "changed"
