"""Delete the files of learned maps that nothing names any more."""

from __future__ import annotations

import time

from catalog.models import Projection
from catalog.vectors.embeddings import DAY, remove_unused_vectors
from catalog.vectors.projections import layers_path
from learning.stored_files import files_beside_maps


def remove_unused_files() -> None:
    """Delete maps once they are a day old, since a row is written after its file; and vectors."""
    used = {*Projection.objects.values_list("sha256", flat=True), *files_beside_maps()}
    long_ago = time.time() - DAY
    for path in layers_path("").parent.glob("*.safetensors"):
        if path.stem not in used and path.stat().st_mtime < long_ago:
            path.unlink(missing_ok=True)
    remove_unused_vectors()
