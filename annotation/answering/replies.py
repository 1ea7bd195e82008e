"""What the judging page gets as JSON: the only place where rows become bytes for a judge."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import mark_safe
from django.utils.translation import get_language, get_language_info, gettext

from annotation.answering.submissions import RejectedError
from annotation.markdown import diff, to_html
from annotation.models import Comment, Gold, Guideline, Question
from annotation.models.choices import PICK
from annotation.picture_keys import seal_picture, seal_place
from annotation.queries.choices import Choice, read_choices
from annotation.queries.guidelines import text_in
from annotation.queries.judges import Judge
from annotation.queries.next_questions import (
    AskedQuestion,
    RecentAnswer,
    may_be_lent_more,
    progress,
)
from annotation.question_names import seal_question
from annotation.services.answers import Receipt
from annotation.task_kinds import pick_place
from catalog.images.pictures import Picture

NOT_NOW = frozenset({"closed", "paused"})
NO_KEY = "-"


def next_reply(judge: Judge, asked: Iterable[AskedQuestion], n_done: int) -> dict[str, Any]:
    """Return the next open questions, and how far the judge has come.

    Waiting: there is none just now, but pairs may yet come back from other judges.
    """
    questions = [question_reply(judge, question) for question in asked]
    return {
        "questions": questions,
        "is_waiting": not questions and may_be_lent_more(judge),
        "progress": progress_reply(judge, n_done),
        **news_reply(judge),
        "state": judge.state_shown,
        "is_own_pause": judge.is_paused,
        "stage": judge.stage,
    }


def question_reply(judge: Judge, question: AskedQuestion) -> dict[str, Any]:
    """Return one question under the judge's own name for it; only training differs from others."""
    name = seal_question(judge.annotator_id, question.uid)
    reply = {
        "uid": name,
        "position": question.place,
        "kind": "training" if question.is_training else "pair",
    }
    if question.choice is not None:
        return reply | choice_reply(judge.campaign_uid, name, question.choice)
    return reply | {
        "query": picture_reply(judge.campaign_uid, question.query),
        "candidate": picture_reply(judge.campaign_uid, question.candidate),
    }


def choice_reply(campaign_uid: uuid.UUID, question: str, choice: Choice) -> dict[str, Any]:
    """Return the keys of a question's images, those to pick from as this judge sees them."""
    return {
        "condition": choice.condition,
        "reference": seal_place(campaign_uid, question, None),
        "images": [seal_place(campaign_uid, question, place) for place in choice.order],
    }


def answer_reply(judge: Judge, question: uuid.UUID, answer: str) -> str:
    """Return an answer as the page knows it: what it picks is named by the picture's key."""
    place = pick_place(answer)
    if place is None:
        return answer
    name = seal_question(judge.annotator_id, question)
    return PICK + seal_place(judge.campaign_uid, name, place)


def picture_reply(campaign_uid: uuid.UUID, picture: Picture) -> dict[str, Any]:
    """Return an image's addresses and shape."""
    key = seal_picture(campaign_uid, picture.id)
    before, *ends = _address_parts(campaign_uid)
    whole, thumb = (f"{before}{key}{end}" for end in ends)
    return {
        "url": whole,
        "thumb_url": thumb,
        "width": picture.width,
        "height": picture.height,
    }


@lru_cache(maxsize=256)
def _address_parts(campaign_uid: uuid.UUID) -> list[str]:
    """Return what stands before a picture's key, and what stands behind it for each size.

    To find an address by its name takes longer than all else in a question's reply.
    """
    sizes = ("view", "thumb")
    whole = [reverse("annotation:image", args=[campaign_uid, NO_KEY, size]) for size in sizes]
    before = whole[0].removesuffix(f"{NO_KEY}/{sizes[0]}")
    return [before, *(address.removeprefix(f"{before}{NO_KEY}") for address in whole)]


def progress_reply(judge: Judge, n_done: int) -> dict[str, int]:
    """Return how far the judge has come."""
    done, total = progress(judge, n_done)
    return {"n_done": done, "n_total": total}


def receipt_reply(keys: Sequence[uuid.UUID], receipt: Receipt) -> dict[str, Any]:
    """Return what became of each answer, by its UUID; training answers bring their feedback."""
    results = []
    for key, result in zip(keys, receipt.results, strict=True):
        row = _result(key, result)
        if key in receipt.feedback:
            question, expected, why = receipt.feedback[key]
            known = answer_reply(receipt.judge, question, expected)
            row["feedback"] = {"expected": known, "why": why}
        results.append(row)
    return {
        "results": results,
        "progress": progress_reply(receipt.judge, receipt.n_done),
        **news_reply(receipt.judge),
    }


