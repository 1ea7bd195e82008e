"""The form that opens a pool to a panel."""

from __future__ import annotations

from typing import Any, cast

from django import forms
from django.urls import reverse_lazy

from annotation.forms import GRADES_HELP, grades_in
from annotation.models import AskingOrder, TieRule
from annotation.new_campaign_form import NewCampaignForm
from annotation.notions import learned_notions
from catalog.short_names import typing_attributes
from lookalike.agreement.grades import MOST_GRADES, Scale

DEFAULT_GRADES = "Different\nSomewhat similar\nSimilar\nNearly identical"


class CampaignForm(NewCampaignForm):
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
    answers = forms.ChoiceField(
        choices=[("binary", "Similar or different"), ("graded", "Grades of similarity")],
        initial="binary",
        widget=forms.RadioSelect,
        label="What judges say of a pair",
        help_text="Grades take judges longer. Models are then compared by nDCG, too.",
    )
    grades = forms.CharField(
        required=False,
        max_length=500,
        initial=DEFAULT_GRADES,
        widget=forms.Textarea(attrs={"rows": 4}),
        label="Grades, one a line",
        help_text=GRADES_HELP,
    )
    similar_from = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=MOST_GRADES - 1,
        initial=2,
        label="Similar from grade",
        help_text="For all measures that know only similar and different, from this grade on a "
        "pair is similar. Fixed once the campaign is open, as the grades are.",
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

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "answers" not in self.data:  # a program that knows of no grades
            self.fields["answers"].required = not self.is_bound
        notions = [(one.spec, f"{one.name} ({one.spec})") for one in learned_notions()]
        cast("forms.ChoiceField", self.fields["notion_model"]).choices = [("", "None"), *notions]
        if not notions:
            del self.fields["notion_model"]

    def clean(self) -> dict[str, Any]:
        """Read the scale, where grades are wanted."""
        cleaned = super().clean() or {}
        words = grades_in(cleaned.pop("grades", ""))
        similar_from = cleaned.pop("similar_from", None) or 0
        is_graded = cleaned.pop("answers", "") == "graded"
        cleaned["scale"] = None
        if is_graded and not {"grades", "similar_from"} & self.errors.keys():
            try:
                cleaned["scale"] = Scale(tuple(words.splitlines()), similar_from)
            except ValueError as problem:
                field = "similar_from" if "counts as similar" in str(problem) else "grades"
                self.add_error(field, f"{str(problem).capitalize()}.")
        return cleaned
