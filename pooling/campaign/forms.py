"""The form that opens a pool to a panel."""

from __future__ import annotations

from typing import Any, cast

from django import forms
from django.urls import reverse_lazy

from accounts.models import Role, User
from annotation.models import AskingOrder, TieRule
from annotation.notions import learned_notions
from catalog.short_names import typing_attributes


class CampaignForm(forms.Form):
    """Who shall judge a pool, and by which rules."""

    name = forms.CharField(
        max_length=80,
        widget=forms.TextInput(attrs=typing_attributes(reverse_lazy("pooling:campaign_name"))),
    )
    notion = forms.CharField(
        max_length=80,
        required=False,
        label="Similar in what",
        widget=forms.TextInput(attrs={"placeholder": "colour"}),
        help_text="Judges read “Similar in colour?” above every pair. Empty: similar as a whole.",
    )
    notion_model = forms.ChoiceField(
        required=False,
        label="Notion of it",
        help_text="Kept in labels and releases with its prompts; no judge sees it.",
    )
    panel = forms.ModelMultipleChoiceField(
        User.objects.none(),
        widget=forms.CheckboxSelectMultiple,
        help_text="Everybody on the panel judges every pair. An odd number has no ties.",
    )
    tie_rule = forms.ChoiceField(
        choices=TieRule.choices,
        initial=TieRule.NEGATIVE,
        widget=forms.RadioSelect,
        label="When as many say similar as different",
    )
    asking_order = forms.ChoiceField(
        choices=AskingOrder.choices,
        initial=AskingOrder.SHUFFLED,
        widget=forms.RadioSelect,
        label="Order of the pairs",
        help_text=(
            "Shuffled is right for a benchmark. Likely pairs first finds most lookalikes early, in "
            "four shuffled phases, but a judge can guess that early pairs are likelier, and as "
            "lookalikes become rare, what counts as similar may drift. Stopped early, it favours "
            "what the models agree on. It is stated in every release."
        ),
    )
    guidelines = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 8}),
        help_text="What judges read before they begin, and by one key at any time. Markdown.",
    )
    seed = forms.IntegerField(
        min_value=0, max_value=2**63 - 1, initial=0, help_text="Of the judges' shuffled orders."
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["panel"]
        assert isinstance(field, forms.ModelMultipleChoiceField)  # noqa: S101 - as above
        field.queryset = User.objects.filter(role=Role.ANNOTATOR, is_active=True).order_by(
            "is_simulated", "username"
        )
        notions = [(one.spec, f"{one.name} ({one.spec})") for one in learned_notions()]
        cast("forms.ChoiceField", self.fields["notion_model"]).choices = [("", "None"), *notions]
        if not notions:
            del self.fields["notion_model"]
