"""The form that asks for a pool."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from django import forms
from django.urls import reverse_lazy

from accounts.form_refusals import add_refusal
from catalog.fields import CatalogField
from catalog.short_names import typing_attributes
from lookalike.core.errors import Refused
from pooling.models import Index
from pooling.new_pool.parsing import candidate_rule, depths_of
from pooling.new_pool.query_form import QueriesForm
from pooling.new_pool.requests import (
    PoolRequest,
    check_candidates,
    check_request,
    choose_queries,
)
from pooling.sources.forms import SourcesForm
from pooling.sources.upload_files import Upload


class CandidatesForm(forms.Form):
    """Which images may not be proposed."""

    exclude_same_product = forms.BooleanField(
        required=False,
        initial=True,
        label="Leave out other images of a query's own product",
        help_text="Recommended: experts need not be asked whether a thing looks like itself.",
    )
    shared_product_ids = forms.BooleanField(
        required=False,
        label="Product ids are shared with the catalog of the queries",
        help_text="An id then means the same product in both, which is left out as above. "
        "Otherwise a product belongs to its catalog, whatever its id.",
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


class PoolForm(SourcesForm, QueriesForm, CandidatesForm):
    """What a new pool shall be."""

    name = forms.CharField(
        max_length=80,
        widget=forms.TextInput(attrs=typing_attributes(reverse_lazy("pooling:name"))),
    )
    catalog = CatalogField(help_text="Candidates come from it.")
    query_catalog = CatalogField(
        required=False,
        empty_label="The same catalog",
        label="Queries from",
        help_text="Another catalog gives “wild” queries: pictures that are not among the "
        "candidates.",
    )
    k = forms.IntegerField(
        initial=6,
        label="Depth k",
        help_text="Candidates of each model for each query, unless its line says k=…",
    )
    index = forms.ChoiceField(
        required=False,
        choices=Index.choices,
        initial=Index.EXACT,
        label="Search",
        help_text="Exact takes seconds for a million pictures. An index may miss some candidates; "
        "how many is measured and shown.",
    )

    def clean(self) -> dict[str, Any]:
        """Check what depends on several fields, once each of them is right by itself."""
        cleaned = super().clean() or {}
        if self.errors:
            return cleaned
        uploads = self.upload_specs(cleaned)
        if not cleaned["models"] and not uploads:
            self.add_error("models", "Name at least one model, or upload one below.")
        elif cleaned["models"] or not self.errors:
            try:
                cleaned["request"], _ = self.checked_request(cleaned, uploads)
            except Refused as problem:
                add_refusal(self, problem)
        return cleaned

    def checked_request(
        self, cleaned: dict[str, Any], uploads: Sequence[str]
    ) -> tuple[PoolRequest, list[int]]:
        """Return the pool that the fields ask for, without its files, and its queries.

        Args:
            cleaned: the fields.
            uploads: specs of the files that will come with it.

        Raises:
            Refused: what cannot be; it names a field of the form.
            KeyError: a field is wrong by itself.
        """
        request = PoolRequest(
            name=cleaned["name"],
            catalog=cleaned["catalog"],
            query_catalog=cleaned["query_catalog"],
            specs=[wish.spec for wish in cleaned["models"]],
            k=cleaned["k"],
            depths=depths_of(cleaned["models"]),
            rule=self.query_rule(cleaned),
            seed=cleaned["seed"],
            exclude_same_product=cleaned["exclude_same_product"],
            shared_product_ids=cleaned["shared_product_ids"],
            index=cleaned["index"] or Index.EXACT,
        )
        with _about("same"):
            rule = candidate_rule(cleaned["same"], cleaned["different"], cleaned["one_of_alike"])
        request = replace(request, candidates=rule)
        with _about("query_catalog", of="query catalog"):
            check_request(replace(request, uploads=[Upload(spec, "", "") for spec in uploads]))
        with _about(self.deciding_field):
            query_ids = choose_queries(request)
        with _about("same"):
            check_candidates(request, query_ids)
        return request, query_ids


@contextmanager
def _about(field: str, *, of: str | None = None) -> Iterator[None]:
    """Put what is refused beside a field; with `of`, only what is refused of that input."""
    try:
        yield
    except Refused as problem:
        if of is not None and problem.field != of:
            raise
        raise Refused(field, problem.message) from problem
