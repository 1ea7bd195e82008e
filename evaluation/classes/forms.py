"""The form that asks for class measures."""

from __future__ import annotations

from typing import Any

from django import forms

from catalog.models import Catalog, EmbeddingSet
from catalog.queries import usable_embedding_sets
from evaluation.classes.queries import columns_to_score

MOST_COLUMNS = 30


class ClassesForm(forms.Form):
    """Which vectors, and which columns."""

    embedding_set = forms.ModelChoiceField(
        queryset=EmbeddingSet.objects.none(), empty_label=None, label="Vectors"
    )
    columns = forms.MultipleChoiceField(
        widget=forms.CheckboxSelectMultiple,
        label="Columns",
        error_messages={"required": "Choose at least one column."},
    )

    def __init__(self, catalog: Catalog, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        sets = self.fields["embedding_set"]
        sets.queryset = usable_embedding_sets(catalog)  # type: ignore[attr-defined]
        sets.label_from_instance = lambda one: one.spec  # type: ignore[attr-defined]
        self.fields["columns"].choices = columns_to_score(catalog)[:MOST_COLUMNS]  # type: ignore[attr-defined]
