"""Take the answers of several judges as a campaign: from Label Studio, FiftyOne or tables."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from django.db import transaction
from django.utils import timezone

from accounts.models import User
from annotation.models import (
    MAX_COMMENT,
    Adjudication,
    Campaign,
    Comment,
    Guideline,
    Question,
    QuestionKind,
)
from annotation.services import create_campaign, open_campaign
from annotation.services.imports import (
    REASONS,
    ImportedJudgement,
    ImportRefusedError,
    import_judgements,
)
from catalog.models import Catalog
from lookalike.agreement.grades import Scale
from lookalike.io.pair_answers import AnswerKind, PairAnswer, PairAnswers
from lookalike.release.errors import ReleaseError
from releases.importing.campaign import exclude_uncounted, make_account
from releases.importing.labels import images_named

MOST_VERSIONS = 1000  # of guidelines
MOST_MS = 2**31 - 1


@transaction.atomic
def import_answers(
    *,
    answers: PairAnswers,
    source_name: str,
    slug: str,
    name: str,
    catalog: Catalog,
    query_catalog: Catalog | None = None,
) -> tuple[Campaign, int]:
    """Make a campaign with every answer of every judge, the rulings and the comments.

    Judges become accounts that nobody can sign in to. Answers to repeated and mirrored pairs come
    back as such. Votes that did not count do not count here.

    Args:
        answers: as `read_pair_answers` gives them.
        source_name: the file's name, for people.
        slug: of the campaign.
        name: of the campaign.
        catalog: holds the candidates.
        query_catalog: holds the queries, if they are not in the same catalog.

    Returns:
        The campaign, and how many judgements it holds.

    Raises:
        ReleaseError: a catalog lacks images, or an answer cannot be stored.
        CampaignError: the slug is taken.
    """
    scale = _scale(answers, source_name)
    named = _with_names(answers.answers)
    for answer in named:
        if problem := next(_problems(answer, scale), ""):
            raise ReleaseError(f"{source_name}, line {answer.line}: {problem}")
    given = _GivenAnswers(
        answers=named,
        queries=images_named({one.query for one in named}, query_catalog or catalog, source_name),
        candidates=images_named({one.candidate for one in named}, catalog, source_name),
        judges={
            judge: make_account(f"{slug}-{judge}")
            for judge in sorted({one.judge for one in named if one.judge}) or ["unknown-1"]
        },
        scale=scale,
        source_name=source_name,
    )
    campaign = create_campaign(
        name=name,
        slug=slug,
        pairs=list(dict.fromkeys(map(given.pair, named))),
        panel=list(given.judges.values()),
        scale=scale,
        tie_rule=answers.tie_rule,
        guidelines=f"Answers of {source_name}.",
    )
    _keep_versions(campaign, {one.guideline_version or 1 for one in named}, source_name)
    campaign = open_campaign(campaign=campaign)
    n_imported = _store(campaign, given)
    _store_rulings(campaign, given)
    _store_comments(campaign, given)
    return campaign, n_imported


@dataclass(frozen=True)
class _GivenAnswers:
    """The answers of a file, with what they name here.

    Attributes:
        answers: each with the name of its judge.
        queries: ids of images by name.
        candidates: likewise.
        judges: accounts by name.
        scale: of the grades; None where pairs are similar or different.
        source_name: of the file, for people.
    """

    answers: Sequence[PairAnswer]
    queries: Mapping[str, int]
    candidates: Mapping[str, int]
    judges: Mapping[str, User]
    scale: Scale | None
    source_name: str

    def pair(self, one: PairAnswer) -> tuple[int, int]:
        """Return the images of the pair that is asked about."""
        return self.queries[one.query], self.candidates[one.candidate]

    def shown_pair(self, one: PairAnswer) -> tuple[int, int]:
        """Return the images as they were shown: of a mirrored pair, swapped."""
        query, candidate = self.pair(one)
        return (candidate, query) if one.kind is AnswerKind.MIRROR else (query, candidate)

    def code(self, one: PairAnswer) -> str:
        """Return an answer as judgements hold it, with its grade."""
        return one.answer if not self.scale or one.grade is None else self.scale.answer(one.grade)


def _scale(answers: PairAnswers, source_name: str) -> Scale | None:
    try:
        return Scale(answers.grades, answers.similar_from) if answers.grades else None
    except ValueError as problem:
        raise ReleaseError(f"{source_name}: {problem}") from problem


def _with_names(answers: Sequence[PairAnswer]) -> list[PairAnswer]:
    """Return answers with a name for each judge whom the file leaves unknown."""
    n_unknown: Counter[tuple[str, str]] = Counter()
    named = []
    for one in answers:
        judge = one.judge
        if not judge and one.kind is not AnswerKind.RULING:
            n_unknown[one.query, one.candidate] += 1
            judge = f"unknown-{n_unknown[one.query, one.candidate]}"
        named.append(replace(one, judge=judge))
    return named


def _problems(one: PairAnswer, scale: Scale | None) -> Iterator[str]:
    """Yield why an answer cannot be stored."""
    if any("\0" in text for text in (one.judge, one.query, one.candidate, *one.comments)):
        yield "a text has a null character"
    if one.decided_at and _moment(one.decided_at) is None:
        yield f"the time {one.decided_at!r} is not in ISO 8601"
    if not 0 <= one.visible_ms <= MOST_MS:
        yield f"{one.visible_ms} ms is no time"
    version = one.guideline_version
    if version is not None and not 1 <= version <= MOST_VERSIONS:
        yield f"version {version} of the guidelines is not 1 to {MOST_VERSIONS:,}"
    if one.reason not in REASONS or (one.reason and one.label is not None):
        yield f"the reason {one.reason!r} of the answer {one.answer!r} is not known"
    if any(len(text) > MAX_COMMENT for text in one.comments):
        yield f"a comment has more than {MAX_COMMENT:,} characters"
    if one.label is None:
        return
    if scale is None:
        if one.grade is not None:
            yield "it has a grade, but the file names no grades"
    elif one.grade is None or one.grade not in range(scale.n_grades):
        yield f"the grade {one.grade} is not 0 to {scale.n_grades - 1}"
    elif scale.answer(one.grade).partition(":")[0] != one.answer:
        yield f"grade {one.grade} is not {one.answer}"


def _moment(text: str) -> datetime | None:
    """Return a time of a text in ISO 8601, UTC where it has no zone; None for another text."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _keep_versions(campaign: Campaign, versions: set[int], source_name: str) -> None:
    """Make the versions of the guidelines that answers name; the file has no text of them."""
    Guideline.objects.bulk_create(
        Guideline(campaign=campaign, version=version, text=f"Answers of {source_name}.")
        for version in sorted(versions - {1})
    )
    campaign.guideline_version = max(versions)
    campaign.save(update_fields=["guideline_version"])


