"""Import judgements that were made elsewhere."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from annotation.errors import CampaignError
from annotation.models import Campaign
from annotation.queries.references import find_in_row, image_names, judges_by_name
from annotation.services import import_judgements
from annotation.services.imports import ImportedJudgement, ImportRefusedError
from jobs.work.commands import JobCommand
from lookalike.agreement.grades import MOST_GRADES, Scale
from lookalike.io.numbered_rows import TableError, read_rows

GRADES = [str(grade) for grade in range(MOST_GRADES)]


class Command(JobCommand):
    """Import a CSV of judgements into a campaign, all of them or none.

    Columns: query, candidate (an image's path in its catalog, uid or SHA-256), annotator (user
    name), answer (similar, different, cant_tell, skip; where pairs are graded, the grade), and
    optionally reason.
    """

    help = "Import judgements from a CSV file (query,candidate,annotator,answer)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("campaign", help="the campaign's short name")
        parser.add_argument("file", type=Path)

    def handle(self, *args: object, **options: Any) -> None:
        campaign = Campaign.objects.filter(slug=options["campaign"]).first()
        if campaign is None:
            raise CommandError(f"There is no campaign “{options['campaign']}”.")
        path: Path = options["file"]
        try:
            rows = _read(campaign, path)
            counts = import_judgements(campaign=campaign, rows=list(rows.values()))
        except ImportRefusedError as refused:
            numbers = list(rows)
            told = [f"row {numbers[index]}: {why}" for index, why in refused.problems]
            raise CommandError(str(TableError(str(path), told))) from None
        except (TableError, CampaignError) as problem:
            raise CommandError(str(problem)) from None
        result = {
            "campaign": campaign.slug,
            "imported": counts.n_imported,
            "unchanged": counts.n_unchanged,
        }
        line = f"{counts.n_imported} judgements imported, {counts.n_unchanged} were there already."
        self.report(result, as_json=options["json"], lines=[line])


def _read(campaign: Campaign, path: Path) -> dict[int, ImportedJudgement]:
    """Return the file's judgements by row.

    Raises:
        TableError: the file cannot be read, or rows name images or people that the campaign
            does not have.
    """
    problems: list[str] = []
    rows: dict[int, ImportedJudgement] = {}
    queries, candidates = image_names(campaign)
    judges = judges_by_name(campaign)
    scale = campaign.kind.scale
    columns = ("query", "candidate", "annotator", "answer")
    for row, (query, candidate, annotator, answer, reason) in read_rows(
        path, columns, problems, optional=("reason",)
    ):
        query_id = find_in_row(queries, query, row, problems)
        candidate_id = find_in_row(candidates, candidate, row, problems)
        annotator_id = judges.get(annotator)
        if annotator_id is None:
            problems.append(f"row {row}: {annotator!r} is not on the panel")
        if query_id is not None and candidate_id is not None and annotator_id is not None:
            rows[row] = ImportedJudgement(
                query_id, candidate_id, annotator_id, _code(answer, scale), reason
            )
    if problems:
        raise TableError(str(path), problems)
    if not rows:
        raise TableError(str(path), ["there are no judgements"])
    return rows


def _code(answer: str, scale: Scale | None) -> str:
    """Return an answer as it is stored; a grade stands in the file as its digit."""
    is_grade = scale is not None and answer in GRADES[: scale.n_grades]
    return scale.answer(int(answer)) if scale and is_grade else answer
