"""What evaluations have on disk, for `manage.py check_storage`."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from io import FileIO

from evaluation.models import Result, Run
from evaluation.results.details import details_path
from evaluation.runs.stored_runs import run_path
from lookalike.core.stored_files import StoredFile, damage


def stored_files() -> Iterator[StoredFile]:
    """Yield the scores of uploaded runs and the details of results."""
    runs = Run.objects.order_by("sha256").values_list("sha256", flat=True).distinct()
    results = Result.objects.exclude(details_sha256="").order_by("details_sha256")
    details = results.values_list("details_sha256", flat=True).distinct()
    for kind, hashes, path_of in (("run", runs, run_path), ("result", details, details_path)):
        for sha256 in hashes.iterator():
            path = path_of(sha256)
            yield StoredFile(kind, path.name, partial(damage, partial(FileIO, path), sha256))
