"""manage.py score_classes CATALOG: how well embedding sets tell the values of its columns apart."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from catalog.models import Catalog
from catalog.queries import usable_embedding_sets
from evaluation.classes.queries import columns_to_score
from evaluation.classes.services import TASK, classes_subject, score_embedding_set
from jobs.work.commands import JobCommand
from lookalike.core.dataclass_json import from_json
from lookalike.metrics.class_tables import ClassScores, class_lines


class Command(JobCommand):
    help = "Score an embedding set by the measures of metric learning, and keep them for the page."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("catalog", help="slug of the catalog")
        parser.add_argument("--model", required=True, metavar="SPEC", help="of an embedding set")
        parser.add_argument(
            "--label", action="append", default=[], metavar="COLUMN",
            help="an attribute, or product_id; may be repeated; default: all that divide",
        )  # fmt: skip

    def handle(self, *args: Any, **options: Any) -> None:
        catalog = Catalog.objects.filter(slug=options["catalog"]).first()
        if catalog is None:
            raise CommandError(f"There is no catalog “{options['catalog']}”.")
        embedding_set = usable_embedding_sets(catalog).filter(spec=options["model"]).last()
        if embedding_set is None:
            specs = usable_embedding_sets(catalog).values_list("spec", flat=True)
            there = ", ".join(dict.fromkeys(specs)) or "none; manage.py embed makes one"
            raise CommandError(f"“{catalog}” has no vectors of {options['model']}, but: {there}.")
        known = [name for name, _ in columns_to_score(catalog)]
        columns = options["label"] or known
        unknown = [name for name in columns if name not in known]
        if unknown or not columns:
            raise CommandError(
                f"“{catalog}” has no column {', '.join(unknown)} that divides its images, but: "
                f"{', '.join(known) or 'none'}."
            )
        result = self.run_work(
            task=TASK,
            subject=classes_subject(embedding_set),
            title=f"Class measures of {embedding_set.spec}",
            arguments={"embedding_set": embedding_set.pk, "columns": columns},
            work=score_embedding_set,
        )
        scores = [from_json(ClassScores, result["columns"][name]) for name in columns]
        self.report(result, as_json=options["json"], lines=class_lines(scores))
