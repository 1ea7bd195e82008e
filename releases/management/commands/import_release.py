"""manage.py import_release SOURCE --catalog SLUG --slug SLUG"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.errors import CampaignError
from catalog.models import Catalog
from lookalike.agreement.grades import MOST_GRADES
from lookalike.cli.vote_options import add_vote_options, vote_options
from lookalike.io.errors import InputError
from releases.importing.release import import_any


class Command(BaseCommand):
    help = (
        "Make a campaign with judgements from a release, a VSD task, votes of Label Studio, "
        "FiftyOne or a table, or labels such as VSD JSON or TREC qrels."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "source", type=Path, help="release or VSD task (folder, zip), votes or labels"
        )
        parser.add_argument("--catalog", required=True, help="slug; its images are told by SHA-256")
        parser.add_argument("--query-catalog", default="", help="slug, if queries have their own")
        parser.add_argument("--slug", required=True, help="of the new campaign")
        parser.add_argument("--name", default="", help="of the campaign, for labels or a task")
        parser.add_argument(
            "--min-rel",
            type=int,
            choices=range(1, MOST_GRADES),
            help="labels are grades: the least that counts as similar",
        )
        add_vote_options(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            reading = vote_options(Namespace(**options))
            asking = options["query_catalog"]
            found = import_any(
                source=options["source"],
                slug=options["slug"],
                name=options["name"],
                catalog=_catalog(options["catalog"]),
                query_catalog=_catalog(asking) if asking else None,
                min_rel=options["min_rel"],
                options=reading,
            )
        except (InputError, CampaignError, OSError) as problem:
            raise CommandError(str(problem)) from problem
        for note in reading.notes:
            self.stderr.write(note)
        for campaign in found.campaigns:
            self.stdout.write(f"{campaign.slug}: {campaign.n_questions:,} pairs")
        self.stdout.write(f"{found.n_judgements:,} judgements")
        for campaign in found.template_campaigns:
            self.stdout.write(f"{campaign.slug}: {campaign.n_questions:,} templates")
        for triplets in found.triplet_sets:
            self.stdout.write(f"{triplets.slug}: {triplets.triplets.count():,} triplets")


def _catalog(slug: str) -> Catalog:
    found = Catalog.objects.filter(slug=slug).first()
    if found is None:
        raise CommandError(f"There is no catalog “{slug}”.")
    return found
