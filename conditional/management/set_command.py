"""What the commands that make sets share."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError

from catalog.models import Catalog
from conditional.stored_sets import SetModel, job_of_set, slug_to_make
from jobs.commands import JobCommand
from jobs.services import Work

MAX_SHOWN = 50


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


def catalog_called(slug: str) -> Catalog:
    """Return a catalog.

    Raises:
        CommandError: there is none.
    """
    catalog = Catalog.objects.filter(slug=slug).first()
    if catalog is None:
        raise CommandError(f"catalog: there is no catalog “{slug}”.")
    return catalog


def defect_lines(defects: list[dict[str, Any]]) -> list[str]:
    """Return a line for each entry that was left out, as far as there is room."""
    lines = [f"  {one['index']}\t{one['code']}\t{one['reason']}" for one in defects[:MAX_SHOWN]]
    if len(defects) > MAX_SHOWN:
        lines.append(f"  and {len(defects) - MAX_SHOWN:,} more; --json lists them all")
    return lines
