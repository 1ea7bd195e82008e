"""What releases have on disk, for `manage.py check_storage`."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from io import FileIO

from lookalike.core.stored_files import StoredFile, damage
from releases.models import Release
from releases.site.integrity import DamagedFileError
from releases.site.queries import manifest_of_release
from releases.storage import archive_path, files_folder


def stored_files() -> Iterator[StoredFile]:
    """Yield the archive and the files of every release."""
    for release in Release.objects.order_by("slug", "pk"):
        path = archive_path(release)
        check = partial(
            damage, partial(FileIO, path), release.archive_sha256, release.archive_bytes
        )
        yield StoredFile("release archive", path.name, check)
        try:
            manifest = manifest_of_release(release)
        except DamagedFileError as problem:
            cause = problem.__cause__
            reason = "missing" if isinstance(cause, FileNotFoundError) else str(cause)
            yield StoredFile("release manifest", str(release), partial(str, reason))
            continue
        for name, entry in sorted(manifest.files.items()):
            opened = partial(FileIO, files_folder(release) / name)
            check = partial(damage, opened, entry.sha256, entry.n_bytes)
            yield StoredFile("release file", f"{release}: {name}", check)
