"""Compare counters with a recount."""

from __future__ import annotations

from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any

from django.core.management.base import CommandError

from annotation.models import Campaign
from annotation.services import reconcile
from jobs.work.commands import JobCommand


class Command(JobCommand):
    """Recount what the pages count, report every difference, and exit with 1 if there is one.

    With --repair the counters are set to the recount, and the exit code is 0.
    """

    help = "Compare the counters of campaigns with a recount of the rows."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "campaign", nargs="?", help="one campaign's short name; all if left out"
        )
        parser.add_argument("--repair", action="store_true", help="set the counters right")

    def handle(self, *args: object, **options: Any) -> None:
        campaigns = Campaign.objects.order_by("pk")
        if options["campaign"]:
            campaigns = campaigns.filter(slug=options["campaign"])
            if not campaigns.exists():
                raise CommandError(f"There is no campaign “{options['campaign']}”.")
        found = [
            difference
            for campaign in campaigns
            for difference in reconcile(campaign=campaign, repairs=options["repair"])
        ]
        result = {
            "campaigns": campaigns.count(),
            "differences": [asdict(difference) for difference in found],
            "repaired": options["repair"],
        }
        lines = [
            f"{d.campaign}, {d.where}: {d.counter} is {d.stored}, counted {d.counted}"
            for d in found
        ] or [f"{campaigns.count()} campaigns counted, no difference."]
        self.report(result, as_json=options["json"], lines=lines)
        if found and not options["repair"]:
            raise CommandError(f"{len(found)} differences; --repair sets the counters right.")