def _store(campaign: Campaign, given: _GivenAnswers) -> int:
    """Store what judges said, and exclude what did not count; return how many judgements."""
    said = sorted(
        (one for one in given.answers if one.kind is not AnswerKind.RULING),
        key=lambda one: (one.kind is not AnswerKind.PAIR, not one.is_counted),
    )
    rows = [
        ImportedJudgement(
            *given.shown_pair(one),
            annotator_id=given.judges[one.judge].pk,
            answer=given.code(one),
            reason=one.reason,
            decided_at=_moment(one.decided_at),
            visible_ms=one.visible_ms,
            guideline_version=one.guideline_version,
            kind=one.kind.value,
        )
        for one in said
    ]
    if not rows:
        return 0
    try:
        n_imported = import_judgements(campaign=campaign, rows=rows).n_imported
    except ImportRefusedError as refused:
        index, reason = refused.problems[0]
        where = f"{given.source_name}, line {said[index].line}"
        raise ReleaseError(f"{where}: {reason}") from refused
    uncounted = {
        (row.kind, row.query_id, row.candidate_id, row.annotator_id)
        for row, one in zip(rows, said, strict=True)
        if not one.is_counted
    }
    exclude_uncounted(campaign, uncounted, f"Not counted in {given.source_name}")
    return n_imported


def _question_ids(campaign: Campaign) -> dict[tuple[str, int, int], int]:
    questions = Question.objects.filter(campaign=campaign)
    columns = questions.values_list("pk", "kind", "query_id", "candidate_id")
    return {(kind, query, candidate): pk for pk, kind, query, candidate in columns}


def _store_rulings(campaign: Campaign, given: _GivenAnswers) -> None:
    rulings = [
        one for one in given.answers if one.kind is AnswerKind.RULING and one.label is not None
    ]
    of_pair = _question_ids(campaign) if rulings else {}
    Adjudication.objects.bulk_create(
        Adjudication(
            question_id=of_pair[QuestionKind.PAIR, *given.pair(one)],
            answer=given.code(one),
            reason=f"Imported with {given.source_name}"[:500],
        )
        for one in rulings
    )


def _store_comments(campaign: Campaign, given: _GivenAnswers) -> None:
    commented = [one for one in given.answers if one.comments and one.kind is not AnswerKind.RULING]
    of_pair = _question_ids(campaign) if commented else {}
    member_of = dict(campaign.panel.values_list("annotator_id", "pk"))
    now = timezone.now()
    Comment.objects.bulk_create(
        Comment(
            uuid=uuid.uuid4(),
            question_id=of_pair[one.kind.value, *given.shown_pair(one)],
            member_id=member_of[given.judges[one.judge].pk],
            text=text,
            guideline_version=one.guideline_version or campaign.guideline_version,
            made_at=min(_moment(one.decided_at) or now, now),
        )
        for one in commented
        for text in one.comments
    )
