"""The judging page's addresses: JSON in and out, for the judge who is signed in.

Who answers is always the session's person. A campaign that somebody does not judge does not
exist for them. Replies are never cached, and name questions by names that hold for one judge alone
and images by keys that hold in one campaign alone.
"""

from __future__ import annotations

import json
import uuid
from typing import Any

from django.conf import settings
from django.db.models import Sum
from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseBase,
    JsonResponse,
)
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import get_language
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_GET, require_POST

from accounts.access import annotator_required, signed_in
from annotation.answering.keys import ALLOWED_KEYS, DEFAULT_KEYS, KeyMapError
from annotation.answering.pace import pace
from annotation.answering.preferences import preferred, save_preference
from annotation.answering.replies import (
    guidelines_html,
    guidelines_reply,
    next_reply,
    receipt_reply,
    receipt_status,
    recent_reply,
)
from annotation.answering.submissions import MalformedError, read_batch
from annotation.models import Campaign, Mode, Stage
from annotation.picture_keys import open_picture
from annotation.queries.choices import answers_taken, picture_of
from annotation.queries.guidelines import guideline_in_force, guideline_text, worked_examples
from annotation.queries.judges import Judge, NotOnPanelError, find_judge
from annotation.queries.next_questions import (
    WINDOW,
    AskedQuestion,
    are_lent_for_long,
    image_for,
    list_standings,
    next_questions,
    progress,
    recent_answers,
)
from annotation.services import claim_questions, note_stop, record_answers
from catalog.images.crops import crop_response
from catalog.images.serving import image_response

AHEAD = WINDOW
MAX_AHEAD = 200
PAGE_ADDRESSES = (
    "next", "answers", "recent", "guidelines", "stops", "comments", "replies", "read",
)  # fmt: skip
private = cache_control(private=True, no_store=True)


@annotator_required
@private
@require_GET
def home(request: HttpRequest) -> HttpResponse:
    """List the campaigns that the person judges, with progress and a way in."""
    person = signed_in(request)
    paused = set(person.memberships.filter(is_paused=True).values_list("campaign_id", flat=True))
    campaigns = [
        {
            **vars(standing),
            "percent": 100 * standing.n_done // standing.n_total if standing.n_total else 0,
            "is_paused": standing.campaign.is_open and standing.campaign.pk in paused,
            "can_judge": standing.campaign.is_open
            and standing.campaign.pk not in paused
            and standing.stage != Stage.NOT_QUALIFIED,
        }
        for standing in list_standings(person.pk)
    ]
    n_replies = person.memberships.aggregate(n=Sum("n_replies"))["n"]
    context = {"campaigns": campaigns, "n_replies": n_replies}
    return render(request, "annotation/home.html", context)


@annotator_required
@private
@require_GET
def judge_page(request: HttpRequest, campaign_uid: uuid.UUID) -> HttpResponse:
    """Show the judging page; the questions come by `next`."""
    judge = judge_of(request, campaign_uid)
    campaign = Campaign.objects.get(pk=judge.campaign_id)
    done, total = progress(judge)
    guideline = guideline_in_force(judge.campaign_id)
    keys, mode = preferred(signed_in(request).pk)
    addresses = {
        f"{name}_url": reverse(f"annotation:{name}", args=[campaign_uid]) for name in PAGE_ADDRESSES
    }
    context = {
        "campaign_name": campaign.name,
        "campaign_uid": str(campaign_uid),
        "notion": campaign.notion,
        "state": judge.state_shown,
        "stage": judge.stage,
        "is_simulated": campaign.is_simulated,
        "guideline_version": judge.guideline_version,
        "read_version": max(judge.read_version, 1),
        "guidelines_html": guidelines_html(campaign_uid, guideline),
        "is_unread": judge.read_version < guideline.version and bool(guideline.text.strip()),
        "n_replies": judge.n_replies,
        "n_done": done,
        "n_total": total,
        "preferences_url": reverse("annotation:preferences"),
        "keys": keys,
        "default_keys": DEFAULT_KEYS,
        "allowed_keys": ALLOWED_KEYS,
        "mode": mode,
        "kind": campaign.kind,
        "grades": list(campaign.kind.scale.answers.items()) if campaign.kind.scale else [],
        "prompt": campaign.kind.prompt(campaign.pk),
        "images_url": f"{reverse('annotation:judge', args=[campaign_uid])}choices/",
        **addresses,
    }
    return render(request, campaign.kind.judging_page, context)


