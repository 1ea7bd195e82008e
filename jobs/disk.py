"""How much room the data folder's disk has."""

from __future__ import annotations

import shutil

from django.conf import settings

MIB = 2**20


def free_bytes() -> int:
    """Return the free bytes of the data folder's disk.

    Raises:
        OSError: The folder is missing.
    """
    return shutil.disk_usage(settings.DATA_DIR).free


def has_room(n_bytes: int, share: float = 1.0) -> bool:
    """Whether a share of LEAST_FREE_MIB stays free with that many bytes more."""
    try:
        return free_bytes() - n_bytes >= share * settings.LEAST_FREE_MIB * MIB
    except OSError:
        return False
