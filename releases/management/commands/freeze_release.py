"""manage.py freeze_release CAMPAIGN [CAMPAIGN ...] --version 1.0.0"""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from annotation.models import Campaign
from jobs.models import Job
from jobs.services import JobError, run_here
from lookalike.cli.options import seed
from lookalike.release.errors import ReleaseError
from releases.freeze.requests import DEFAULT_IMAGE_TERMS, DEFAULT_LICENCE, FreezeRequest, short_name
from releases.services import check_request, freeze, freeze_job
from releases.storage import final_folder


class Command(BaseCommand):
    help = "Freeze a version of a benchmark from one or several campaigns."

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> Any:
        """Free --version, which Django takes for its own."""
        return super().create_parser(prog_name, subcommand, conflict_handler="resolve", **kwargs)

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("campaigns", nargs="+", metavar="CAMPAIGN", help="slug")
        parser.add_argument("--version", required=True, dest="release", help="MAJOR.MINOR.PATCH")
        parser.add_argument("--name", default="", help="short name; else the first campaign’s")
        parser.add_argument("--title", default="", help="else the first campaign’s name")
        parser.add_argument("--date", default="", help="of the release; else today")
        parser.add_argument("--author", action="append", default=[],
                            help="an institution, or “Family, Given ORCID”; repeated")  # fmt: skip
        for name in ("description", "changes", "url", "expertise", "demographics", "payment"):
            parser.add_argument(f"--{name}", default="")
        parser.add_argument("--intended", default="", help="intended use")
        parser.add_argument("--excluded", default="", help="uses it is not good for")
        parser.add_argument("--social-impact", default="", help="whom results may harm")
        parser.add_argument("--personal-information", default="",
                            help="what the images show of people")  # fmt: skip
        parser.add_argument("--label-licence", default=DEFAULT_LICENCE)
        parser.add_argument("--image-terms", default=DEFAULT_IMAGE_TERMS)
        for name in ("template", "triplet"):
            parser.add_argument(f"--{name}-set", action="append", default=[], metavar="SLUG",
                                help=f"{name}s to take along; may be repeated")  # fmt: skip
        parser.add_argument("--with-images", action="store_true", help="give the images away")
        parser.add_argument("--with-metadata", action="store_true",
                            help="keep EXIF, GPS position and comments of images")  # fmt: skip
        parser.add_argument("--with-runs", action="store_true", help="uploaded runs take part")
        parser.add_argument("--public", action="store_true", help="show it without signing in")
        parser.add_argument("--hidden-percent", type=int, default=0,
                            help="queries kept back, at least 50; those of earlier versions stay "
                            "so whatever is said here")  # fmt: skip
        parser.add_argument("--seed", type=seed, default=0)
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        first = Campaign.objects.filter(slug=options["campaigns"][0]).first()
        if first is None:
            raise CommandError(f"There is no campaign “{options['campaigns'][0]}”.")
        try:
            request = _request(first, options)
            check_request(request)
            job = run_here(
                **freeze_job(request),
                work=lambda progress: freeze(request, progress),
                on_change=None if options["json"] else self._show,
            )
        except (ReleaseError, JobError) as problem:
            raise CommandError(str(problem)) from problem
        folder = final_folder(request.slug, request.version)
        if options["json"]:
            self.stdout.write(json.dumps({**job.result, "folder": str(folder)}))
        else:
            self.stdout.write(f"{folder}: {request.root}.zip and files/")

    def _show(self, job: Job) -> None:
        if self.stderr.isatty():
            self.stderr.write(f"{job.n_done}/{job.n_total} {job.note}")


def _request(first: Campaign, options: dict[str, Any]) -> FreezeRequest:
    return FreezeRequest(
        slug=options["name"] or short_name(first.slug),
        title=options["title"] or first.name,
        version=options["release"],
        campaigns=tuple(options["campaigns"]),
        date=options["date"] or f"{timezone.localdate():%Y-%m-%d}",
        authors=tuple(options["author"]),
        is_public=options["public"],
        template_sets=tuple(sorted(options["template_set"])),
        triplet_sets=tuple(sorted(options["triplet_set"])),
        **{
            name: options[name]
            for name in (
                *("description", "changes", "url", "expertise", "payment", "intended"),
                *("demographics", "social_impact", "personal_information"),
                *("excluded", "label_licence", "image_terms", "with_images", "with_metadata"),
                "with_runs",
                *("hidden_percent", "seed"),
            )
        },
    )
