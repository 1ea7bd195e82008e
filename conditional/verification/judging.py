"""The addresses of the page on which a judge answers templates or triplets: JSON in and out.

Nothing here tells which image is the target, or which side a file or a model put closer: pictures
are named by the place at which this judge sees them, in an order drawn for this judge and
question alone.
"""

from __future__ import annotations

import json
import uuid
from dataclasses import asdict
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_GET, require_POST

from accounts.access import annotator_required, signed_in
from annotation.answering.submissions import MalformedError, RejectedError
from annotation.markdown import to_html
from catalog.images.serving import image_response
from conditional.models import PanelQuestion, Verification, Verifier
from conditional.template_sets.views import crop_response
from conditional.verification.answers import read_answers
from conditional.verification.queries import (
    NotVerifierError,
    find_verifier,
    next_questions,
    picture_for,
    read_progress,
)
from conditional.verification.services import record_verdicts
from lookalike.conditional.types import Task

AHEAD = 6
MAX_SKIPPED = 100
private = cache_control(private=True, no_store=True)
TEMPLATE_PROMPTS = {
    Task.FOCUS_ATTRIBUTE: "Which is like the reference in this:",
    Task.CHANGE_ATTRIBUTE: "Which is like the reference, but with this:",
    Task.FOCUS_OBJECT: "Which is like the reference and shows this, too:",
    Task.CHANGE_OBJECT: "Which is like the reference, but with this added:",
    Task.COMPOSED: "Which is the reference, changed like this:",
}
TRIPLET_PROMPT = "Which of the two below is more like this image?"


@annotator_required
@private
@require_GET
def page(request: HttpRequest, verification_uid: uuid.UUID) -> HttpResponse:
    """Show the judging page; the questions come by `next`."""
    verifier = _verifier(request, verification_uid)
    verification = verifier.verification
    context = {
        "verification": verification,
        "prompt": _prompt(verification),
        "guidelines_html": to_html(verification.guidelines),
        "progress": read_progress(verifier),
        "next_url": reverse("conditional:next", args=[verification_uid]),
        "answers_url": reverse("conditional:answers", args=[verification_uid]),
    }
    kind = "triplets" if verification.is_of_triplets else "templates"
    return render(request, f"conditional/judge_{kind}.html", context)


def _prompt(verification: Verification) -> str:
    template_set = verification.template_set
    return TRIPLET_PROMPT if template_set is None else TEMPLATE_PROMPTS[Task(template_set.task)]


@annotator_required
@private
@require_GET
def questions(request: HttpRequest, verification_uid: uuid.UUID) -> HttpResponseBase:
    """Return the judge's next questions; `but` names those that the page has already."""
    verifier = _verifier(request, verification_uid)
    try:
        skipped = [uuid.UUID(part) for part in request.GET.get("but", "").split(",") if part]
    except ValueError:
        return JsonResponse({"error": "“but” is a list of UUIDs."}, status=400)
    fresh = next_questions(verifier, AHEAD, but=skipped[:MAX_SKIPPED])
    return JsonResponse(
        {
            "questions": [_question(verifier, question) for question in fresh],
            "progress": asdict(read_progress(verifier)),
            "is_open": verifier.verification.is_open,
        }
    )


@annotator_required
@private
@require_POST
def answers(request: HttpRequest, verification_uid: uuid.UUID) -> HttpResponseBase:
    """Take a batch of answers; each is saved, a duplicate, or rejected with a code."""
    if request.content_type != "application/json":
        return JsonResponse({"error": "Send application/json."}, status=415)
    try:
        batch = read_answers(json.loads(request.body))
    except (ValueError, MalformedError, RecursionError) as problem:
        return JsonResponse({"error": str(problem)}, status=400)
    verifier = _verifier(request, verification_uid)
    results = record_verdicts(
        verification_uid=verification_uid, annotator_id=signed_in(request).pk, batch=batch
    )
    rows = [_result(key, result) for (key, _), result in zip(batch, results, strict=True)]
    is_any_taken = any(row["status"] != "rejected" for row in rows)
    reply = {"results": rows, "progress": asdict(read_progress(verifier))}
    return JsonResponse(reply, status=200 if is_any_taken else 422)


@annotator_required
@require_GET
def picture(
    request: HttpRequest,
    verification_uid: uuid.UUID,
    *,
    number: int,
    question_uid: uuid.UUID,
    slot: str,
    size: str,
) -> HttpResponseBase:
    """Return a picture of one of the judge's own questions; any other does not exist.

    The judge's number stands in the address, so that two judges who share a browser never get
    each other's kept pictures.
    """
    verifier = _verifier(request, verification_uid)
    view = picture_for(verifier, question_uid, slot)
    if view is None or number != verifier.number or size not in {"thumb", "view"}:
        raise Http404
    image, box, how = view
    if box is not None:
        return crop_response(image, box, size, how)
    return image_response(request, image, size, scope=str(verification_uid))


def _verifier(request: HttpRequest, verification_uid: uuid.UUID) -> Verifier:
    try:
        return find_verifier(verification_uid, signed_in(request).pk)
    except NotVerifierError:
        raise Http404 from None


def _question(verifier: Verifier, question: PanelQuestion) -> dict[str, Any]:
    slots = ["reference", *map(str, range(question.n_candidates))]
    urls = [_address(verifier, question, slot) for slot in slots]
    return {
        "uid": str(question.uid),
        "condition": question.condition,
        "reference": urls[0],
        "images": urls[1:],
    }


def _address(verifier: Verifier, question: PanelQuestion, slot: str) -> dict[str, str]:
    uid = verifier.verification.uid
    sizes = {"url": "view", "thumb_url": "thumb"}
    return {
        name: reverse("conditional:picture", args=[uid, verifier.number, question.uid, slot, size])
        for name, size in sizes.items()
    }


def _result(key: uuid.UUID, result: str | RejectedError) -> dict[str, str]:
    if isinstance(result, RejectedError):
        return {
            "uuid": str(key), "status": "rejected", "code": result.code, "message": result.message
        }  # fmt: skip
    return {"uuid": str(key), "status": result, "code": "", "message": ""}
