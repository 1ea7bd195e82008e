"""manage.py push_release NAME VERSION REPOSITORY [--private] [--dry-run]"""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from lookalike.release.errors import ReleaseError
from lookalike.release.format.manifest import paths_in
from releases.publishing.hub import check_pushable, push
from releases.publishing.releases import find_release
from releases.storage import files_folder


class Command(BaseCommand):
    help = "Push a public release with its card to the Hugging Face Hub (HF_TOKEN)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", help="short name of the benchmark")
        parser.add_argument("number", metavar="VERSION", help="MAJOR.MINOR.PATCH")
        parser.add_argument("repository", help="of the data set, such as museum/shoes")
        parser.add_argument("--private", action="store_true", help="a new one is private")
        parser.add_argument("--dry-run", action="store_true", help="say what would be sent")

    def handle(self, *args: Any, **options: Any) -> None:
        repo = options["repository"]
        try:
            release = find_release(options["name"], options["number"])
            if options["dry_run"]:
                check_pushable(release, repo)
                paths = sorted(paths_in(files_folder(release)))
                self.stdout.write(
                    f"To {settings.HUB_URL}/datasets/{repo} as v{release.version}, nothing is sent "
                    f"now:\n" + "\n".join(paths)
                )
                return
            page = push(release, repo, private=options["private"])
        except ReleaseError as problem:
            raise CommandError(str(problem)) from problem
        self.stdout.write(page)
