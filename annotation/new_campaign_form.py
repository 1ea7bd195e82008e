"""What every campaign that is being made asks for: all that its opening fixes is in one form."""

from __future__ import annotations

from typing import Any

from django import forms

from accounts.models import Role, User
from annotation.forms import BOUNDS, SettingsForm
from annotation.models import Campaign
from annotation.services.guidelines import MAX_GUIDELINE

RULES = (
    "serving", "k", "lease_minutes", "closes_settled", "repeat_percent", "mirror_percent",
    "pass_percent",
)  # fmt: skip
MEANS = {
    "serving": "Everybody: most votes, most work. k of the panel: each question is asked k times.",
    "k": "Only where k of the panel judge.",
    "closes_settled": (
        "Saves work; agreement is computed on fewer votes, and with two votes where a tie is "
        "“different”, one “different” settles a pair."
    ),
    "pass_percent": "Only where there is a qualification round; it is added to the draft.",
}


class NewCampaignForm(forms.Form):
    """Who is asked what, how often, and how judges are checked; what is left empty is usual."""

    name = forms.CharField(max_length=80)
    panel = forms.ModelMultipleChoiceField(
        User.objects.filter(role=Role.ANNOTATOR, is_active=True).order_by(
            "is_simulated", "username"
        ),
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose at least one judge."},
        help_text="Nobody knows what others answer. An odd number of votes has no ties.",
    )
    guidelines = forms.CharField(
        required=False,
        max_length=MAX_GUIDELINE,
        widget=forms.Textarea(attrs={"rows": 8}),
        help_text="What judges read before they begin, and by one key at any time. Markdown.",
    )
    seed = forms.IntegerField(
        min_value=0, max_value=2**63 - 1, initial=0, help_text="Of the judges' shuffled orders."
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        usual = Campaign()
        made = forms.fields_for_model(
            Campaign, fields=RULES, labels=SettingsForm.Meta.labels,
            help_texts=SettingsForm.Meta.help_texts | MEANS,
        )  # fmt: skip
        for name, field in made.items():
            if field is None:
                continue
            field.initial = getattr(usual, name)
            field.required = False
            field.widget.attrs |= BOUNDS.get(name, {})
            self.fields[name] = field

    @property
    def rules(self) -> dict[str, Any]:
        """The rules that were chosen."""
        given = self.cleaned_data
        return {name: given[name] for name in RULES if given.get(name) not in (None, "")}

    @property
    def others(self) -> dict[str, Any]:
        """All that was given besides."""
        return {name: value for name, value in self.cleaned_data.items() if name not in RULES}

    @property
    def rule_fields(self) -> list[forms.BoundField]:
        """The rules' fields, to be drawn together."""
        return [self[name] for name in RULES if name in self.fields]
