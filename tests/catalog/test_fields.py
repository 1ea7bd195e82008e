"""Forms that ask for a catalog, or for a part of one."""

from __future__ import annotations

import pytest
from django import forms

from catalog.fields import CatalogField, FiltersField
from catalog.models import Catalog
from tests.catalogs import catalog_of

pytestmark = pytest.mark.django_db


class Asked(forms.Form):
    catalog = CatalogField()
    other = CatalogField(required=False, empty_label="The same catalog")
    filters = FiltersField("One in each line.")


def test_the_only_catalog_with_pictures_is_chosen_beforehand():
    Catalog.objects.create(slug="empty", name="Empty")
    only = catalog_of(["a", "b"])
    form = Asked()
    assert form["catalog"].value() == only.pk
    assert "Choose a catalog" in str(form["catalog"])
    assert "Empty" not in str(form["catalog"])
    assert form["other"].value() is None


def test_of_several_none_is_chosen_and_what_the_address_says_is():
    first, second = catalog_of(["a"], slug="first"), catalog_of(["b"], slug="second")
    assert Asked()["catalog"].value() is None
    assert Asked(initial={"catalog": second.pk})["catalog"].value() == second.pk
    assert Asked({"catalog": str(first.pk)}).is_valid()


def test_no_catalog_is_no_choice():
    assert Asked()["catalog"].value() is None
    assert "catalog" in Asked({}).errors


def test_filters_are_read_and_a_line_that_is_none_is_named():
    catalog = catalog_of(["a"])
    form = Asked({"catalog": catalog.pk, "filters": "colour=red\ncolour=blue\nkind=hat"})
    assert form.is_valid()
    assert form.cleaned_data["filters"] == {"colour": ("red", "blue"), "kind": ("hat",)}
    assert "nonsense" in str(Asked({"catalog": catalog.pk, "filters": "nonsense"}).errors)
