"""manage.py demo: from a folder of photos, or drawn pictures, to a scored benchmark."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from accounts.models import Role, User
from demo.main_job import MainJob, OnProgress
from demo.people import Login, ensure_logins

WIDTH = 118  # the tables need it, also where no terminal says how wide it is
SHOWN = ("vsd_hr@5", "vsd_mrr@5", "macro_roc_auc", "micro_roc_auc", "macro_pr_auc")


class Command(BaseCommand):
    help = "Run the main job once, with a summary; the site then shows what it made."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--images", type=Path, help="folder of photos, for real judges")
        parser.add_argument("--metadata", type=Path, help="CSV or VSD JSON about the photos")
        parser.add_argument(
            "--accept-findings",
            action="store_true",
            help="take values as they stand that would merge or split products or classes",
        )
        parser.add_argument("--no-serve", action="store_true", help="end here (script/demo)")
        parser.add_argument("--json", type=Path, help="also write the summary to this file")

    def handle(self, *args: Any, **options: Any) -> None:
        images, metadata = options["images"], options["metadata"]
        if metadata and not images:
            raise CommandError("--metadata describes --images; give both.")
        console = Console(stderr=True)
        console.print("[bold]Preparing the database[/bold]")
        call_command("migrate", verbosity=0)
        logins = ensure_logins()
        panel = list(
            User.objects.filter(
                username__in=[login.username for login in logins], role=Role.ANNOTATOR
            ).order_by("username")
        )
        with _bar(console) as on_progress:
            job = MainJob(
                say=lambda title: console.print(f"[bold]{title}[/bold]"),
                on_progress=on_progress,
                images=images,
                metadata=metadata,
                accept_findings=options["accept_findings"],
            )
            summary = job.run(panel)
        if options["json"]:
            options["json"].write_text(json.dumps(summary, indent=1, ensure_ascii=False) + "\n")
        _print_summary(Console(width=WIDTH), summary, logins, serves=not options["no_serve"])


@contextmanager
def _bar(console: Console) -> Iterator[OnProgress]:
    """Draw a bar for the steps that have none of their own."""
    with Progress(
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(),
        TimeRemainingColumn(), console=console, transient=True, disable=not console.is_terminal,
    ) as bar:  # fmt: skip
        row = bar.add_task("", total=None, visible=False)

        def on_progress(n_done: int, n_total: int) -> None:
            bar.update(row, completed=n_done, total=n_total, visible=n_done < n_total)

        yield on_progress


def _print_summary(
    console: Console, summary: dict[str, Any], logins: list[Login], *, serves: bool
) -> None:
    catalog, pool, votes = summary["catalog"], summary["pool"], summary["votes"]
    facts = Table(title="From pictures to scores", show_header=False, title_justify="left")
    facts.add_row("Catalog", f"{catalog['images']:,} images of {catalog['products']:,} products"
                  + (" (drawn by a program)" if catalog["is_rendered"] else ""))  # fmt: skip
    facts.add_row(
        "Pool",
        f"{pool['queries']:,} queries, {pool['pairs']:,} pairs of "
        f"{pool['brute_force_pairs']:,} ({pool['saving']:.0f} times fewer), "
        f"{len(pool['failed'])} models failed",
    )
    if votes is None:
        facts.add_row("Votes", f"none yet: judges find “{summary['campaign']}” when they sign in")
    else:
        facts.add_row("Votes", f"{votes['answers']:,} by {votes['judges']} SIMULATED experts")
        if summary["agreement"]:
            facts.add_row("Agreement", _agreement_line(summary["agreement"]))
        facts.add_row("Labels", _labels_line(summary["scores"]["labels"]))
    facts.add_row("Seconds", ", ".join(f"{k} {v:g}" for k, v in summary["seconds"].items()))
    console.print(facts)
    if summary["scores"]:
        console.print(_score_table(summary["scores"]))
    people = Table(title="Demo logins (for this machine only)", title_justify="left")
    for name in ("Role", "User name", "Password"):
        people.add_column(name)
    for login in logins:
        people.add_row(login.role, login.username, login.password)
    console.print(people)
    where = settings.PUBLIC_URL
    console.print(f"Serving at {where}" if serves else f"`script/server` serves it at {where}")


def _agreement_line(found: dict[str, Any]) -> str:
    shown = [
        f"{name} {found[key]:.3f}" if found[key] is not None else f"{name} undefined"
        for name, key in (("percent", "percent"), ("Krippendorff α", "alpha"), ("Gwet AC1", "ac1"))
    ]
    return f"{', '.join(shown)} on {found['n_questions']:,} pairs"


def _labels_line(labels: dict[str, Any]) -> str:
    return (
        f"{labels['n_decided']:,} by majority, {labels['prevalence']:.1%} similar, "
        f"{labels['n_tied']:,} ties counted as {labels['tie_rule']}"
    )


def _score_table(scores: dict[str, Any]) -> Table:
    table = Table(title="Scores of the models (simulated judgements)", title_justify="left")
    table.add_column("Model")
    for name in SHOWN:
        table.add_column(name, justify="right")
    for model in scores["models"]:
        cells = [model["measures"][name] for name in SHOWN]
        table.add_row(
            model["name"],
            *[
                ("–" if cell["value"] is None else f"{cell['value']:.3f}")
                + ("" if cell["n_defined"] is None else f" (n={cell['n_defined']})")
                for cell in cells
            ],
        )
    return table
