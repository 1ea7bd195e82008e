"""Where an import takes its files from, in a form that a job can store and a worker reopen."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from catalog.images.remote_originals import is_open, remote
from catalog.importing.uploads import upload_path
from lookalike.images.layouts.read import LAYOUTS, layout_metadata
from lookalike.images.manifest import RemoteSource
from lookalike.images.metadata import MAX_BYTES, Metadata, MetadataError, read_metadata
from lookalike.images.sources import Source, SourceError, UnreadableFileError, open_source

INSIDE = "metadata.csv"
CLOSED = (
    "This site reads no pictures from elsewhere. Name the hosts in REMOTE_HOSTS, or the buckets "
    "in REMOTE_S3_BUCKETS (docs/importing.md), and start it again."
)


@dataclass(frozen=True)
class Origin:
    """A folder, zip or manifest, and metadata if there are any.

    Attributes:
        path: absolute path on the server, unless `upload` is set.
        upload: name of an uploaded zip or manifest.
        metadata_path: absolute path on the server, unless `metadata_upload` is set.
        metadata_upload: name of an uploaded metadata file.
        source_name: what people call the source.
        metadata_name: what people call the metadata file.
        layout: name of the layout in which its authors publish the folder or zip, which then says
            all that metadata would; "" for any other.
        where: `attribute=value`: only images of that value, "" for all.
        is_manifest: it lists pictures that stay where they are, and what is known of them.
        is_restricted: the path must lie in settings.IMPORT_FOLDERS, because it was chosen in
            a browser.
        names_encoding: of a zip's names that do not say theirs; "" to guess it.
    """

    path: str = ""
    upload: str = ""
    metadata_path: str = ""
    metadata_upload: str = ""
    source_name: str = ""
    metadata_name: str = ""
    layout: str = ""
    where: str = ""
    is_manifest: bool = False
    is_restricted: bool = True
    names_encoding: str = ""

    def open_source(self) -> Source:
        """Open the folder, zip or manifest.

        Raises:
            SourceError: it is gone, unreadable, or not allowed.
            MetadataError: the manifest cannot be used at all.
        """
        if self.upload:
            path = upload_path(self.upload)
            if not path.exists():
                raise SourceError(f"The upload {self.source_name} is gone. Upload it again.")
        else:
            path = Path(self.path)
            if self.is_restricted:
                path = allowed_folder(self.path)
        if self.is_manifest:
            if not is_open():
                raise SourceError(CLOSED)
            return RemoteSource(path, self.source_name or path.name, remote())
        opened = LAYOUTS[self.layout].open if self.layout else open_source
        return opened(path, self.source_name or None, self.names_encoding)

    def read_metadata(self, source: Source) -> Metadata | None:
        """Read the metadata, or what the layout's lists say; None when there are none.

        A `metadata.csv` that lies beside the pictures is read where nothing else is given.

        Raises:
            MetadataError: unreadable, or not usable at all; or no row is wanted, or some are and
                there are none.
            InputError: the source is not laid out so.
        """
        if isinstance(source, RemoteSource):
            metadata: Metadata | None = source.metadata
        else:
            metadata = (
                layout_metadata(self.layout, source)
                if self.layout
                else self._metadata_file() or _metadata_inside(source)
            )
        if not self.where:
            return metadata
        if metadata is None:
            raise MetadataError(
                f"Nothing says which images have {self.where}: give metadata, or put "
                f"{INSIDE} beside the pictures."
            )
        return metadata.where(self.where)

    def _metadata_file(self) -> Metadata | None:
        if not (self.metadata_upload or self.metadata_path):
            return None
        given = self.metadata_upload
        path = upload_path(given) if given else Path(self.metadata_path)
        name = self.metadata_name or path.name
        try:
            with path.open("rb") as file:
                content = file.read(MAX_BYTES + 1)
        except OSError as problem:
            raise MetadataError(f"{name} cannot be read: {problem.strerror}.") from problem
        return read_metadata(content, name)


def _metadata_inside(source: Source) -> Metadata | None:
    """Read the `metadata.csv` of the folder in which all pictures lie, if there is one."""
    for name in source.others:
        folder, _, file = name.rpartition("/")
        if file != INSIDE or not all(
            p.startswith(f"{folder}/" * bool(folder)) for p in source.paths
        ):
            continue
        try:
            with source.opened(name) as file_inside:
                return read_metadata(file_inside.read(MAX_BYTES + 1), name)
        except (MetadataError, UnreadableFileError) as problem:
            raise MetadataError(
                f"{problem} It lies in {source.name}: mend it there, give it another name to go "
                "without, or give other metadata."
            ) from problem
    return None


def allowed_folder(path: str) -> Path:
    """Return the real folder behind a path, if it lies in one of settings.IMPORT_FOLDERS.

    Raises:
        SourceError: it does not exist, or lies elsewhere (also by `..` or a link).
    """
    try:
        real = Path(path).resolve(strict=True)
    except (OSError, ValueError, RuntimeError):
        raise SourceError("There is no such folder on the server.") from None
    if not any(real.is_relative_to(root) for root in settings.IMPORT_FOLDERS):
        raise SourceError("There is no such folder on the server.")
    if not real.is_dir():
        raise SourceError("That is not a folder.")
    return real


def offered_folders() -> list[Path]:
    """Return the folders to choose from: the import folders and those directly in them."""
    found = []
    for root in settings.IMPORT_FOLDERS:
        if root.is_dir():
            inside = sorted(p for p in root.iterdir() if p.is_dir() and p.name[:1] != ".")
            found += [root, *inside[:200]]
    return found
