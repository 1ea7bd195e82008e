"""`manage.py sample_strata CAMPAIGN --pairs N --aim both`: draw pairs below the pool."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from annotation.models import Campaign
from evaluation.below_pool.draw import draw_sample
from evaluation.below_pool.services import SAMPLE_TASK, sample_subject
from evaluation.models import SampleAim
from jobs.work.commands import JobCommand
from lookalike.cli.options import seed


class Command(JobCommand):
    help = "Draw pairs below a campaign's pool and mix them blind into its judges' queues."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare what the command takes."""
        super().add_arguments(parser)
        parser.add_argument("campaign", help="slug of the campaign")
        parser.add_argument("--pairs", type=int, required=True, metavar="N", help="how many")
        parser.add_argument(
            "--aim",
            choices=SampleAim.values,
            default=SampleAim.BOTH.value,
            help="total: number of similar pairs and pool recall; validity: how clean unjudged "
            "pairs near the top are; both: half each (default)",
        )
        parser.add_argument("--seed", type=seed, default=0, help="of the draw")

    def handle(self, *_: Any, **options: Any) -> None:
        """Draw, freeze and ask."""
        campaign = Campaign.objects.of_pairs().filter(slug=options["campaign"]).first()
        if campaign is None:
            raise CommandError(f"There is no campaign “{options['campaign']}”.")
        asked = {"n_pairs": options["pairs"], "aim": options["aim"], "seed": options["seed"]}
        result = self.run_work(
            task=SAMPLE_TASK,
            subject=sample_subject(campaign),
            title=f"Draw pairs below the pool of “{campaign.name}”",
            arguments={"campaign": campaign.pk, **asked},
            work=lambda progress: draw_sample(campaign, progress, **asked, owner=None),
        )
        lines = [
            f"{result['n_drawn']} pairs drawn for the judges, {result['share_of_work']:.1%} of "
            "their work.",
            *(f"  {s['n_drawn']:>6} of {s['n_pairs']:>12,}  {s['name']}" for s in result["strata"]),
        ]
        self.report(result, as_json=options["json"], lines=lines)
