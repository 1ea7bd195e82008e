"""What learning has on disk, for `manage.py check_storage`; `catalog` says the rest."""

from __future__ import annotations

from collections.abc import Iterator

from catalog.models import Projection
from catalog.stored_files import layers_file
from learning.models import TextSpace
from lookalike.core.stored_files import StoredFile


def stored_files() -> Iterator[StoredFile]:
    """Yield the texts' maps of text spaces, and Combiners with the texts' maps that they need."""
    for sha256 in sorted(files_beside_maps()):
        yield layers_file(sha256)


def files_beside_maps() -> set[str]:
    """Return the SHA-256 of each file of learning that is no map of pictures."""
    made = Projection.objects.filter(card__has_key="combiner")
    combiners = made.values_list("card__combiner", "card__texts")
    texts = TextSpace.objects.values_list("texts_sha256", flat=True)
    return {*texts, *(sha256 for pair in combiners for sha256 in pair)}
