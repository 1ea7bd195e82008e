"""The form about a table's columns and values, before it is imported."""

from __future__ import annotations

from typing import Any

from django import forms

from lookalike.images.metadata import Choice, Preview
from lookalike.images.metadata_columns import NO_COLUMN

LEFT_OUT = "left out"
COLUMN_USES = [
    ("file", "File name"),
    ("product", "Product"),
    ("attribute", "Attribute"),
    (LEFT_OUT, "Ignored"),
]


class TableForm(forms.Form):
    """What each column of a table is, and a yes to values that look damaged.

    Args:
        preview: of the table.
    """

    accept_findings = forms.BooleanField(label="Take the values as they stand", required=False)

    def __init__(self, *args: Any, preview: Preview, **kwargs: Any) -> None:
        super().__init__(*args, **{"label_suffix": "", **kwargs})
        self._names = [name for name, _ in preview.columns]
        for at, (name, use) in enumerate(preview.columns):
            self.fields[f"column_{at}"] = forms.ChoiceField(
                label=name or f"Column {at + 1}",
                choices=COLUMN_USES,
                initial=use if use in dict(COLUMN_USES) else LEFT_OUT,
            )

    @property
    def columns(self) -> list[forms.BoundField]:
        """The fields of the columns, in their order."""
        return [self[f"column_{at}"] for at in range(len(self._names))]

    def clean(self) -> dict[str, Any]:
        """Check that one column is the file, and at most one the product."""
        cleaned = super().clean() or {}
        uses = [cleaned.get(f"column_{at}") for at in range(len(self._names))]
        if uses.count("file") != 1:
            raise forms.ValidationError("Say which one column names the file.")
        if uses.count("product") > 1:
            raise forms.ValidationError("Only one column can be the product.")
        by_use = {use: self._names[at] for at, use in enumerate(uses)}
        ignored = tuple(self._names[at] for at, use in enumerate(uses) if use == LEFT_OUT)
        cleaned["choice"] = Choice(by_use["file"], by_use.get("product", NO_COLUMN), ignored)
        return cleaned
