"""The form in which a notion is said."""

from __future__ import annotations

from typing import Any

from django import forms

from learning.models import TextSpace
from learning.notions.recipes import (
    DIM,
    METHODS,
    MOST_DIMS,
    TEMPLATE,
    NotionRecipe,
    check_recipe,
    parse_words,
    recipe_of_column,
)
from lookalike.core.errors import Refused

MAX_TEXT = 20_000
MANY_VALUES = 40


class NotionForm(forms.Form):
    """Words, what they stand in, and how the map is fitted."""

    name = forms.CharField(
        max_length=80, required=False, label="Name, to keep it", help_text="Such as Colour, or Cut."
    )
    words = forms.CharField(
        max_length=MAX_TEXT,
        widget=forms.Textarea(attrs={"rows": 5, "spellcheck": "false"}),
        help_text="What differs, with commas or lines between: all colours there are, say.",
    )
    template = forms.CharField(
        max_length=200,
        required=False,
        initial=TEMPLATE,
        help_text="What a word goes into, at {}. Leave it empty to write whole sentences, one in "
        "each line.",
    )
    method = forms.ChoiceField(choices=list(METHODS.items()), required=False, initial="indirect")
    dim = forms.IntegerField(
        label="Directions", min_value=1, max_value=MOST_DIMS, required=False, initial=DIM,
        help_text="At most so many numbers are left of each picture.",
    )  # fmt: skip

    @classmethod
    def for_space(cls, space: TextSpace, data: Any = None) -> NotionForm:
        """Return the form with the words of an attribute that the space knows to begin with."""
        return cls(data, initial=_example(space))

    def clean(self) -> dict[str, Any]:
        """Put what says no notion beside its field."""
        cleaned = super().clean() or {}
        if self.errors:
            return cleaned
        template = cleaned["template"]
        recipe = NotionRecipe(
            words=parse_words(cleaned["words"], are_prompts=not template), template=template,
            method=cleaned["method"] or "indirect", dim=cleaned["dim"] or DIM,
        )  # fmt: skip
        try:
            check_recipe(recipe)
        except Refused as problem:
            field = problem.field if problem.field in self.fields else "words"
            self.add_error(field, problem.message)
        cleaned["recipe"] = recipe
        return cleaned

    @property
    def problem(self) -> str:
        """What is wrong first, in one sentence with the field; empty when nothing is."""
        for name, errors in self.errors.items():
            label = self.fields[name].label or name.capitalize() if name in self.fields else ""
            return f"{label}: {errors[0]}" if label else str(errors[0])
        return ""


def _example(space: TextSpace) -> dict[str, Any]:
    """Return the values of the captioned attribute that was learned best, and its caption."""
    columns = sayable_columns(space)
    if not columns:
        return {"words": "red, orange, yellow, green, blue, purple, black, white"}
    return said_by_column(space, columns[0])


def sayable_columns(space: TextSpace) -> list[str]:
    """Return the attributes of which a space has read captions and whose values can be read.

    Those that were learned best come first.
    """
    scores = [score for score in space.run.scores if score.was_captioned]
    scores.sort(key=lambda score: score.majority - score.accuracy)
    return [score.column for score in scores if score.n_values < MANY_VALUES]


def said_by_column(space: TextSpace, column: str) -> dict[str, str]:
    """Return what the form holds for a notion of an attribute: its values, and its caption."""
    recipe = recipe_of_column(space, column)
    return {
        "words": ", ".join(recipe.words), "template": recipe.template, "name": column.capitalize()
    }  # fmt: skip
