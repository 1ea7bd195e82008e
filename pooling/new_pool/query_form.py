"""The part of the form of a pool that says who asks."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile

from catalog.fields import FiltersField
from lookalike.core.errors import Refused
from lookalike.pooling.query_rule import QueryRule, QueryRuleError, parse_names

MAX_LIST_BYTES = 5 * 2**20


class QueriesForm(forms.Form):
    """A sample, every image, or a list; as far as they match the filters."""

    how = forms.ChoiceField(
        choices=[
            ("sample", "A random sample"),
            ("all", "Every image"),
            ("list", "A list of my own"),
        ],
        initial="sample",
        widget=forms.RadioSelect,
        label="Queries",
    )
    n_queries = forms.IntegerField(required=False, initial=100, label="How many to draw")
    strata = forms.CharField(
        required=False,
        max_length=100,
        label="Spread evenly over",
        help_text="An attribute, such as category: as many queries of each value, as far as it "
        "has them. Empty: by chance alone.",
    )
    one_per_product = forms.BooleanField(
        required=False, label="At most one query of each product", help_text="Drawn by chance."
    )
    seed = forms.IntegerField(
        min_value=0,
        max_value=2**63 - 1,
        initial=0,
        help_text="The same seed draws the same queries.",
    )
    names = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 4, "class": "mono"}),
        label="List of queries",
        help_text="A path, uid or SHA-256 in each line.",
    )
    names_file = forms.FileField(
        required=False, label="… or a text file with that list", help_text="UTF-8, up to 5 MB."
    )
    filters = FiltersField(
        "One NAME=VALUE in each line. Lines of the same name widen, of different names narrow."
    )

    def clean_names_file(self) -> str:
        """Return the text of the uploaded list."""
        upload: UploadedFile[bytes] | None = self.cleaned_data["names_file"]
        if upload is None:
            return ""
        if (upload.size or 0) > MAX_LIST_BYTES:
            raise forms.ValidationError("The file is larger than 5 MB.")
        try:
            return bytes(upload.read()).decode("utf-8-sig")
        except UnicodeDecodeError:
            raise forms.ValidationError(f"{upload.name} is not UTF-8 text.") from None

    @property
    def deciding_field(self) -> str:
        """The field that says which queries are wanted."""
        return "names" if self.cleaned_data.get("how") == "list" else "n_queries"

    def query_rule(self, cleaned: dict[str, Any]) -> QueryRule:
        """Return the rule that the fields stand for.

        Raises:
            Refused: no number or list is given, or it is out of range.
            KeyError: a field that it needs is wrong.
        """
        try:
            if cleaned["how"] == "list":
                names = parse_names("\n".join([cleaned["names"], cleaned["names_file"]]))
                if not names:
                    raise QueryRuleError("give a list of images, or draw a sample")
                return QueryRule(names=names, filters=cleaned["filters"])
            n = cleaned["n_queries"] if cleaned["how"] == "sample" else None
            if cleaned["how"] == "sample" and n is None:
                raise QueryRuleError("say how many to draw")
            return QueryRule(
                n=n,
                filters=cleaned["filters"],
                strata=cleaned["strata"].strip() if n is not None else "",
                one_per_product=cleaned["one_per_product"],
            )
        except QueryRuleError as problem:
            raise Refused(self.deciding_field, f"{problem}.") from problem
