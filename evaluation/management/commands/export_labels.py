"""manage.py export_labels CAMPAIGN --format vsd|vsd-task|csv|qrels|label-studio|fiftyone OUT"""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.models import Campaign
from evaluation.exports import FORMATS, export_pieces
from lookalike.core.atomic_files import write_atomically
from lookalike.io.errors import InputError


class Command(BaseCommand):
    help = (
        "Write a campaign's labels or answers to a file, whole or not at all; - is standard output."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("campaign", help="slug of the campaign")
        parser.add_argument("out", type=Path)
        parser.add_argument("--format", choices=sorted(FORMATS), required=True)
        parser.add_argument(
            "--comments",
            action="store_true",
            help="with what judges wrote, which may tell who they are (label-studio, fiftyone)",
        )
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        campaign = Campaign.objects.of_pairs().filter(slug=options["campaign"]).first()
        if campaign is None:
            raise CommandError(f"There is no campaign “{options['campaign']}”.")
        out: Path = options["out"]
        try:
            pieces = export_pieces(campaign, options["format"], with_comments=options["comments"])
            if str(out) == "-":
                sys.stdout.buffer.writelines(pieces)
                return
            out.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(out, lambda file: file.writelines(pieces))
        except InputError as problem:
            raise CommandError(str(problem)) from problem
        except OSError as problem:
            raise CommandError(f"{out}: {problem.strerror}") from problem
        if campaign.is_simulated:
            self.stderr.write("These judgements are simulated.")
        written = {
            "campaign": campaign.slug,
            "format": options["format"],
            "file": str(out),
            "bytes": out.stat().st_size,
            "is_simulated": campaign.is_simulated,
        }
        if options["json"]:
            self.stdout.write(json.dumps(written, ensure_ascii=False))
        else:
            self.stdout.write(f"{out}: {written['bytes']} bytes")
