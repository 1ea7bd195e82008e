"""Judges' comments: JSON of the judging page, the judge's inbox, and the admins' pages."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable
from functools import partial
from typing import Any

from django import forms
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.dateparse import parse_datetime
from django.views.decorators.http import require_GET, require_POST, require_safe

from accounts.access import admin_required, annotator_required, signed_in
from annotation.answering.comments import read_comments
from annotation.answering.replies import comment_results, comments_reply, news_reply
from annotation.answering.submissions import MalformedError, RejectedError
from annotation.errors import CampaignError
from annotation.forms import GuidelinesForm
from annotation.markdown import diff
from annotation.models import MAX_COMMENT, Campaign, Comment
from annotation.picture_keys import seal_picture, seal_place
from annotation.queries.comments import (
    CommentFilter,
    list_comments,
    own_comments,
    seen_pictures,
    unseen_replies,
)
from annotation.queries.guidelines import guideline_in_force
from annotation.queries.judges import NotOnPanelError
from annotation.question_names import open_question, seal_question
from annotation.services import (
    mark_replies_seen,
    read_guidelines,
    record_comments,
    reply_to_comment,
)
from annotation.services.guidelines import text_digest
from annotation.views.campaigns import Context, campaign_named, campaign_page, page_frame
from annotation.views.judging import bad_request, judge_of, private
from catalog.images.crops import crop_response
from catalog.images.serving import image_response

A_PAGE = 20


def _posted(work: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """Read a judge's JSON, and refuse what is none; who is not on the panel finds nothing."""

    @annotator_required
    @private
    @require_POST
    def view(request: HttpRequest, campaign_uid: uuid.UUID) -> HttpResponseBase:
        if request.content_type != "application/json":
            return bad_request("Send application/json.", status=415)
        try:
            return work(request, campaign_uid, json.loads(request.body))
        except NotOnPanelError:
            raise Http404 from None
        except (ValueError, MalformedError, RecursionError, CampaignError) as problem:
            return bad_request(str(problem))

    return view


@_posted
def comments(request: HttpRequest, campaign_uid: uuid.UUID, body: Any) -> HttpResponseBase:
    """Take a batch of comments; each is saved, a duplicate, or rejected with a code."""
    person = signed_in(request)
    batch = read_comments(body, partial(open_question, person.pk))
    judge, results = record_comments(
        campaign_uid=campaign_uid, annotator_id=person.pk, comments=batch
    )
    is_refused = all(isinstance(result, RejectedError) for result in results)
    reply = {"results": comment_results([key for key, _ in batch], results), **news_reply(judge)}
    return JsonResponse(reply, status=422 if is_refused else 200)


@_posted
def read(request: HttpRequest, campaign_uid: uuid.UUID, body: Any) -> HttpResponseBase:
    """Note that the judge has read a version of the guidelines."""
    version = body.get("version") if isinstance(body, dict) else None
    if type(version) is not int or not 0 < version < 2**31:
        return bad_request("“version” is a whole number.")
    member = read_guidelines(
        campaign_uid=campaign_uid, annotator_id=signed_in(request).pk, version=version
    )
    return JsonResponse({"read_version": member.read_version})


@annotator_required
@private
@require_GET
def replies(request: HttpRequest, campaign_uid: uuid.UUID) -> HttpResponseBase:
    """Return the replies to the judge's own comments that they have not seen."""
    judge = judge_of(request, campaign_uid)
    return JsonResponse(comments_reply(judge, unseen_replies(judge)))


@_posted
def replies_seen(request: HttpRequest, campaign_uid: uuid.UUID, body: Any) -> HttpResponseBase:
    """Note that the judge has seen replies."""
    given = body.get("seen") if isinstance(body, dict) else None
    if not isinstance(given, list) or len(given) > 200:
        return bad_request("“seen” is a list of at most 200 UUIDs.")
    judge = judge_of(request, campaign_uid)
    mark_replies_seen(
        annotator_id=signed_in(request).pk, comments=[uuid.UUID(str(one)) for one in given]
    )
    return JsonResponse({"n_replies": len(unseen_replies(judge))})


@annotator_required
@private
@require_safe
def inbox(request: HttpRequest) -> HttpResponse:
    """Show a judge their own comments with the replies; seeing one is noted."""
    person = signed_in(request)
    page = Paginator(own_comments(person.pk), A_PAGE).get_page(request.GET.get("page"))
    shown: list[Any] = list(page)
    for comment in shown:
        comment.pictures = _addresses(comment)
        comment.is_new = comment.replied_at is not None and comment.seen_at is None
    if fresh := [comment.uuid for comment in shown if comment.is_new]:
        mark_replies_seen(annotator_id=person.pk, comments=fresh)
    return render(request, "annotation/inbox.html", {"page": page, "comments": shown})


def _addresses(comment: Comment) -> list[tuple[str, list[object]]]:
    """Return the addresses of a comment's pictures as its judge may ask for them, by name."""
    question, uid = comment.question, comment.member.campaign.uid
    if comment.member.campaign.kind.is_choice:
        name = seal_question(comment.member.annotator_id, question.uid)
        key = seal_place(uid, name, None)
        return [("annotation:choice_image", [uid, name, key, "thumb"])]
    ids = question.query_id, question.candidate_id
    return [("annotation:image", [uid, seal_picture(uid, pk), "thumb"]) for pk in ids]


# ---- admins ----


