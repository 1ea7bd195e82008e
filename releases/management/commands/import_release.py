"""manage.py import_release SOURCE --catalog SLUG --slug SLUG"""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.errors import CampaignError
from catalog.formats.errors import InputError
from catalog.models import Catalog
from releases.importing import Imported, import_labels, import_release

LABELS = (".json", ".txt", ".qrels", ".csv", ".parquet")


class Command(BaseCommand):
    help = "Make a campaign with judgements from a release, VSD JSON or TREC qrels."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("source", type=Path, help="release (folder, zip), or file of labels")
        parser.add_argument("--catalog", required=True, help="slug; its images are told by SHA-256")
        parser.add_argument("--query-catalog", default="", help="slug, if queries have their own")
        parser.add_argument("--slug", required=True, help="of the new campaign")
        parser.add_argument("--name", default="", help="of the campaign, for a file of labels")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            found = _imported(options)
        except (InputError, CampaignError, OSError) as problem:
            raise CommandError(str(problem)) from problem
        for campaign in found.campaigns:
            self.stdout.write(f"{campaign.slug}: {campaign.n_questions:,} pairs")
        self.stdout.write(f"{found.n_judgements:,} judgements")


def _imported(options: dict[str, Any]) -> Imported:
    source: Path = options["source"]
    catalog = _catalog(options["catalog"])
    if source.is_file() and source.suffix.lower() in LABELS:
        return import_labels(
            source=source,
            slug=options["slug"],
            name=options["name"] or options["slug"],
            catalog=catalog,
        )
    asking = _catalog(options["query_catalog"]) if options["query_catalog"] else None
    return import_release(
        source=source, slug=options["slug"], catalog=catalog, query_catalog=asking
    )


def _catalog(slug: str) -> Catalog:
    found = Catalog.objects.filter(slug=slug).first()
    if found is None:
        raise CommandError(f"There is no catalog “{slug}”.")
    return found