@annotator_required
@private
@require_GET
def questions(request: HttpRequest, campaign_uid: uuid.UUID) -> HttpResponseBase:
    """Return the judge's next open questions behind a place, and how far they have come."""
    after = _number(request, "after", 0, 0, 2**62)
    n = _number(request, "n", AHEAD, 1, MAX_AHEAD)
    if after is None or n is None:
        return bad_request("“after” and “n” are whole numbers, n at most 200.")
    judge = judge_of(request, campaign_uid)
    asked = _asked(request, judge, (after, n))
    return JsonResponse(next_reply(judge, asked, judge.n_done))


@annotator_required
@private
@require_POST
def answers(request: HttpRequest, campaign_uid: uuid.UUID) -> HttpResponseBase:
    """Take a batch of answers; each is saved, a duplicate, or rejected with a code.

    200 if any of them was taken, 409 if the campaign takes none now, 422 if none could be
    taken, 429 if the judge has sent too many within a minute. With "next": {"after": place,
    "n": number} the reply brings the next questions too.
    """
    if request.content_type != "application/json":
        return bad_request("Send application/json.", status=415)
    try:
        body = json.loads(request.body)
        batch = read_batch(body, answers_taken(campaign_uid, signed_in(request).pk))
        wanted = _wanted(body)
    except (ValueError, MalformedError, RecursionError) as problem:
        return bad_request(str(problem))
    except NotOnPanelError:
        raise Http404 from None
    seconds = pace.take(signed_in(request).pk, len(batch), a_minute=settings.ANSWERS_A_MINUTE)
    if seconds:
        refused = bad_request("Too many answers at once; they are taken later.", status=429)
        refused["Retry-After"] = str(seconds)
        return refused
    try:
        receipt = record_answers(
            campaign_uid=campaign_uid,
            annotator_id=signed_in(request).pk,
            submissions=batch,
            wanted=wanted,
        )
    except NotOnPanelError:
        raise Http404 from None
    reply = receipt_reply([key for key, _ in batch], receipt)
    if wanted is not None:
        asked = _asked(request, receipt.judge, wanted, receipt.asked)
        reply |= next_reply(receipt.judge, asked, receipt.n_done)
    return JsonResponse(reply, status=receipt_status(receipt))


@annotator_required
@private
@require_GET
def recent(request: HttpRequest, campaign_uid: uuid.UUID) -> HttpResponseBase:
    """Return the judge's own last answers, newest first; with “held” those that hold alone."""
    n = _number(request, "n", 20, 1, MAX_AHEAD)
    if n is None:
        return bad_request("“n” is a whole number from 1 to 200.")
    judge = judge_of(request, campaign_uid)
    answers = recent_answers(judge, n=n, are_held="held" in request.GET)
    return JsonResponse(recent_reply(judge, answers))


@annotator_required
@private
@require_POST
def stops(request: HttpRequest, campaign_uid: uuid.UUID) -> HttpResponse:
    """Note that the judge's own page has stopped a held key; admins see how often."""
    note_stop(member_id=judge_of(request, campaign_uid).member_id)
    return JsonResponse({})


@annotator_required
@private
@require_GET
def guidelines(request: HttpRequest, campaign_uid: uuid.UUID) -> HttpResponseBase:
    """Return the guidelines in force as HTML, with the worked examples."""
    judge = judge_of(request, campaign_uid)
    guideline = guideline_in_force(judge.campaign_id)
    examples = worked_examples(judge.campaign_id)
    known = judge.read_version or (1 if judge.n_done else 0)
    last_read = guideline_text(judge.campaign_id, known, get_language() or "")
    return JsonResponse(guidelines_reply(judge, guideline, examples, last_read))


