"""Forms of the pool pages."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.db.models import Count

from catalog.models import Catalog
from lookalike.core.errors import Refused
from lookalike.pooling.query_rule import QueryRule, QueryRuleError, parse_filters, parse_names
from lookalike.pooling.source_spec import Wish
from pooling.models import Index
from pooling.pools.parsing import candidate_rule, depths_of, source_wishes
from pooling.pools.requests import (
    PoolRequest,
    check_candidates,
    check_request,
    choose_queries,
)
from pooling.sources.forms import UploadsForm
from pooling.sources.uploads import Upload

MAX_LIST_BYTES = 5 * 2**20
SECONDS_PER_PAIR = 15
# the inputs that services name in their errors, as fields of the form
FIELD_OF = {
    "name": "name",
    "query catalog": "query_catalog",
    "k": "k",
    "models": "models",
    "candidates": "same",
}


def models_field(**given: Any) -> forms.CharField:
    """Return the field in which sources are listed."""
    return forms.CharField(
        widget=forms.Textarea(attrs={"rows": 5, "spellcheck": "false", "class": "mono"}),
        help_text="One in each line: timm:MODEL, open_clip:ARCH/PRETRAINED, file:PATH, "
        "descriptor:NAME, plugin:DOTTED.PATH, random:SEED, or the name of a preset. A depth of "
        "its own goes behind it: random:1 k=20.",
        **given,
    )


def wishes_in(text: str) -> list[Wish]:
    """Return the sources that a field lists.

    Raises:
        ValidationError: as `source_wishes`.
    """
    try:
        return source_wishes(text)
    except Refused as problem:
        raise forms.ValidationError(problem.message) from problem


class PoolForm(UploadsForm):
    """What a new pool shall be."""

    name = forms.CharField(max_length=80)
    catalog = forms.ModelChoiceField(
        Catalog.objects.none(), empty_label="Choose a catalog", help_text="Candidates come from it."
    )
    query_catalog = forms.ModelChoiceField(
        Catalog.objects.none(),
        required=False,
        empty_label="The same catalog",
        label="Queries from",
        help_text="Another catalog gives “wild” queries: pictures that are not among the "
        "candidates.",
    )
    models = models_field(required=False)
    k = forms.IntegerField(
        initial=6,
        label="Depth k",
        help_text="Candidates of each model for each query, unless its line says k=…",
    )
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
    filters = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 2, "class": "mono"}),
        label="Only images with",
        help_text="One NAME=VALUE in each line. Lines of the same name widen, of different "
        "names narrow.",
    )
    exclude_same_product = forms.BooleanField(
        required=False,
        initial=True,
        label="Leave out other images of a query's own product",
        help_text="Recommended: experts need not be asked whether a thing looks like itself.",
    )
    same = forms.CharField(
        required=False,
        max_length=200,
        label="Only candidates with the query's own",
        help_text="An attribute, such as category; several with commas between them.",
    )
    different = forms.CharField(
        required=False,
        max_length=200,
        label="Only candidates with another",
        help_text="An attribute, such as colour: those of the query's own value are left out.",
    )
    one_of_alike = forms.BooleanField(
        required=False,
        label="Take near-duplicates for one picture",
        help_text="Of each group only one is a candidate, and none that looks the same as the "
        "query.",
    )
    index = forms.ChoiceField(
        required=False,
        choices=Index.choices,
        initial=Index.EXACT,
        label="Search",
        help_text="Exact takes seconds for a million pictures. An index may miss some candidates; "
        "how many is measured and shown.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        catalogs = Catalog.objects.annotate(n_images=Count("images")).filter(n_images__gt=0)
        for name in ("catalog", "query_catalog"):
            field = self.fields[name]
            assert isinstance(field, forms.ModelChoiceField)  # noqa: S101 - for the type checker
            field.queryset = catalogs

    def clean_models(self) -> list[Wish]:
        """Return the sources that need no file, with presets spelled out."""
        return wishes_in(self.cleaned_data["models"])

    def clean_filters(self) -> dict[str, tuple[str, ...]]:
        """Return the filters by attribute name."""
        try:
            return parse_filters(self.cleaned_data["filters"].splitlines())
        except QueryRuleError as problem:
            raise forms.ValidationError(f"{problem}.") from problem

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

    def clean(self) -> dict[str, Any]:
        """Check what depends on several fields, once each of them is right by itself."""
        cleaned = super().clean() or {}
        if not self.errors and not cleaned["models"] and not self.upload_specs(cleaned):
            self.add_error("models", "Name at least one model, or upload one below.")
        if not self.errors:
            try:
                cleaned["request"] = self._request(cleaned)
            except Refused as problem:
                self.add_error(FIELD_OF.get(problem.field, self._query_field()), problem.message)
        return cleaned

    def _query_field(self) -> str:
        return "names" if self.cleaned_data["how"] == "list" else "n_queries"

    def request_from(self, cleaned: dict[str, Any]) -> PoolRequest:
        """Return what the fields ask for, unchecked.

        Raises:
            Refused: the rule on queries or candidates contradicts itself.
        """
        return PoolRequest(
            name=cleaned["name"],
            catalog=cleaned["catalog"],
            query_catalog=cleaned["query_catalog"],
            specs=[wish.spec for wish in cleaned["models"]],
            k=cleaned["k"],
            depths=depths_of(cleaned["models"]),
            rule=query_rule_of(cleaned),
            seed=cleaned["seed"],
            exclude_same_product=cleaned["exclude_same_product"],
            candidates=candidate_rule(
                cleaned["same"], cleaned["different"], cleaned["one_of_alike"]
            ),
            index=cleaned["index"] or Index.EXACT,
        )

    def _request(self, cleaned: dict[str, Any]) -> PoolRequest:
        request = self.request_from(cleaned)
        to_come = [Upload(spec, "", "") for spec in self.upload_specs(cleaned)]
        check_request(replace(request, uploads=to_come))
        check_candidates(request, choose_queries(request))
        return request


def query_rule_of(cleaned: dict[str, Any]) -> QueryRule:
    """Return the rule that the form's fields on queries stand for.

    Raises:
        Refused: no number or list is given, or it is out of range.
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
        raise Refused("queries", f"{problem}.") from problem


class CostForm(forms.Form):
    """How long an expert takes."""

    seconds = forms.FloatField(
        min_value=0.1,
        max_value=3600,
        initial=SECONDS_PER_PAIR,
        label="Seconds for each pair",
        widget=forms.NumberInput(attrs={"step": "any", "inputmode": "decimal"}),
    )
    n_judges = forms.IntegerField(
        min_value=1, max_value=1000, initial=3, label="Judges of each pair"
    )
    hourly = forms.FloatField(
        required=False,
        min_value=0,
        max_value=1_000_000,
        label="Cost of an expert hour",
        help_text="In any currency; empty leaves costs out.",
        widget=forms.NumberInput(attrs={"step": "any", "inputmode": "decimal"}),
    )
