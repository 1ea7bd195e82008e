"""Forms of the template pages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms

from annotation.new_campaign_form import NewCampaignForm
from annotation.setting_names import speak_of
from annotation.task_kinds import task_kind
from catalog.fields import CatalogField, FiltersField
from catalog.models import Catalog, EmbeddingSet
from conditional.campaigns.kinds import TEMPLATE, TRIPLET
from conditional.models import TASK_LABELS, TemplateSet, TripletSet
from lookalike.cli.options import comma_list
from lookalike.conditional.recipes import BUILDABLE, Recipe
from lookalike.conditional.suggestions import SuggestRecipe
from lookalike.conditional.types import Task
from pooling.models import Pool

MAX_SEED = 2**63 - 1
MAX_DRAWN = 20_000  # templates, triplets or anchors
Sources = list[tuple[str, list[tuple[str, str]]]]


def _lines(rows: int, help_text: str, **given: Any) -> forms.CharField:
    widget = forms.Textarea(attrs={"rows": rows, "spellcheck": "false", "class": "mono"})
    return forms.CharField(widget=widget, help_text=help_text, **given)


def _seed(help_text: str) -> forms.IntegerField:
    return forms.IntegerField(min_value=0, max_value=MAX_SEED, initial=0, help_text=help_text)


class BuildForm(forms.Form):
    """What to draw from a catalog's attributes."""

    name = forms.CharField(max_length=80)
    catalog = CatalogField()
    task = forms.ChoiceField(
        choices=[(task.value, TASK_LABELS[task]) for task in BUILDABLE],
        initial=Task.CHANGE_ATTRIBUTE.value,
        widget=forms.RadioSelect,
    )
    same = _lines(
        2,
        "Attributes that make two images the same kind of thing, one in each line. Not used by "
        "the object tasks.",
        required=False,
        label="Same",
    )
    ask = _lines(
        3,
        "Attributes that conditions are about, one in each line. Behind the name: sep=; parts "
        "several values, path=/ keeps the last level, unknown=A,B says nothing, text=WORD is "
        "what a condition says, incomplete means that a cell does not name all.",
        label="Asked for",
    )
    filters = FiltersField("One NAME=VALUE in each line.")
    n_templates = forms.IntegerField(
        min_value=1, max_value=MAX_DRAWN, initial=500, label="Templates at most"
    )
    per_condition = forms.IntegerField(
        min_value=1, required=False, initial=50, label="Of one condition", help_text="Empty: any."
    )
    per_reference = forms.IntegerField(
        min_value=1, required=False, initial=5, label="Of one reference", help_text="Empty: any."
    )
    seed = _seed("The same seed draws the same set.")
    types = forms.CharField(
        max_length=2_000,
        required=False,
        label="Attribute types",
        help_text="Of those asked for, with commas between. Empty: all. Not used by the object "
        "tasks.",
    )
    min_categories = forms.IntegerField(
        min_value=1,
        initial=Recipe.min_categories,
        required=False,
        label="Categories of a scene",
        help_text="A reference has at least as many. Object tasks only.",
    )
    min_shared = forms.IntegerField(
        min_value=1,
        initial=Recipe.min_shared,
        required=False,
        label="Shared with the target",
        help_text="Categories that the target's scene has, too. Object tasks only.",
    )

    @property
    def recipe(self) -> Recipe:
        """What a valid form asks for."""
        cleaned = self.cleaned_data
        return Recipe(
            task=Task(cleaned["task"]),
            same=_columns(cleaned["same"]),
            ask=_columns(cleaned["ask"]),
            n_templates=cleaned["n_templates"],
            per_condition=cleaned["per_condition"],
            per_reference=cleaned["per_reference"],
            seed=cleaned["seed"],
            filters=cleaned["filters"],
            types=tuple(comma_list(cleaned["types"])),
            min_categories=cleaned["min_categories"] or Recipe.min_categories,
            min_shared=cleaned["min_shared"] or Recipe.min_shared,
        )


def _columns(text: str) -> tuple[str, ...]:
    return tuple(line.strip() for line in text.splitlines() if line.strip())


