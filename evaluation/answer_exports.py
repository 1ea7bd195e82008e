"""Every answer of a campaign's judges, as exports to other tools carry them."""

from __future__ import annotations

import hashlib
import hmac
from collections import defaultdict
from collections.abc import Iterable

from django.conf import settings

from annotation.models import Campaign, Comment
from annotation.queries.exported_answers import exported_answers, exported_rulings
from catalog.models import SourceFile
from evaluation.below_pool.pairs import drawn_beside_pool
from lookalike.agreement.grades import NO_GRADE, grade_of
from lookalike.agreement.pseudonyms import pseudonyms
from lookalike.io.errors import InputError
from lookalike.io.pair_answers import AnswerKind, PairAnswer, PairAnswers

Pair = tuple[int, int]


def campaign_answers(campaign: Campaign, *, with_comments: bool = False) -> PairAnswers:
    """Return what each judge said of each pair, and the rulings; the answers of a pair together.

    Images are named by their first path, judges by pseudonyms. Left out are pairs with known
    answers (gold), training, and pairs drawn below the pool, which no export of labels holds.

    Args:
        campaign: about pairs.
        with_comments: also what judges wrote, which may tell who they are.

    Raises:
        InputError: there is no answer yet.
    """
    drawn = drawn_beside_pool(campaign)
    rows = [row for row in exported_answers(campaign) if (row.query, row.candidate) not in drawn]
    rulings = [ruling for ruling in exported_rulings(campaign) if ruling[:2] not in drawn]
    if not rows and not rulings:
        raise InputError(f"no pair of “{campaign}” has an answer yet")
    pairs = [(row.query, row.candidate) for row in rows] + [ruling[:2] for ruling in rulings]
    path_of = first_paths({image for pair in pairs for image in pair})
    names = export_names(campaign, {row.judge for row in rows})
    comments = _comments(campaign) if with_comments else {}
    by_pair: dict[Pair, list[PairAnswer]] = defaultdict(list)
    for row in rows:
        by_pair[row.query, row.candidate].append(
            PairAnswer(
                path_of[row.query],
                path_of[row.candidate],
                names[row.judge],
                row.answer.partition(":")[0],
                kind=AnswerKind(row.kind),
                grade=_grade(row.answer),
                reason=row.reason,
                is_counted=row.is_counted,
                decided_at=row.decided_at,
                visible_ms=row.visible_ms,
                guideline_version=row.guideline_version,
                comments=tuple(comments.get((row.question, row.member), ())),
            )
        )
    for query, candidate, answer in rulings:
        side = answer.partition(":")[0]
        by_pair[query, candidate].append(
            PairAnswer(
                path_of[query],
                path_of[candidate],
                "",
                side,
                kind=AnswerKind.RULING,
                grade=_grade(answer),
            )
        )
    answers = [one for pair in sorted(by_pair) for one in by_pair[pair]]
    scale = campaign.kind.scale
    if scale is None:
        return PairAnswers(answers, tie_rule=campaign.tie_rule)
    return PairAnswers(
        answers,
        tie_rule=campaign.tie_rule,
        grades=scale.words,
        similar_from=scale.similar_from,
    )


def first_paths(image_ids: Iterable[int]) -> dict[int, str]:
    """Return the first path of each image."""
    paths: dict[int, str] = {}
    files = SourceFile.objects.filter(image_id__in=list(image_ids)).order_by("image_id", "path")
    for image_id, path in files.values_list("image_id", "path").iterator(chunk_size=5000):
        paths.setdefault(image_id, path)
    return paths


def _grade(answer: str) -> int | None:
    grade = grade_of(answer)
    return None if grade == NO_GRADE else grade


def export_names(campaign: Campaign, judges: set[int]) -> dict[int, str]:
    """Return the names of judges in every export of this campaign, which no release shares."""
    what = f"pseudonyms in exports of {campaign.uid}"
    secret = hmac.new(settings.SECRET_KEY.encode(), what.encode(), hashlib.sha256).digest()
    return pseudonyms(judges, secret)


def _comments(campaign: Campaign) -> dict[Pair, list[str]]:
    """Return what judges wrote, by question and member, the earliest first."""
    comments: dict[Pair, list[str]] = defaultdict(list)
    held = Comment.objects.filter(question__campaign=campaign, withdrawn_at=None).exclude(text="")
    rows = held.order_by("made_at", "pk").values_list("question_id", "member_id", "text")
    for question, member, text in rows:
        comments[question, member].append(text)
    return comments
