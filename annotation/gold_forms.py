"""Forms about answers that are known: gold, and rulings, which may become gold."""

from __future__ import annotations

from typing import Any, cast
from urllib.parse import urlencode

from django import forms
from django.db.models import QuerySet

from annotation.models import Campaign, CampaignState, QuestionKind

REASONS = (
    "The guidelines decide it",
    "Plain to see when looked at closely",
    "Most judges have it right",
    "One of the pictures misleads",
)
MAX_DRAFTS = 20
PURPOSES = [
    (QuestionKind.TRAINING, "Training, with feedback and the reason"),
    (QuestionKind.QUALIFICATION, "Qualification round"),
    (QuestionKind.GOLD, "Silent checks"),
    (QuestionKind.EXAMPLE, "Worked examples"),
]
LATER = PURPOSES[2:]  # what gold may be for once the queues are drawn


def campaigns_like(campaign: Campaign) -> QuerySet[Campaign]:
    """Return the campaigns that take the same answers, so that gold of one is gold of another."""
    same = Campaign.objects.filter(
        task_kind=campaign.task_kind, notion=campaign.notion, grades=campaign.grades
    )
    return same.filter(similar_from=campaign.similar_from) if campaign.grades else same


class GoldForm(forms.Form):
    """What pairs with known answers are for; queues that are drawn take checks and examples."""

    purpose = forms.ChoiceField(choices=PURPOSES)

    def __init__(self, *args: Any, campaign: Campaign, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if campaign.state != CampaignState.DRAFT:
            cast("forms.ChoiceField", self.fields["purpose"]).choices = LATER


class GoldFileForm(GoldForm):
    """Pairs with known answers from a CSV file."""

    file = forms.FileField(
        label="CSV file",
        help_text=(
            "Columns query, candidate (path in the catalog, uid or SHA-256), answer (similar or "
            "different; where pairs are graded, the grade), and why (shown in training and "
            "examples)."
        ),
    )


class GoldFromCampaignForm(GoldForm):
    """Pairs that an earlier panel agreed on without exception."""

    source = forms.ModelChoiceField(queryset=Campaign.objects.none(), label="Earlier campaign")
    n = forms.IntegerField(min_value=1, max_value=500, initial=20, label="How many pairs")
    why = forms.CharField(
        max_length=500,
        required=False,
        label="Reason shown to judges",
        help_text="The same for all; needed for training and examples. Name no campaign.",
    )

    def __init__(self, *args: Any, campaign: Campaign, **kwargs: Any) -> None:
        super().__init__(*args, campaign=campaign, **kwargs)
        same = campaigns_like(campaign)
        others = same.exclude(pk=campaign.pk).exclude(state=CampaignState.DRAFT)
        cast("forms.ModelChoiceField[Campaign]", self.fields["source"]).queryset = others.order_by(
            "-pk"
        )


class PlaceForm(forms.Form):
    """Where on the adjudication page somebody was, to come back to it."""

    skip = forms.IntegerField(min_value=0, max_value=10**8, required=False)
    only = forms.ChoiceField(choices=[("undecided", "")], required=False)
    page = forms.IntegerField(min_value=1, max_value=10**6, required=False)

    def query(self) -> str:
        """Return what is given and sound, as the query of an address."""
        self.is_valid()
        return urlencode({name: value for name, value in self.cleaned_data.items() if value})


class RulingForm(forms.Form):
    """An admin's ruling on one question."""

    question = forms.UUIDField(widget=forms.HiddenInput)
    answer = forms.CharField(max_length=15)
    preset = forms.ChoiceField(
        choices=[(reason, reason) for reason in REASONS],
        required=False,
        widget=forms.RadioSelect,
        label="Why",
    )
    reason = forms.CharField(
        max_length=500, required=False, widget=forms.TextInput, label="In other words"
    )

    def clean(self) -> dict[str, Any]:
        """Take the words that were typed, else the reason that was chosen."""
        given = super().clean() or {}
        preset = given.pop("preset", "")
        given["reason"] = given.get("reason", "").strip() or preset
        return given


class GoldFromRulingForm(forms.Form):
    """What a ruling or pair becomes gold for: a check or example here, any purpose in a draft."""

    use = forms.ChoiceField(label="Use as")

    def __init__(self, *args: Any, campaign: Campaign, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        same = campaigns_like(campaign).filter(state=CampaignState.DRAFT)
        drafts = same.exclude(pk=campaign.pk)
        taken = PURPOSES if campaign.state == CampaignState.DRAFT else LATER[::-1]
        here = [(f"{campaign.slug}:{kind}", f"{words} here") for kind, words in taken]
        there = [
            (f"{draft.slug}:{kind}", f"{words}, in “{draft}”")
            for draft in drafts[:MAX_DRAFTS]
            for kind, words in PURPOSES
        ]
        cast("forms.ChoiceField", self.fields["use"]).choices = [*here, *there]

    @property
    def target(self) -> tuple[Campaign, str]:
        """The campaign, and what the pair is for there."""
        slug, _, purpose = self.cleaned_data["use"].rpartition(":")
        return Campaign.objects.get(slug=slug), purpose


class GoldFromPairForm(GoldFromRulingForm):
    """What a question becomes gold for, its answer, and the reason that judges may read."""

    answer = forms.CharField(max_length=15)
    why = forms.CharField(max_length=500, required=False, label="Reason")