class FilterForm(forms.Form):
    """Which comments are wanted."""

    state = forms.ChoiceField(
        required=False,
        choices=[("open", "Open"), ("answered", "Answered"), ("withdrawn", "Taken back"),
                 ("all", "All")],
        label="Show",
    )  # fmt: skip
    judge = forms.TypedChoiceField(required=False, coerce=int, empty_value=None)
    query = forms.UUIDField(required=False, widget=forms.HiddenInput)

    def __init__(self, *args: object, campaign: Campaign) -> None:
        super().__init__(*args)  # type: ignore[arg-type]
        panel = campaign.panel.values_list("number", "annotator__username")
        self.fields["judge"].choices = [("", "Anybody"), *panel]  # type: ignore[attr-defined]

    @property
    def wanted(self) -> CommentFilter:
        """What of a form that may be wrong can be used."""
        given = self.cleaned_data
        state = given.get("state") or "open"
        return CommentFilter(
            "" if state == "all" else state, given.get("judge"), given.get("query")
        )


class ReplyForm(forms.Form):
    """What a judge reads, and perhaps the guidelines that it changes."""

    reply = forms.CharField(
        max_length=MAX_COMMENT,
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text=(
            "The judge reads it before the next question. Explain the rule, and tell nobody what "
            "others answered."
        ),
    )
    changes_guidelines = forms.BooleanField(
        required=False, label="This is a rule for everybody: change the guidelines"
    )
    last_reply_at = forms.CharField(required=False, widget=forms.HiddenInput)
    seen = forms.CharField(required=False, widget=forms.HiddenInput)


@campaign_page("questions", "campaign_questions")
def questions(request: HttpRequest, campaign: Campaign) -> Context:
    """Show what judges ask, those that wait for a reply first shown."""
    form = FilterForm(request.GET, campaign=campaign)
    form.is_valid()
    page = Paginator(list_comments(campaign, form.wanted), A_PAGE).get_page(request.GET.get("page"))
    return {
        "form": form,
        "page": page,
        "is_filtered": form.wanted != CommentFilter(),
        "query": form.wanted.query,
        "slots": range(2),
    }


@admin_required
def question(request: HttpRequest, slug: str, comment: uuid.UUID) -> HttpResponse:
    """Show one comment in its judge's blind view, and take the reply."""
    campaign = campaign_named(slug)
    found = _comment(campaign, comment)
    in_force = guideline_in_force(campaign.pk)
    fresh = {
        "last_reply_at": found.replied_at.isoformat() if found.replied_at else "",
        "seen": text_digest(in_force.text, in_force.translations),
    }
    given = request.POST.copy()
    form = ReplyForm(
        given if request.method == "POST" else None, initial={"reply": found.reply, **fresh}
    )
    text = request.POST.get("text", in_force.text)
    guidelines = GuidelinesForm({"text": text})
    if request.method == "POST" and form.is_valid() and guidelines.is_valid():
        changes = form.cleaned_data["changes_guidelines"]
        try:
            done = reply_to_comment(
                campaign=campaign, comment=comment, reply=form.cleaned_data["reply"],
                by=signed_in(request),
                last_reply_at=parse_datetime(form.cleaned_data["last_reply_at"]),
                guidelines=guidelines.cleaned_data["text"] if changes else None,
                seen=form.cleaned_data["seen"] if changes else "",
            )  # fmt: skip
        except (CampaignError, ValueError) as problem:
            form.add_error(None, str(problem))
            for name, value in fresh.items():
                given[name] = value  # sent again, it is meant
        else:
            if changes:
                told = f"Replied. Guidelines version {done.new_version} is in force: every judge "
                messages.success(request, f"{told}reads it before the next question.")
            else:
                messages.success(request, "Replied. The judge reads it before the next question.")
            return redirect("annotation:question", slug, comment)
    context = {
        **page_frame(campaign, "questions"),
        "comment": found,
        "form": form,
        "guidelines": guidelines,
        "in_force": in_force,
        "changes": diff(in_force.text, text.replace("\r\n", "\n")),
        "slots": range(1, len(seen_pictures(found))),
        "condition": _condition(found),
    }
    status = 422 if request.method == "POST" else 200
    return render(request, "annotation/campaign_question.html", context, status=status)


@require_POST
@admin_required
def guideline_changes(request: HttpRequest, slug: str) -> HttpResponse:
    """Return what a text would change in the guidelines in force."""
    in_force = guideline_in_force(campaign_named(slug).pk)
    text = request.POST.get("text", "").replace("\r\n", "\n").strip()
    context = {"changes": diff(in_force.text, text)}
    return render(request, "annotation/_guideline_changes.html", context)


@require_safe
@admin_required
def question_picture(
    request: HttpRequest, slug: str, comment: uuid.UUID, *, slot: int, size: str
) -> HttpResponseBase:
    """Return a picture of a comment's question, in the order in which its judge saw them."""
    pictures = seen_pictures(_comment(campaign_named(slug), comment))
    if slot >= len(pictures) or size not in {"thumb", "view"}:
        raise Http404
    one = pictures[slot]
    if one.box is not None and one.crops is not None:
        return crop_response(one.image, one.box, size, one.crops)
    return image_response(request, one.image, size)


def _comment(campaign: Campaign, comment: uuid.UUID) -> Comment:
    found = Comment.objects.select_related(
        "question__query", "question__candidate", "member__annotator", "member__campaign",
        "replied_by",
    )  # fmt: skip
    return get_object_or_404(found, question__campaign=campaign, uuid=comment)


def _condition(comment: Comment) -> str:
    """Return what the judge was to look at, where the question names it."""
    kind, subject = comment.member.campaign.kind, comment.question.subject
    return kind.subjects([subject])[subject].condition if kind.is_choice else ""
