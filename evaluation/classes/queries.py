"""What the page about classes reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from catalog.browsing.facets import list_attributes
from catalog.models import Catalog
from catalog.queries import catalog_counts
from evaluation.classes.services import PRODUCT, TASK, catalog_subject
from evaluation.models import ClassScore
from jobs.models import OPEN_STATES, Job, JobState
from lookalike.core.dataclass_json import from_json
from lookalike.metrics.class_tables import CLUSTERS, RETRIEVAL, ClassScores
from lookalike.stats.text_tables import PAGE


def columns_to_score(catalog: Catalog) -> list[tuple[str, str]]:
    """Return the columns whose values some images share and others do not, with a label each."""
    counts = catalog_counts(catalog)
    n_with_product = counts.n_images - counts.n_without_product
    choices = [
        (one.name, f"{one.name} ({one.n_values:,} values of {one.n_images:,} images)")
        for one in list_attributes(catalog)
        if 1 < one.n_values < one.n_images
    ]
    if 1 < counts.n_products < n_with_product:
        label = f"Product ({counts.n_products:,} of {n_with_product:,} images)"
        choices.insert(0, (PRODUCT, label))
    return choices


@dataclass(frozen=True)
class ModelLine:
    """The measures of one embedding set on a column, ready to be shown.

    Attributes:
        model: its spec.
        n_images: that have a value of the column, and a vector.
        cells: of RETRIEVAL, then of CLUSTERS with their spread.
        is_old: the catalog was changed since.
    """

    model: str
    n_images: int
    cells: list[tuple[str, str]]
    is_old: bool


@dataclass(frozen=True)
class ColumnTable:
    """What is known of one column; `scores` and `chance` are of the first line."""

    scores: ClassScores
    chance: list[str]
    lines: list[ModelLine]


def class_tables(catalog: Catalog) -> list[ColumnTable]:
    """Return a table for each column that was scored, models by falling MAP@R."""
    rows = ClassScore.objects.filter(embedding_set__catalog=catalog)
    by_column: dict[str, list[tuple[ClassScore, ClassScores]]] = {}
    for row in rows.select_related("embedding_set").order_by("column", "pk"):
        found = from_json(ClassScores, row.figures)
        by_column.setdefault(row.column, []).append((row, found))
    return [_table(catalog, found) for found in by_column.values()]


def _table(catalog: Catalog, found: Sequence[tuple[ClassScore, ClassScores]]) -> ColumnTable:
    ordered = sorted(found, key=lambda pair: -pair[1].measures["MAP@R"].value)
    scores = ordered[0][1]
    return ColumnTable(
        scores=scores,
        chance=[
            *(PAGE.number(scores.chance.get(name), 3) for name in RETRIEVAL),
            *[PAGE.dash] * len(CLUSTERS),
        ],
        lines=[
            ModelLine(
                row.embedding_set.spec,
                one.n_images,
                _cells(one),
                catalog.changed_at > row.scored_at,
            )
            for row, one in ordered
        ],
    )


def _cells(scores: ClassScores) -> list[tuple[str, str]]:
    """Return each value with its spread, "" where it has none."""
    clusters = [scores.clusters.get(name) for name in CLUSTERS]
    return [
        *((PAGE.number(scores.measures[name].value, 3), "") for name in RETRIEVAL),
        *(
            (PAGE.dash, "") if one is None else (f"{one.mean:.3f}", f"{one.std:.3f}")
            for one in clusters
        ),
    ]


def class_jobs(catalog: Catalog) -> list[Job]:
    """Return the jobs about a catalog that are under way, and the newest one if it failed."""
    jobs = Job.objects.filter(task=TASK, subject__startswith=catalog_subject(catalog.pk))
    under_way = list(jobs.filter(state__in=OPEN_STATES))
    last = jobs.order_by("-id").first()
    return [*under_way, last] if last and last.state == JobState.FAILED else under_way
