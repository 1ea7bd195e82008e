"""`manage.py open_campaign NAME --pool POOL --panel u1,u2,u3`."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from annotation.models import AskingOrder, TieRule
from jobs.work.commands import JobCommand
from lookalike.agreement.grades import Scale
from lookalike.cli.options import seed
from pooling.campaign.services import open_pool_campaign, panel_by_name
from pooling.new_pool.parsing import pool_by_slug


class Command(JobCommand):
    help = "Open a filled pool to a panel of annotators."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("name", help="the campaign's name")
        parser.add_argument("--pool", required=True, help="slug of the pool")
        parser.add_argument("--panel", required=True, help="user names, with commas between them")
        parser.add_argument(
            "--grades",
            metavar="WORDS",
            help="two to five, from the least similar, with commas between them; without it a pair "
            "is similar or different",
        )
        parser.add_argument(
            "--similar-from",
            type=int,
            default=2,
            metavar="GRADE",
            help="the least grade that counts as similar; the lowest is 0 (default: %(default)s)",
        )
        parser.add_argument("--tie", choices=TieRule.values, default=TieRule.NEGATIVE.value)
        parser.add_argument(
            "--order",
            choices=AskingOrder.values,
            default=AskingOrder.SHUFFLED.value,
            help="phases: likely pairs first, shuffled within each of four phases",
        )
        parser.add_argument(
            "--notion", default="", help="in what pictures are compared, as judges read it"
        )
        parser.add_argument(
            "--notion-model", default="", metavar="SPEC", help="its model, learned:SPACE#NOTION"
        )
        parser.add_argument("--guidelines", type=Path, help="file with the judges' guidelines")
        parser.add_argument("--seed", type=seed, default=0, help="of the judges' orders")
        parser.add_argument(
            "--draft", action="store_true", help="do not open it yet; its rules can be changed"
        )

    def handle(self, *_: Any, **options: Any) -> None:
        campaign = open_pool_campaign(
            pool=pool_by_slug(options["pool"]),
            name=options["name"],
            panel=panel_by_name([part.strip() for part in options["panel"].split(",")]),
            scale=_scale(options["grades"], options["similar_from"]),
            tie_rule=options["tie"],
            asking_order=options["order"],
            guidelines=_guidelines(options["guidelines"]),
            notion=options["notion"],
            notion_model=options["notion_model"],
            seed=options["seed"],
            is_draft=options["draft"],
        )
        panel = [member.annotator.username for member in campaign.panel.select_related("annotator")]
        result = {
            "campaign": campaign.slug,
            "pool": options["pool"],
            "pairs": campaign.n_questions,
            "panel": panel,
            "judgements_wanted": campaign.n_questions * len(panel),
            "tie": campaign.tie_rule,
            "order": campaign.asking_order,
            "notion": campaign.notion,
            "state": campaign.state,
            "grades": campaign.grades.splitlines(),
        }
        state = "a draft" if options["draft"] else "open"
        lines = [
            f"“{campaign}” is {state}: {campaign.n_questions:,} pairs for {', '.join(panel)}.",
            f"A tied vote is {campaign.tie_rule}.",
        ]
        self.report(result, as_json=options["json"], lines=lines)


def _scale(words: str | None, similar_from: int) -> Scale | None:
    if words is None:
        return None
    try:
        return Scale(tuple(word.strip() for word in words.split(",")), similar_from)
    except ValueError as problem:
        raise CommandError(f"grades: {problem}") from None


def _guidelines(path: Path | None) -> str:
    if path is None:
        return ""
    try:
        return path.read_text()
    except (OSError, UnicodeDecodeError) as problem:
        raise CommandError(f"guidelines: cannot read {path}: {problem}") from problem
