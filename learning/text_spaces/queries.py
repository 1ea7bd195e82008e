"""Reads of text spaces, named by what they return."""

from __future__ import annotations

from django.db.models import Count, Q, QuerySet
from django.http import Http404

from catalog.models import Catalog
from jobs.models import Job, JobState
from learning.models import Family, Notion, TextSpace, TrainingRun
from learning.notions.services import NOTION_TASK
from lookalike.core.errors import Refused


def space_by_slug(slug: str) -> TextSpace:
    """Return a text space.

    Raises:
        Refused: there is none of that name; names those that there are.
    """
    spaces = TextSpace.objects.select_related("projection", "run__catalog")
    found = spaces.filter(projection__slug=slug).first()
    if found is None:
        known = ", ".join(sorted(spaces.values_list("projection__slug", flat=True)))
        there_is = f"there is {known}" if known else "there is none yet"
        raise Refused("space", f"no text space is called {slug!r}; {there_is}.")
    return found


def find_space(slug: str) -> TextSpace:
    """Return a text space for a page.

    Raises:
        Http404: there is none.
    """
    try:
        return space_by_slug(slug)
    except Refused:
        raise Http404 from None


def known_spaces() -> QuerySet[TextSpace]:
    """Return all text spaces with the number of their notions."""
    spaces = TextSpace.objects.select_related("projection", "run__catalog")
    return spaces.annotate(n_notions=Count("notions")).order_by("projection__name")


def spaces_of(catalog: Catalog) -> QuerySet[TextSpace]:
    """Return the text spaces that were learned from a catalog."""
    return known_spaces().filter(run__catalog=catalog)


def unfinished_runs() -> QuerySet[TrainingRun]:
    """Return the text spaces that are being learned, or could not be."""
    runs = TrainingRun.objects.filter(family=Family.SPACE, space=None)
    return runs.select_related("job__owner", "catalog")


def jobs_of(space: TextSpace) -> list[Job]:
    """Return the jobs at work for a space or its notions, and the last if it failed."""
    notions = Q(task=NOTION_TASK, subject__startswith=f"notion {space.slug}#")
    mapping = Q(subject=f"catalog {space.catalog.pk} by {space.projection.spec}")
    jobs = Job.objects.filter(notions | mapping)
    latest = list(jobs.select_related("owner").order_by("-id")[:5])
    return [job for at, job in enumerate(latest) if job.is_open or (
        at == 0 and job.state == JobState.FAILED)]  # fmt: skip


def notions_of(space: TextSpace) -> QuerySet[Notion]:
    """Return the notions of a space, by name."""
    return space.notions.select_related("projection").order_by("projection__name")