@annotator_required
@cache_control(private=True, max_age=86_400, immutable=True)  # an address never changes its picture
@require_GET
def image(request: HttpRequest, campaign_uid: uuid.UUID, key: str, size: str) -> HttpResponseBase:
    """Return a picture of one of the judge's own questions; any other does not exist."""
    judge = judge_of(request, campaign_uid)
    image_id = open_picture(campaign_uid, key)
    picture = None if image_id is None else image_for(judge, image_id)
    if picture is None or size not in {"thumb", "view"}:  # originals carry the camera's notes
        raise Http404
    return image_response(request, picture, size, scope=str(campaign_uid))


@annotator_required
@cache_control(private=True, max_age=86_400, immutable=True)  # as above
@require_GET
def choice_image(
    request: HttpRequest, campaign_uid: uuid.UUID, *, question: str, key: str, size: str
) -> HttpResponseBase:
    """Return a picture of a question from whose images one is picked, cut out of its image."""
    found = picture_of(judge_of(request, campaign_uid), question, key)
    if found is None or size not in {"thumb", "view"}:
        raise Http404
    picture, box, how = found
    if box is not None:
        return crop_response(picture, box, size, how)
    return image_response(request, picture, size, scope=str(campaign_uid))


@annotator_required
@private
@require_POST
def preferences(request: HttpRequest) -> HttpResponseBase:
    """Store the judge's own keys and mode; the person is always the one signed in."""
    if request.content_type != "application/json":
        return bad_request("Send application/json.", status=415)
    try:
        body = json.loads(request.body)
        if not isinstance(body, dict):
            raise KeyMapError("Send an object.")
        keys, mode = save_preference(
            annotator_id=signed_in(request).pk,
            keys=body.get("keys", {}),
            mode=body.get("mode", Mode.PAIR),
        )
    except (ValueError, RecursionError) as problem:
        return bad_request(str(problem))
    return JsonResponse({"keys": keys, "mode": mode})


def judge_of(request: HttpRequest, campaign_uid: uuid.UUID) -> Judge:
    try:
        return find_judge(campaign_uid, signed_in(request).pk)
    except NotOnPanelError:
        raise Http404 from None


def _asked(
    request: HttpRequest,
    judge: Judge,
    wanted: tuple[int, int],
    asked: list[AskedQuestion] | None = None,
) -> list[AskedQuestion]:
    """Return the next open questions; none while the campaign is not open, or guidelines unread.

    Where pairs are lent, more are lent as long as fewer than wanted lie ahead, and all are lent
    anew when half of the time is over.

    Args:
        request: of whom.
        judge: the same, in this campaign.
        wanted: behind which place, and how many.
        asked: what is asked, if it was read already.
    """
    if judge.refusal is not None or judge.must_read:
        return []
    after, n = wanted[0], min(wanted[1], WINDOW)
    if asked is None:
        asked = next_questions(judge, after=after, n=n)
    if not judge.is_leased or (len(asked) >= n and are_lent_for_long(judge, asked)):
        return asked
    claim_questions(
        campaign_uid=judge.campaign_uid,
        annotator_id=signed_in(request).pk,
        n_wanted=n,
        after=after,
    )
    return next_questions(judge, after=after, n=n)


def _wanted(body: Any) -> tuple[int, int] | None:
    """Return which next questions the body asks for, as (after, n), if any."""
    wanted = body.get("next")
    if wanted is None:
        return None
    after, n = (wanted.get("after"), wanted.get("n")) if isinstance(wanted, dict) else (None, None)
    if type(after) is not int or type(n) is not int:  # True is an int, too
        raise MalformedError("“next” must be {after: number, n: number}.")
    if not (0 <= after < 2**62 and 1 <= n <= MAX_AHEAD):
        raise MalformedError(f"“next” asks for 1 to {MAX_AHEAD} questions behind a place.")
    return after, n


def _number(request: HttpRequest, name: str, default: int, low: int, high: int) -> int | None:
    """Return a whole number of the query string, or None if it is none or out of range."""
    raw = request.GET.get(name, str(default))
    if not (raw.isascii() and raw.isdigit() and len(raw) < 20):
        return None
    return int(raw) if low <= int(raw) <= high else None


def bad_request(message: str, status: int = 400) -> JsonResponse:
    return JsonResponse({"error": message}, status=status)
