"""Import a folder or zip of pictures, or a manifest, into a catalog."""

from __future__ import annotations

from argparse import ArgumentParser
from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from catalog.importing.origins import ACCEPT, Origin
from catalog.models import Catalog
from catalog.services import create_catalog, import_job, import_work
from jobs.work.commands import JobCommand
from lookalike.images.layouts.read import LAYOUTS
from lookalike.images.metadata import Choice, MetadataError
from lookalike.images.sources import SourceError


class Command(JobCommand):
    """Import a folder or zip of pictures, with optional metadata, or a manifest into a catalog.

    The catalog is made if there is none of that name. Running the command again goes on where
    it was stopped, and updates products and attributes.
    """

    help = "Import a folder or zip of pictures, or a manifest, into a catalog (made if new)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("slug", help="short name of the catalog: letters, digits, - and _")
        parser.add_argument("source", metavar="DIR_OR_ZIP", type=Path, nargs="?")
        parser.add_argument(
            "--manifest",
            type=Path,
            help="CSV, JSON lines or parquet of pictures that stay elsewhere",
        )
        parser.add_argument(
            "--metadata",
            type=Path,
            help="CSV, .xlsx, JSON, JSON lines or parquet; without DIR_OR_ZIP it describes the "
            "pictures that are in the catalog",
        )
        parser.add_argument(
            "--path-column", default="", metavar="NAME", help="that names the file; or detected"
        )
        parser.add_argument(
            "--product-column",
            default="",
            metavar="NAME",
            help="that names the product; - for none; or detected",
        )
        parser.add_argument(
            "--ignore-column", action="append", default=[], metavar="NAME", help="leave it out"
        )
        parser.add_argument(
            "--accept-findings",
            action="store_true",
            help="take values as they stand that would merge or split products or classes",
        )
        parser.add_argument(
            "--layout", choices=sorted(LAYOUTS), help="the folder is a published data set"
        )
        parser.add_argument(
            "--where", default="", metavar="NAME=VALUE", help="only these, such as split=test"
        )
        parser.add_argument(
            "--names-encoding",
            default="",
            metavar="NAME",
            help="of a zip's names that do not say theirs, such as shift_jis; default: guessed",
        )
        parser.add_argument("--name", help="the catalog's name for people, if it is new")

    def handle(self, *args: object, **options: Any) -> None:
        origin = _origin(options)
        catalog, is_new = _catalog(options["slug"], options["name"])
        try:
            result = self.run_work(**import_job(catalog, origin), work=import_work)
        except CommandError:
            _drop_if_empty(catalog, is_new)
            raise
        lines = _lines(catalog, result)
        if not result["images"]:
            _drop_if_empty(catalog, is_new)
        self.report(result, as_json=options["json"], lines=lines)
        if not result["images"]:
            raise CommandError(_nothing(origin, result))


def _origin(options: dict[str, Any]) -> Origin:
    """Return the origin, after a look that leaves no catalog behind when it cannot be used."""
    source, manifest, metadata = (options[name] for name in ("source", "manifest", "metadata"))
    layout, place = options["layout"], manifest or source
    if (place is None and metadata is None) or (manifest and source):
        raise CommandError("Give a folder or zip, or --manifest FILE, or --metadata FILE alone.")
    if manifest and (metadata or layout):
        raise CommandError("A manifest says all that --metadata or --layout would; leave them out.")
    if layout and metadata:
        raise CommandError("--layout says all that --metadata would; give one of them.")
    origin = Origin(
        path=str(place.absolute()) if place else "",
        metadata_path=str(metadata.absolute()) if metadata else "",
        source_name=place.resolve().name if place else metadata.name if metadata else "",
        metadata_name=metadata.name if metadata else "",
        layout=layout or "",
        where=options["where"],
        is_manifest=manifest is not None,
        is_restricted=False,
        names_encoding=options["names_encoding"],
        columns=asdict(
            Choice(
                options["path_column"], options["product_column"], tuple(options["ignore_column"])
            )
        ),
        accept_findings=options["accept_findings"],
    )
    try:
        if origin.only_describes:
            return _checked(origin)
        with origin.open_source() as opened:
            if not layout:  # its lists may be long, and are read by the import
                origin.read_metadata(opened)
    except (MetadataError, SourceError) as problem:
        raise CommandError(str(problem)) from problem
    return origin


def _checked(origin: Origin) -> Origin:
    metadata = origin.read_table()
    if metadata is not None:
        metadata.require_yes(origin.accept_findings, ACCEPT)
    return origin


def _catalog(slug: str, name: str | None) -> tuple[Catalog, bool]:
    """Return the catalog, and whether it was made now."""
    catalog = Catalog.objects.filter(slug=slug).first()
    if catalog is not None:
        return catalog, False
    return create_catalog(slug=slug, name=name or slug), True


def _drop_if_empty(catalog: Catalog, is_new: bool) -> None:
    if is_new and not catalog.images.exists():
        catalog.delete()


def _nothing(origin: Origin, result: dict[str, Any]) -> str:
    if not result["broken"]:
        return f"Nothing was imported: {origin.source_name} holds no pictures."
    first = result["broken"][0]
    return (
        f"Nothing was imported: of {origin.source_name}, {len(result['broken'])} "
        f"files or rows were refused, the first because: {first['file']}: {first['reason']}"
    )


def _lines(catalog: Catalog, result: dict[str, Any]) -> list[str]:
    lines = [
        f"{catalog.name}: {result['images']:,} images of {result['products']:,} products",
        f"Exact duplicates: {result['duplicates']:,}; pairs that look alike: "
        f"{result['near_duplicates']:,}",
    ]
    if result["skipped"]:
        lines.append(f"Left out: {result['skipped']:,} files of desktops and network disks")
    if result["table"]:
        table = result["table"]
        uses = ", ".join(f"{name} = {use}" for name, use in table["columns"])
        lines.append(
            f"{result['metadata']}: {table['details'] or 'read'}; {table['rows']:,} rows, "
            f"{table['used']:,} used" + (f"; {uses}" if uses else "")
        )
    lines += [f"Converted: {what}: {n:,} files" for what, n in result["converted"].items()]
    for title, key in (
        ("Refused", "broken"),
        ("Noticed", "warnings"),
        ("Hard to compare", "unusual"),
    ):
        lines += [f"{title}: {entry['file']}: {entry['reason']}" for entry in result[key]]
    return lines
