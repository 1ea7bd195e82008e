"""Images as judges see them: their shape, and an id that is sealed before it leaves."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import psycopg

from catalog.models import Image

PICTURES = "select id, width, height from catalog_image where id = any(%s)"


@dataclass(frozen=True)
class Picture:
    """An image as a judge sees it: its shape, and which it is; the id never leaves as it is."""

    id: int
    width: int
    height: int

    @classmethod
    def of(cls, image: Image) -> Picture:
        """Return what a judge may see of an image."""
        return cls(image.pk, image.width, image.height)


def read_pictures(
    cursor: psycopg.Cursor[tuple[Any, ...]], image_ids: Collection[int]
) -> dict[int, Picture]:
    """Return images by id, with a cursor that may hold a prepared statement."""
    cursor.execute(PICTURES, [list(image_ids)])
    return {row[0]: Picture(*row) for row in cursor.fetchall()}
