"""manage.py add_run CAMPAIGN FILE --name N: check a run and put it on the leaderboard."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from annotation.models import Campaign
from evaluation.runs.services import ADD_RUN_TASK, run_subject
from evaluation.runs.upload_job import ArrivingRun, check_and_add_run
from jobs.work.commands import JobCommand


class Command(JobCommand):
    help = "Check a run (scores or embeddings) and queue an evaluation with it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("campaign", help="slug of the campaign")
        parser.add_argument("file", type=Path, help="TREC run, CSV, parquet, .npy or .npz")
        parser.add_argument("--name", required=True, help="as it shall stand on the leaderboard")
        parser.add_argument("--ids", type=Path, help="for a .npy: a text file, one image a line")
        parser.add_argument("--family", default="", help="what it shares with other models")
        parser.add_argument("--description", default="")
        parser.add_argument("--missing", choices=("error", "worst"), default="error",
                            help="what a pair without a score means")  # fmt: skip
        parser.add_argument(
            "--lower-is-better", action="store_true", help="its scores are distances"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        campaign = Campaign.objects.of_pairs().filter(slug=options["campaign"]).first()
        if campaign is None:
            raise CommandError(f"There is no campaign “{options['campaign']}”.")
        for path in (options["file"], options["ids"]):
            if path is not None and not path.is_file():
                raise CommandError(f"There is no file {path}.")
        arriving = ArrivingRun(
            name=options["name"],
            path=options["file"],
            file_name=str(options["file"]),
            ids_path=options["ids"],
            ids_file_name=str(options["ids"] or ""),
            family=options["family"],
            description=options["description"],
            missing=options["missing"],
            lower_is_better=options["lower_is_better"],
        )
        result = self.run_work(
            task=ADD_RUN_TASK,
            subject=f"{run_subject(campaign)}{arriving.name}"[:200],
            title=f"Check the run “{arriving.name}”",
            arguments={"campaign": campaign.pk, "name": arriving.name},
            work=lambda progress: check_and_add_run(campaign, None, arriving, progress),
        )
        lines = [
            f"“{result['name']}” scores {result['n_scored']} of {result['n_pairs']} pairs "
            f"({result['share']:.1%}); an evaluation with it is queued.",
            *result["notes"],
        ]
        self.report(result, as_json=options["json"], lines=lines)
