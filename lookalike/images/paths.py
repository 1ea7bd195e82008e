"""Paths as catalogs name them: relative, with forward slashes, composed characters."""

from __future__ import annotations

import re
import unicodedata

MAX_LENGTH = 1000
MAX_BYTES = 2000  # an entry of a PostgreSQL index holds 2,704
_DRIVE = re.compile(r"^[A-Za-z]:")


class UnsafePathError(ValueError):
    """The path leads out of its folder or cannot be stored; the message says which."""


def clean_path(path: str) -> str:
    r"""Return the path in the one form under which we store and compare it.

    Backslashes count as slashes, `./` is dropped, and letters with accents are composed
    (macOS stores them apart), so that a row finds its file wherever it was written.

    Raises:
        UnsafePathError: empty, absolute, with `..`, with control characters, or too long.
    """
    if any(unicodedata.category(character) in {"Cc", "Cs"} for character in path):
        raise UnsafePathError("the path has control or broken characters")
    slashed = unicodedata.normalize("NFC", path.replace("\\", "/"))
    if slashed.startswith("/") or _DRIVE.match(slashed):
        raise UnsafePathError("the path is absolute; it must be relative to the folder")
    parts = [part for part in slashed.split("/") if part not in {"", "."}]
    if ".." in parts:
        raise UnsafePathError("the path leads out of the folder with “..”")
    if not parts:
        raise UnsafePathError("the path is empty")
    cleaned = "/".join(parts)
    if len(cleaned) > MAX_LENGTH:
        raise UnsafePathError(f"the path is longer than {MAX_LENGTH:,} characters")
    if len(cleaned.encode()) > MAX_BYTES:
        raise UnsafePathError(f"the path is longer than {MAX_BYTES:,} bytes in UTF-8")
    return cleaned


def shown(path: str) -> str:
    """Return a path, however hostile, in a form that can be printed, stored and shown."""
    return path.encode("utf-8", "backslashreplace").decode().replace("\0", "\\x00")[:MAX_LENGTH]
