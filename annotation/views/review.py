"""The pages on which admins look at single answers, and let them count or not."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django import forms
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from accounts.access import admin_required, signed_in
from annotation.gold_forms import GoldFromPairForm
from annotation.models import Answer, Campaign, Question, QuestionKind, Stage
from annotation.models.choices import PICK
from annotation.queries.choices import subject_of
from annotation.queries.labels import label_of
from annotation.queries.reviewing.adjudication import votes_wanted
from annotation.queries.reviewing.pair_review import review_pair
from annotation.queries.reviewing.review import (
    AnswerFilter,
    Shows,
    list_answers,
    matching_answers,
)
from annotation.services import count_again, exclude_answers
from annotation.services.adjudication import gold_from_question
from annotation.services.exclusions import MAX_AT_ONCE
from annotation.views.campaign_changes import is_sound, telling
from annotation.views.campaigns import Context, campaign_named, campaign_page, page_frame

MAX_ID = 2**63 - 1
MAX_SECONDS = 60


def _any(choices: list[tuple[str, str]]) -> list[tuple[str, str]]:
    return [("", "Any"), *choices]


class AnswersForm(forms.Form):
    """Which answers are wanted, and from where on."""

    judge = forms.TypedChoiceField(required=False, coerce=int, empty_value=None)
    answer = forms.ChoiceField(required=False)
    shows = forms.ChoiceField(required=False, choices=Shows.choices, label="Show")
    kind = forms.ChoiceField(
        required=False,
        choices=_any([(k.value, k.label) for k in QuestionKind if k != QuestionKind.EXAMPLE]),
        label="Question",
    )
    stage = forms.ChoiceField(
        required=False, choices=_any([(s.value, s.label) for s in list(Stage)[:3]])
    )
    seconds = forms.FloatField(
        required=False,
        min_value=0.05,
        max_value=MAX_SECONDS,
        label="Looked at for less than (seconds)",
    )
    since = forms.DateField(required=False, widget=forms.DateInput({"type": "date"}), label="From")
    until = forms.DateField(required=False, widget=forms.DateInput({"type": "date"}), label="To")
    version = forms.IntegerField(
        required=False, min_value=1, max_value=2**31 - 1, label="Before guidelines version"
    )
    query = forms.UUIDField(required=False, widget=forms.HiddenInput)
    before = forms.IntegerField(
        required=False, min_value=1, max_value=MAX_ID, widget=forms.HiddenInput
    )

    def __init__(self, *args: object, campaign: Campaign) -> None:
        super().__init__(*args)  # type: ignore[arg-type]
        panel = campaign.panel.values_list("number", "annotator__username")
        rulings = campaign.kind.rulings(None)
        picks = [(code, words) for code, words in rulings.items() if code.startswith(PICK)]
        skip = Answer.SKIP.value, str(Answer.SKIP.label)
        words = [*picks, *campaign.kind.answers.items(), skip]
        self.fields["answer"].choices = _any(words)  # type: ignore[attr-defined]
        self.fields["judge"].choices = [("", "Anybody"), *panel]  # type: ignore[attr-defined]
        for name in ("since", "until", "seconds", "version"):
            self.fields[name].widget.attrs["class"] = "narrow"

    @property
    def wanted(self) -> AnswerFilter:
        """What of a form that may be wrong can be used."""
        found = {name: value for name, value in self.cleaned_data.items() if name != "before"}
        last = found.pop("until", None)
        return AnswerFilter(
            **{
                **found,
                "since": _begin(found.get("since")),
                "until": _begin(last + timedelta(days=1)) if last and last < date.max else None,
            }
        )


class ChangeForm(forms.Form):
    """Which answers are to count or not, and why."""

    answers = forms.TypedMultipleChoiceField(
        coerce=UUID, error_messages={"required": "Tick answers first."}
    )
    every = forms.BooleanField(required=False)
    reason = forms.CharField(max_length=500, required=False)
    do = forms.ChoiceField(choices=[(name, name) for name in ("exclude", "ask_again", "count")])

    def __init__(self, data: object) -> None:
        super().__init__(data)  # type: ignore[arg-type]
        self.fields["answers"].required = "every" not in self.data
        given = self.data.getlist("answers")  # type: ignore[attr-defined]
        self.fields["answers"].choices = [(value, value) for value in given]  # type: ignore[attr-defined]


def _begin(day: date | None) -> datetime | None:
    return datetime.combine(day, time(), UTC) if day else None


@campaign_page("answers_given", "campaign_answers")
def answers(request: HttpRequest, campaign: Campaign) -> Context:
    """Show the answers of one judge or all, as the filters want them."""
    form = AnswersForm(request.GET, campaign=campaign)
    form.is_valid()
    before = form.cleaned_data.get("before")
    wanted = form.wanted
    rows, following = list_answers(campaign, wanted, before=before)
    return {
        "form": form,
        "rows": rows,
        "next": following,
        "is_first": before is None,
        "is_filtered": wanted != AnswerFilter(),
        "has_any": bool(rows or list_answers(campaign, AnswerFilter(judge=wanted.judge), n=1)[0]),
        "query_string": _query_of(request),
        "problems": [str(error) for errors in form.errors.values() for error in errors],
    }


@require_safe
@admin_required
def pair(request: HttpRequest, slug: str, uid: UUID) -> HttpResponse:
    """Show all that was said of one question."""
    campaign = campaign_named(slug)
    question = get_object_or_404(
        Question.objects.select_related("query", "candidate", "original"),
        campaign=campaign,
        uid=uid,
    )
    kind, subject, review = campaign.kind, subject_of(campaign, question), review_pair(question)
    label = label_of(campaign, question, votes_wanted(campaign))
    context = {
        **page_frame(campaign, "answers_given"),
        "review": review,
        "label": kind.words(label, subject) if label else "",
        "kind": kind,
        "ruling": kind.words(review.ruling.answer, subject) if review.ruling else "",
        "card": kind.card(subject, Counter(one.answer for one in review.answers)),
        "back": _query_of(request),
        "gold_form": GoldFromPairForm(campaign=campaign, auto_id="gold_%s"),
        "gold_answers": kind.rulings(subject),
        "label_code": label,
    }
    shown: list[Any] = [*review.events, *(exclusion.event for exclusion in review.exclusions)]
    for event in shown:
        event.words = kind.words(event.answer, subject)
    return render(request, "annotation/campaign_pair.html", context)


@require_POST
@admin_required
def pair_to_gold(request: HttpRequest, slug: str, uid: UUID) -> HttpResponse:
    """Make gold of a question, by an admin's word."""
    campaign = campaign_named(slug)
    form = GoldFromPairForm(request.POST, campaign=campaign)
    if is_sound(request, form):
        target, purpose = form.target
        with telling(request, f"It is gold of “{target}” now."):
            gold_from_question(
                campaign=campaign, question_uid=uid, target=target, purpose=purpose,
                answer=form.cleaned_data["answer"], why=form.cleaned_data["why"],
            )  # fmt: skip
    return redirect("annotation:pair", slug, uid)


