"""Fields of forms that ask for a catalog, or for a part of one."""

from __future__ import annotations

from typing import Any

from django import forms

from catalog.models import Catalog
from catalog.queries import catalogs_with_images
from lookalike.pooling.query_rule import QueryRuleError, parse_filters


class CatalogField(forms.ModelChoiceField):  # type: ignore[type-arg]
    """A catalog that holds pictures; where there is one alone, it is chosen beforehand."""

    def __init__(self, **given: Any) -> None:
        super().__init__(catalogs_with_images(), **{"empty_label": "Choose a catalog"} | given)
        if self.required:
            self.initial = only_catalog  # given to __init__, it would take the empty choice away


class FiltersField(forms.CharField):
    """Attributes that pictures must have, as a dict of their values by name."""

    def __init__(self, help_text: str) -> None:
        super().__init__(
            required=False,
            widget=forms.Textarea(attrs={"rows": 2, "spellcheck": "false", "class": "mono"}),
            label="Only images with",
            help_text=help_text,
        )

    def clean(self, value: Any) -> dict[str, tuple[str, ...]]:
        """Read one NAME=VALUE in each line."""
        try:
            return parse_filters(super().clean(value).splitlines())
        except QueryRuleError as problem:
            raise forms.ValidationError(f"{problem}.") from problem


def only_catalog() -> Catalog | None:
    """Return the catalog that holds pictures; None where there are several, or none."""
    found = list(catalogs_with_images()[:2])
    return found[0] if len(found) == 1 else None
