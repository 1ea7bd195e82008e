"""What the page and the API read of a campaign's further study."""

from __future__ import annotations

from dataclasses import dataclass

from annotation.models import Campaign, Question, QuestionKind
from annotation.queries.labels import labels
from evaluation.below_pool.pairs import drawn_beside_pool, without_pairs
from evaluation.results.inputs import label_digest
from evaluation.study.services import STUDY_TASK, OpinionLine, Study, study_subject
from jobs.queries import latest_found


@dataclass(frozen=True)
class OpinionRow:
    """A pair worth a second opinion, with the question that asks about it."""

    line: OpinionLine
    question: Question


def latest_study(campaign: Campaign) -> Study | None:
    """Return the newest study of a campaign that ended well."""
    return latest_found(STUDY_TASK, study_subject(campaign), Study)


def opinion_rows(campaign: Campaign, found: Study) -> list[OpinionRow]:
    """Return the pairs worth a second opinion that are still asked."""
    questions = campaign.questions.filter(
        kind=QuestionKind.PAIR,
        query__in=[line.query for line in found.opinions],
        candidate__in=[line.candidate for line in found.opinions],
    ).select_related("query", "candidate")
    of_pair = {(one.query_id, one.candidate_id): one for one in questions}
    pairs = ((line, of_pair.get((line.query, line.candidate))) for line in found.opinions)
    return [OpinionRow(line, question) for line, question in pairs if question is not None]


def is_current(campaign: Campaign, found: Study) -> bool:
    """Whether a campaign's labels are those that a study was made with."""
    table = without_pairs(labels(campaign), drawn_beside_pool(campaign))
    return label_digest(table) == found.labels