class PanelForm(NewCampaignForm):
    """Who shall answer the questions of a set, and how many of them."""

    n_questions = forms.IntegerField(
        required=False, min_value=1, help_text="A random sample of the set. Empty: all of it."
    )

    def __init__(self, *args: Any, asked_set: TemplateSet | TripletSet, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        del self.fields["mirror_percent"]
        kind = task_kind(TRIPLET if isinstance(asked_set, TripletSet) else TEMPLATE)
        fewer = "Saves work; agreement is then computed on fewer votes."
        self.fields["closes_settled"].help_text = fewer
        speak_of(kind, self)
        self.fields["n_questions"].label = f"How many {kind.nouns}"
        self.fields["name"].initial = asked_set.name
        self.fields[
            "seed"
        ].help_text = "Of the sample, and of each judge's own order of questions and pictures."


class SuggestForm(forms.Form):
    """Where models shall be compared, and how many triplets to suggest."""

    name = forms.CharField(max_length=80)
    source = forms.ChoiceField(label="Where models are compared")
    conditions = _lines(
        2,
        "In what respect to judge, one in each line: every triplet is asked once under each. "
        "Empty: alike on the whole.",
        required=False,
    )
    n_triplets = forms.IntegerField(
        min_value=1, max_value=MAX_DRAWN, initial=200, label="Triplets at most"
    )
    per_anchor = forms.IntegerField(min_value=1, max_value=50, initial=3, label="Of one anchor")
    n_anchors = forms.IntegerField(
        min_value=1, max_value=MAX_DRAWN, initial=500, label="Anchors to look at"
    )
    k = forms.IntegerField(
        min_value=2,
        max_value=200,
        initial=10,
        label="Nearest of each model",
        help_text="Of embedding sets; a pool has its own depth.",
    )
    min_disagreement = forms.FloatField(
        min_value=0,
        max_value=100,
        initial=0,
        label="Disagreement above",
        help_text="In spreads of a model's scores, on average over models.",
    )
    seed = _seed("The same seed suggests the same set.")

    def __init__(self, *args: Any, sources: Sources, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["source"]
        assert isinstance(field, forms.ChoiceField)  # noqa: S101 - for the type checker
        field.choices = [("", "Choose"), *sources]

    def clean(self) -> dict[str, Any]:
        """Check what the fields say together."""
        cleaned = super().clean() or {}
        if not self.errors:
            try:
                self.recipe.checked()
            except ValueError as problem:
                self.add_error("conditions", f"{problem}.")
        return cleaned

    @property
    def catalog(self) -> Catalog:
        """The catalog whose images a form with a source asks about."""
        kind, _, slug = self.cleaned_data["source"].partition(":")
        if kind == "pool":
            return Pool.objects.select_related("catalog").get(slug=slug).catalog
        return Catalog.objects.get(slug=slug)

    @property
    def recipe(self) -> SuggestRecipe:
        """What a valid form asks for."""
        cleaned = self.cleaned_data
        kind, _, slug = cleaned["source"].partition(":")
        numbers = ("n_triplets", "per_anchor", "n_anchors", "k", "min_disagreement", "seed")
        return SuggestRecipe(
            pool=slug if kind == "pool" else "",
            conditions=_columns(cleaned["conditions"]),
            **{name: cleaned[name] for name in numbers},
        )


class AlignmentForm(forms.Form):
    """Which embedding sets the conditions of triplets are matched with."""

    embedding_sets = forms.ModelMultipleChoiceField(
        EmbeddingSet.objects.none(),
        widget=forms.CheckboxSelectMultiple,
        help_text="At least two.",
    )
    metric = forms.ChoiceField(choices=[("cosine", "Cosine"), ("euclidean", "Euclidean")])
    seed = _seed("Of the halves to fit on and to score on.")

    def __init__(self, *args: Any, embedding_sets: Sequence[EmbeddingSet], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["embedding_sets"]
        assert isinstance(field, forms.ModelMultipleChoiceField)  # noqa: S101 - as above
        field.queryset = EmbeddingSet.objects.filter(pk__in=[one.pk for one in embedding_sets])
        field.choices = [(one.pk, one.spec) for one in embedding_sets]
