"""What the commands that make sets share."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any, TypeVar

from django.core.management.base import CommandError
from django.db import models

from catalog.models import Catalog, EmbeddingSet
from catalog.queries import usable_embedding_sets
from conditional.models import TemplateSet, TripletSet
from conditional.stored_sets import SetModel, job_of_set, slug_to_make
from jobs.services import Work
from jobs.work.commands import JobCommand
from pooling.models import Pool

MAX_SHOWN = 50
_MISSING: dict[type[models.Model], str] = {
    Catalog: "catalog: there is no catalog",
    Pool: "pool: there is no pool",
    TemplateSet: "there is no set",
    TripletSet: "there are no triplets",
}
Row = TypeVar("Row", Catalog, Pool, TemplateSet, TripletSet)


class SetCommand(JobCommand):
    """A command that makes a set over a catalog's images."""

    def make(
        self, model: SetModel, *, task: str, verb: str, arguments: dict[str, Any], work: Work
    ) -> dict[str, Any]:
        """Make a set, or go on where the same command was interrupted; return the job's result.

        Args:
            verb, arguments: as `job_of_set`.

        Raises:
            CommandError: the name is taken, or as `run_work`.
        """
        slug = slug_to_make(model, arguments["name"], task, arguments)
        job = job_of_set(model, slug, task=task, verb=verb, arguments=arguments)
        return self.run_work(**job, work=work)


def row_called(model: type[Row], slug: str) -> Row:
    """Return the catalog, set or pool of a slug.

    Raises:
        CommandError: there is none.
    """
    row = model._default_manager.filter(slug=slug).first()
    if row is None:
        raise CommandError(f"{_MISSING[model]} “{slug}”.")
    return row


def add_triplet_options(parser: ArgumentParser) -> None:
    """Add which triplets are scored by which embedding sets, and by which metric."""
    parser.add_argument("set", help="slug of the triplets")
    parser.add_argument(
        "--embeddings", action="append", metavar="SPEC", help="by default every complete one"
    )
    parser.add_argument("--metric", choices=("cosine", "euclidean"), default="cosine")


def chosen_embedding_sets(triplet_set: TripletSet, specs: list[str] | None) -> list[EmbeddingSet]:
    """Return the newest complete set of each spec of the triplets' catalog; of all for None.

    Raises:
        CommandError: there is none.
    """
    newest = {one.spec: one for one in usable_embedding_sets(triplet_set.catalog)}
    chosen = list(newest) if specs is None else list(dict.fromkeys(specs))
    missing = sorted({*chosen} - newest.keys())
    if missing or not chosen:
        known = ", ".join(newest) or "none"
        name = f" {missing[0]!r}" if missing else ""
        raise CommandError(
            f"no complete embedding set{name} of “{triplet_set.catalog}”; there are: {known}."
        )
    return [newest[spec] for spec in chosen]


def defect_lines(defects: list[dict[str, Any]]) -> list[str]:
    """Return a line for each entry that was left out, as far as there is room."""
    lines = [f"  {one['index']}\t{one['code']}\t{one['reason']}" for one in defects[:MAX_SHOWN]]
    if len(defects) > MAX_SHOWN:
        lines.append(f"  and {len(defects) - MAX_SHOWN:,} more; --json lists them all")
    return lines
