"""`manage.py score_templates SET [SET ...] --model MODEL [--model MODEL ...]`."""

from __future__ import annotations

from argparse import ArgumentParser
from statistics import fmean
from typing import Any

from conditional.management.set_command import row_called
from conditional.models import BASELINE_LABELS, TemplateSet
from conditional.template_sets.recall import score_model
from conditional.template_sets.recall_services import SCORE_TASK, job_subject, known_model
from jobs.work.commands import JobCommand


class Command(JobCommand):
    help = "Score models on sets of templates; the average weighs sets equally, as GeneCIS does."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("set", nargs="+", help="slug of a set")
        parser.add_argument(
            "--model",
            action="append",
            required=True,
            help="open_clip:ARCH/WEIGHTS, the spec of an embedding set of the catalog, or "
            "notions:SPACE for the notions that are called like the conditions, or composer:NAME",
        )

    def handle(self, *_: Any, **options: Any) -> None:
        sets = [row_called(TemplateSet, slug) for slug in options["set"]]
        results = [self._scored(one, model) for model in options["model"] for one in sets]
        found: dict[tuple[str, str, bool], list[dict[str, Any]]] = {}
        for result in results:
            for score in result["scores"]:
                key = (result["model"], score["baseline"], score["is_normalised"])
                found.setdefault(key, []).append(score | {"set": result["set"]})
        rows = [
            {
                **{"model": model, "baseline": baseline, "is_normalised": is_normalised},
                "recall": {
                    k: fmean(one["recall"]["expected"][k] for one in of_sets) for k in "123"
                },
                "by_set": of_sets,
            }
            for (model, baseline, is_normalised), of_sets in found.items()
        ]
        self.report({"scores": rows}, as_json=options["json"], lines=[_line(row) for row in rows])

    def _scored(self, template_set: TemplateSet, model: str) -> dict[str, Any]:
        name = known_model(template_set, model)
        arguments: dict[str, Any] = {"template_set_id": template_set.pk, "model": name}
        return self.run_work(
            task=SCORE_TASK,
            subject=f"{job_subject(template_set)}{name}"[:200],
            title=f"Score {name} on “{template_set}”",
            arguments=arguments,
            work=lambda progress: score_model(progress=progress, **arguments),
        )


def _line(row: dict[str, Any]) -> str:
    asked = BASELINE_LABELS[row["baseline"]] + (", normalised" if row["is_normalised"] else "")
    recalls = "  ".join(f"R@{k} {value:.3f}" for k, value in row["recall"].items())
    sets = ", ".join(
        f"{one['set']} {one['recall']['expected']['1']:.3f} (chance {one['chance']['1']:.3f})"
        for one in row["by_set"]
    )
    return f"{row['model']}  {asked}: {recalls}  [R@1 of {sets}]"
