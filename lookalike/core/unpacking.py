"""How far a packed file may swell, asked before anything of it is unpacked."""

from __future__ import annotations

import lzma
import struct
import zipfile
import zlib

MAX_RATIO = 100  # of unpacked to packed size; vectors, scores and pictures hardly pack at all
SMALL = 16 * 2**20  # bytes that anything may unpack to
# What zipfile and its unpackers raise at damaged bytes; encrypted and unknown ways of packing too.
DAMAGES = (
    zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, EOFError, LookupError,
    RuntimeError, ValueError, OverflowError,
)  # fmt: skip


def why_too_much(n_unpacked: int, n_packed: int) -> str:
    """Return why a file must not be unpacked, "" if it may be.

    Args:
        n_unpacked: bytes that the file itself states.
        n_packed: bytes that it has.

    >>> why_too_much(10**9, 20_000)
    'it would unpack to 1,000,000,000 bytes, more than 100 times its size'
    """
    if n_unpacked <= max(SMALL, MAX_RATIO * n_packed):
        return ""
    return f"it would unpack to {n_unpacked:,} bytes, more than {MAX_RATIO} times its size"
