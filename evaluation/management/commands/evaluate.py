"""manage.py evaluate CAMPAIGN: score every model on the labels and store the result."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from annotation.models import Campaign
from evaluation.results.evaluate_job import evaluate_campaign
from evaluation.results.left_out import left_out_sentence
from evaluation.results.services import EVALUATE_TASK, evaluation_subject
from jobs.work.commands import JobCommand
from lookalike.cli.options import seed

SHOWN = ("vsd_hr@5", "vsd_mrr@5", "Success@5", "MRR@5", "macro_roc_auc", "micro_roc_auc",
         "macro_pr_auc", "micro_pr_auc")  # fmt: skip


class Command(JobCommand):
    help = "Score every embedded model and uploaded run on a campaign's labels."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("campaign", help="slug of the campaign")
        parser.add_argument("--seed", type=seed, default=0)
        parser.add_argument("--bootstraps", type=int, default=1000)

    def handle(self, *args: Any, **options: Any) -> None:
        campaign = Campaign.objects.of_pairs().filter(slug=options["campaign"]).first()
        if campaign is None:
            raise CommandError(f"There is no campaign “{options['campaign']}”.")
        if options["bootstraps"] < 0:
            raise CommandError("--bootstraps must be 0 or more.")
        result = self.run_work(
            task=EVALUATE_TASK,
            subject=evaluation_subject(campaign),
            title=f"Evaluate “{campaign.name}”",
            arguments={"campaign": campaign.pk},
            work=lambda progress: evaluate_campaign(
                campaign, progress, seed=options["seed"], n_bootstraps=options["bootstraps"]
            ),
        )
        self.report(result, as_json=options["json"], lines=table_lines(result))


def table_lines(result: dict[str, Any]) -> list[str]:
    """Return the result as a table for a terminal, the number of defined queries beside means."""
    labels = result["labels"]
    lines = [
        f"{labels['n_decided']} labelled pairs of {labels['n_pairs']}, "
        f"{labels['n_queries']} queries, {labels['prevalence']:.1%} similar."
    ]
    if left_out := labels["left_out"]:
        lines.append(left_out_sentence(left_out))
    if known := result.get("rounds"):
        lines.append(
            f"Judged in rounds: {known['judged']:.0%} of the pool. All values are estimates."
        )
    if result["is_simulated"]:
        lines.append("These judgements are simulated.")
    width = max((len(model["name"]) for model in result["models"]), default=5)
    shown = [name for name in SHOWN if all(name in model["measures"] for model in result["models"])]
    lines.append("".join([" " * (width + 10), *(f"{name:>20}" for name in shown)]))
    for model in result["models"]:
        cells = [_cell(model["measures"][name]) for name in shown]
        lines.append("".join([f"{model['name']:<{width}} {model['badge']:<9}", *cells]))
    return lines


def _cell(found: dict[str, Any]) -> str:
    value = "undefined" if found["value"] is None else f"{found['value']:.4f}"
    over = "" if found["n_defined"] is None else f" (n={found['n_defined']})"
    return f"{value + over:>20}"
