"""What learning has on disk, for `manage.py check_storage`; `catalog` says the rest."""

from __future__ import annotations

from collections.abc import Iterator

from catalog.stored_files import layers_file
from learning.models import TextSpace
from lookalike.core.stored_files import StoredFile


def stored_files() -> Iterator[StoredFile]:
    """Yield the texts' maps of text spaces."""
    for sha256 in TextSpace.objects.order_by("pk").values_list("texts_sha256", flat=True):
        yield layers_file(sha256)
