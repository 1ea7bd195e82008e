"""How much room the data folder's disk has."""

from __future__ import annotations

import shutil
from pathlib import Path

from django.conf import settings

MIB = 2**20


def free_bytes() -> int:
    """Return the free bytes of the data folder's disk; a missing folder is created.

    Raises:
        OSError: The folder cannot be created.
    """
    Path(settings.DATA_DIR).mkdir(parents=True, exist_ok=True)
    return shutil.disk_usage(settings.DATA_DIR).free


def has_room(n_bytes: int) -> bool:
    """Whether LEAST_FREE_MIB stay free with that many bytes more."""
    try:
        return free_bytes() - n_bytes >= settings.LEAST_FREE_MIB * MIB
    except OSError:
        return False
