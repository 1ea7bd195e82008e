"""`manage.py score_alignment SET --embeddings SPEC --embeddings SPEC [...]`."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from conditional.alignment.services import accuracy_matrix, align_set, alignment_job
from conditional.management.set_command import (
    add_triplet_options,
    chosen_embedding_sets,
    row_called,
)
from conditional.models import TripletSet
from jobs.work.commands import JobCommand
from lookalike.cli.options import seed
from lookalike.conditional.formats.tables import matrix_csv


class Command(JobCommand):
    help = (
        "Match the conditions of triplets with embedding sets (the WS-CSL criterion): accuracy "
        "of each set on each condition, greedy and optimal-transport accuracy."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        add_triplet_options(parser)
        parser.add_argument("--seed", type=seed, default=0, help="of the parts")
        for part in ("validation", "test"):
            parser.add_argument(
                f"--{part}", type=Path, metavar="MATRIX.csv", help="write this part's matrix"
            )

    def handle(self, *_: Any, **options: Any) -> None:
        triplet_set = row_called(TripletSet, options["set"])
        chosen = chosen_embedding_sets(triplet_set, options["embeddings"])
        job = alignment_job(triplet_set, chosen, options["metric"], options["seed"])
        result = self.run_work(
            **job, work=lambda progress: align_set(progress=progress, **job["arguments"])
        )
        for part in ("validation", "test"):
            if options[part]:
                options[part].write_text(
                    matrix_csv(accuracy_matrix(result, part)), encoding="utf-8"
                )
        self.report(result, as_json=options["json"], lines=_lines(result))


def _lines(result: dict[str, Any]) -> list[str]:
    n_fitted, n_scored = (sum(result[part]["n"]) for part in ("validation", "test"))
    lines = [
        f"fitted on {n_fitted:,} answers, scored on {n_scored:,} others"
        if result["is_split"]
        else f"fitted and scored on the same {n_scored:,} answers: too few questions for two parts"
    ]
    for row, name in enumerate(result["conditions"]):
        accuracies = [f"{value:.3f}" for value in result["test"]["accuracy"][row]]
        chosen = result["embeddings"][result["main_choice"][row]]
        lines.append(f"  {name}: {' '.join(accuracies)}, matched with {chosen}")
    sinkhorn = result["sinkhorn"]
    failed = f", FAILED: {sinkhorn['failure']}" if sinkhorn["failure"] else ""
    lines += [
        f"OT accuracy {result['ot_accuracy']:.6f}, greedy {result['greedy_accuracy']:.6f} "
        f"(chosen where it is scored: {result['greedy_accuracy_chosen_on_test']:.6f})",
        f"Sinkhorn {sinkhorn['reported']:.6f}, for comparison only{failed}",
        f"valid {result['reversed']['valid']:.1%}, reversed ones "
        f"{result['reversed']['valid_reversed']:.1%}",
    ]
    return lines