def news_reply(judge: Judge) -> dict[str, Any]:
    """Return what the judge is to be told: guidelines to read, replies of admins."""
    return {
        "guideline_version": judge.guideline_version,
        "read_version": judge.read_version,
        "must_read": judge.must_read,
        "n_replies": judge.n_replies,
    }


def receipt_status(receipt: Receipt) -> int:
    """Return 200 if anything was taken, 409 if nothing is taken now, 422 if all was wrong."""
    rejected = [r.code for r in receipt.results if isinstance(r, RejectedError)]
    if len(rejected) < len(receipt.results):
        return 200
    return 409 if NOT_NOW.issuperset(rejected) else 422


def recent_reply(judge: Judge, answers: Iterable[RecentAnswer]) -> dict[str, Any]:
    """Return the judge's own last answers."""
    return {
        "answers": [
            {
                "uuid": str(answer.uuid),
                "question": question_reply(judge, answer.question),
                "answer": answer_reply(judge, answer.question.uid, answer.answer),
                "reason": answer.reason,
                "decided_at": answer.decided_at.isoformat(),
                "is_current": answer.is_current,
            }
            for answer in answers
        ]
    }


def comment_results(
    keys: Sequence[uuid.UUID], results: Sequence[str | RejectedError]
) -> list[dict[str, str]]:
    """Return what became of each comment, as that of an answer is told."""
    return [_result(key, result) for key, result in zip(keys, results, strict=True)]


def _result(key: uuid.UUID, result: str | RejectedError) -> dict[str, Any]:
    if isinstance(result, RejectedError):
        status, code, message = "rejected", result.code, result.message
    else:
        status, code, message = result, "", ""
    return {"uuid": str(key), "status": status, "code": code, "message": message}


def comments_reply(judge: Judge, comments: Sequence[Comment]) -> dict[str, Any]:
    """Return comments of the judge's own with the replies of admins, who stay unnamed."""
    asked = [(one.question.uid, one.question.subject) for one in comments]
    choices = read_choices(judge, asked)
    return {
        "replies": [
            {
                "uuid": str(one.uuid),
                "question": question_reply(judge, _example(one.question, choices)),
                "comment": one.words,
                "reply": one.reply,
                "new_version": one.new_version,
            }
            for one in comments
        ]
    }


def guidelines_html(campaign_uid: uuid.UUID, guideline: Guideline) -> str:
    """Return guidelines in the active language, or as they were written, which is said then.

    Their pictures have an address in this campaign alone.
    """
    shown = text_in(guideline, get_language() or "")

    def address_of(name: str) -> str:
        image_id = guideline.pictures.get(name)
        if image_id is None:
            return ""
        return reverse(
            "annotation:image", args=[campaign_uid, seal_picture(campaign_uid, image_id), "view"]
        )

    html = to_html(shown.text, address_of)
    if not html or shown.language == get_language():
        return html
    name = get_language_info(shown.language)["name_translated"]
    note = gettext("There is no text in your language; this one is in: %(name)s") % {"name": name}
    cleaned = mark_safe(html)  # noqa: S308  (by `to_html`)
    said = '<p class="small muted">{}</p><div lang="{}">{}</div>'
    return format_html(said, note, shown.language, cleaned)


def guidelines_reply(
    judge: Judge, guideline: Guideline, examples: Iterable[Gold], last_read: str
) -> dict[str, Any]:
    """Return the guidelines as HTML, with the worked examples, and what is new in them.

    `last_read` is the text that the judge read last; "" where that was none.
    """
    listed = list(examples)
    asked = [(example.question.uid, example.question.subject) for example in listed]
    choices = read_choices(judge, asked)
    return {
        "version": guideline.version,
        "html": guidelines_html(judge.campaign_uid, guideline),
        "changes": diff(last_read, text_in(guideline, get_language() or "").text)
        if last_read
        else [],
        "examples": [
            {
                "question": question_reply(judge, _example(example.question, choices)),
                "answer": answer_reply(judge, example.question.uid, example.answer),
                "why": example.why,
            }
            for example in listed
        ],
    }


def _example(question: Question, choices: Mapping[uuid.UUID, Choice]) -> AskedQuestion:
    query, candidate = Picture.of(question.query), Picture.of(question.candidate)
    choice = choices.get(question.uid)
    return AskedQuestion(question.uid, 0, False, None, query, candidate, choice)
