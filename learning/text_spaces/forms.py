"""The form that asks for a text space."""

from __future__ import annotations

from typing import Any

from django import forms
from django.db.models import Count

from catalog.models import Catalog
from learning.text_spaces.recipes import MOST_EPOCHS, PARENT, SpaceRecipe


class SpaceForm(forms.Form):
    """From which catalog, by which backbone, and what its captions say."""

    name = forms.CharField(max_length=80)
    catalog = forms.ModelChoiceField(Catalog.objects.none(), empty_label="Choose a catalog")
    model = forms.CharField(
        max_length=300,
        initial=PARENT,
        label="Backbone of the pictures",
        widget=forms.TextInput(attrs={"spellcheck": "false", "class": "mono"}),
        help_text="An open_clip model is a text space as it is: nothing is learned then.",
    )
    columns = forms.CharField(
        required=False,
        max_length=2_000,
        label="Attributes",
        help_text="Of which captions are made, with commas between. Empty: all that have 2 to 200 "
        "values.",
    )
    captions = forms.CharField(
        required=False,
        max_length=10_000,
        widget=forms.Textarea(attrs={"rows": 3, "spellcheck": "false", "class": "mono"}),
        help_text="What the captions of an attribute say, one in each line: colour=a {} shoe. "
        "The others say: a photo of something whose colour is red.",
    )
    epochs = forms.IntegerField(
        min_value=1, max_value=MOST_EPOCHS, initial=40, help_text="How often each picture is seen."
    )
    seed = forms.IntegerField(min_value=0, initial=0)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["catalog"]
        assert isinstance(field, forms.ModelChoiceField)  # noqa: S101 - for the type checker
        field.queryset = Catalog.objects.annotate(n=Count("images")).filter(n__gt=0)

    def clean_captions(self) -> dict[str, str]:
        """Read COLUMN=CAPTION from each line."""
        captions = {}
        for line in filter(str.strip, self.cleaned_data["captions"].splitlines()):
            column, equals, caption = line.partition("=")
            if not equals or "{}" not in caption:
                raise forms.ValidationError(f"“{line}” is not ATTRIBUTE=CAPTION with {{}} in it.")
            captions[column.strip()] = caption.strip()
        return captions

    @property
    def recipe(self) -> SpaceRecipe:
        """What the fields ask for, once they are valid."""
        given = self.cleaned_data
        columns = (column.strip() for column in given["columns"].split(","))
        return SpaceRecipe(
            parent=given["model"], columns=tuple(filter(None, columns)),
            captions=given["captions"], epochs=given["epochs"], seed=given["seed"],
        )  # fmt: skip
