"""Images as judges see them: by a random uid, with their shape, and no more."""

from __future__ import annotations

import uuid
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import psycopg

from catalog.models import Image

PICTURES = "select id, uid, width, height from catalog_image where id = any(%s)"


@dataclass(frozen=True)
class Picture:
    """An image as a judge sees it: its random uid and its shape, and no more."""

    uid: uuid.UUID
    width: int
    height: int

    @classmethod
    def of(cls, image: Image) -> Picture:
        """Return what a judge may see of an image."""
        return cls(image.uid, image.width, image.height)


def read_pictures(
    cursor: psycopg.Cursor[tuple[Any, ...]], image_ids: Collection[int]
) -> dict[int, Picture]:
    """Return images by id, with a cursor that may hold a prepared statement."""
    cursor.execute(PICTURES, [list(image_ids)])
    return {pk: Picture(*shown) for pk, *shown in cursor.fetchall()}
