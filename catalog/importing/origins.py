"""Where an import takes its files from, in a form that a job can store and a worker reopen."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.conf import settings

from catalog.images.remote_originals import is_open, remote
from catalog.importing.uploads import upload_path
from lookalike.images.layouts.read import LAYOUTS, layout_metadata
from lookalike.images.manifest import RemoteSource
from lookalike.images.metadata import (
    MAX_BYTES,
    Choice,
    Metadata,
    MetadataError,
    Preview,
    read_metadata,
    read_preview,
)
from lookalike.images.problems import Problem
from lookalike.images.sources import Source, SourceError, UnreadableFileError, open_source

INSIDE = "metadata.csv"
INSIDE_ALSO = ("metadata.jsonl", "metadata.xlsx")  # read where they are whole
ACCEPT = "tick “Take the values as they stand”, or give --accept-findings (accept_findings)"
CLOSED = (
    "This site reads no pictures from elsewhere. Name the hosts in REMOTE_HOSTS, or the buckets "
    "in REMOTE_S3_BUCKETS (docs/importing.md), and start it again."
)


@dataclass(frozen=True)
class Origin:
    """A folder, zip or manifest, and metadata if there are any; or metadata alone.

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
        columns: what the columns of the metadata are, as `Choice` has them; {} to detect it.
        accept_findings: values that would merge or split products or classes are taken as they
            stand.
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
    columns: dict[str, Any] = field(default_factory=dict)
    accept_findings: bool = False

    @property
    def only_describes(self) -> bool:
        """Whether it has metadata and no pictures."""
        return not (self.path or self.upload)

    @property
    def choice(self) -> Choice:
        """What a person said the columns are."""
        return Choice.of(self.columns)

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
        label = self.source_name or None
        if not self.layout:
            return open_source(path, label, self.names_encoding)
        reads_neighbours = not self.is_restricted or _is_allowed(path.parent)
        return LAYOUTS[self.layout].open(
            path, label, self.names_encoding, with_neighbours=reads_neighbours
        )

    def read_metadata(self, source: Source) -> Metadata | None:
        """Read the metadata, or what the layout's lists say; None when there are none.

        A `metadata.csv` that lies beside the pictures is read where nothing else is given.

        Raises:
            MetadataError: unreadable, or not usable at all; or no row is wanted, or some are and
                there are none; or values would merge or split products or classes, and nobody
                has accepted them.
            InputError: the source is not laid out so.
        """
        if isinstance(source, RemoteSource):
            metadata: Metadata | None = source.metadata
        else:
            metadata = (
                layout_metadata(self.layout, source)
                if self.layout
                else self.read_table() or self._metadata_inside(source)
            )
        if metadata is not None:
            metadata.require_yes(self.accept_findings, ACCEPT)
        if not self.where:
            return metadata
        if metadata is None:
            raise MetadataError(
                f"Nothing says which images have {self.where}: give metadata, or put "
                f"{INSIDE} beside the pictures."
            )
        return metadata.where(self.where)

    def read_table(self) -> Metadata | None:
        """Read the metadata file that was given; None if none was.

        Raises:
            MetadataError: unreadable, or not usable at all.
        """
        found = self._metadata_content()
        return None if found is None else read_metadata(*found, choice=self.choice)

    def preview(self) -> Preview | None:
        """Return the beginning of the metadata file that was given, if it is a table.

        Raises:
            MetadataError: unreadable, or no table.
        """
        found = self._metadata_content()
        return None if found is None else read_preview(*found, choice=self.choice)

    def _metadata_content(self) -> tuple[bytes, str] | None:
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
        return content, name

    def _metadata_inside(self, source: Source) -> Metadata | None:
        """Read the metadata of the folder in which all pictures lie, if there are any."""
        for name in _tables_inside(source):
            try:
                with source.opened(name) as file:
                    return read_metadata(file.read(MAX_BYTES + 1), name, choice=self.choice)
            except (MetadataError, UnreadableFileError) as problem:
                if not name.endswith(INSIDE):
                    source.notes.append(Problem(name, f"It was not read as metadata: {problem}"))
                    continue
                raise MetadataError(
                    f"{problem} It lies in {source.name}: correct it there, rename it to go "
                    "without, or give other metadata."
                ) from problem
        return None


def _tables_inside(source: Source) -> list[str]:
    """Return the metadata files of the folder in which all pictures lie, `metadata.csv` first."""
    found = []
    for wanted in (INSIDE, *INSIDE_ALSO):
        for name in source.others:
            folder, _, file = name.rpartition("/")
            start = f"{folder}/" if folder else ""
            if file == wanted and all(path.startswith(start) for path in source.paths):
                found.append(name)
    return found


def allowed_folder(path: str) -> Path:
    """Return the real folder behind a path, if it lies in one of settings.IMPORT_FOLDERS.

    Raises:
        SourceError: it does not exist, or lies elsewhere (also by `..` or a link).
    """
    try:
        real = Path(path).resolve(strict=True)
    except (OSError, ValueError, RuntimeError):
        raise SourceError("There is no such folder on the server.") from None
    if not _is_allowed(real):
        raise SourceError("There is no such folder on the server.")
    if not real.is_dir():
        raise SourceError("That is not a folder.")
    return real


def _is_allowed(real: Path) -> bool:
    return any(real.is_relative_to(root) for root in settings.IMPORT_FOLDERS)


def offered_folders() -> list[Path]:
    """Return the folders to choose from: the import folders and those directly in them."""
    found = []
    for root in settings.IMPORT_FOLDERS:
        if root.is_dir():
            inside = sorted(p for p in root.iterdir() if p.is_dir() and p.name[:1] != ".")
            found += [root, *inside[:200]]
    return found
