"""Keep what was counted about a catalog until an import changes the catalog."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import TypeVar, cast

from django.core.cache import cache

from catalog.models import Catalog

SECONDS = 86_400
T = TypeVar("T")


def remembered(catalog: Catalog, *what: str, make: Callable[[], T]) -> T:
    """Return what `make` returned since the catalog last changed, or make it now.

    Args:
        catalog: as just read from the database; its `changed_at` tells whether it changed.
        what: names the thing, and all that it depends on beside the catalog.
        make: counts it.
    """
    text = "\n".join([str(catalog.pk), catalog.changed_at.isoformat(), *what])
    key = "catalog:" + hashlib.sha256(text.encode()).hexdigest()
    return cast(T, cache.get_or_set(key, make, SECONDS))