@require_POST
@admin_required
def change_answers(request: HttpRequest, slug: str) -> HttpResponse:
    """Exclude answers, ask their judges again, or let them count again."""
    campaign, by = campaign_named(slug), signed_in(request)
    form = ChangeForm(request.POST)
    if is_sound(request, form):
        events, reason = form.cleaned_data["answers"], form.cleaned_data["reason"]
        if form.cleaned_data["every"]:
            chosen = AnswersForm(QueryDict(request.POST.get("query", "")), campaign=campaign)
            chosen.is_valid()
            events = matching_answers(campaign, chosen.wanted, n=MAX_AT_ONCE)
        does, n = form.cleaned_data["do"], len(events)
        answers = "1 answer" if n == 1 else f"{n} answers"
        if does == "count":
            with telling(request, f"{answers} counted again."):
                count_again(campaign=campaign, events=events, by=by)
        else:
            done = "excluded and asked again" if does == "ask_again" else "excluded from counting"
            with telling(request, f"{answers} {done}."):
                exclude_answers(
                    campaign=campaign,
                    events=events,
                    reason=reason,
                    by=by,
                    asks_again=does == "ask_again",
                )
    return _back(request, slug)


def _back(request: HttpRequest, slug: str) -> HttpResponse:
    """Go back to the pair, or to the same part of the same answers."""
    try:
        uid = UUID(request.POST.get("pair", ""))
    except ValueError:
        address = reverse("annotation:answers_given", args=[slug])
    else:
        address = reverse("annotation:pair", args=[slug, uid])
    query = request.POST.get("query", "")[:1000]
    return redirect(f"{address}?{query}" if query else address)


def _query_of(request: HttpRequest) -> str:
    """Return the filters of an address, as another address can carry them."""
    given = {name: request.GET.get(name, "") for name in AnswersForm.base_fields}
    return urlencode({name: value for name, value in given.items() if value})
