"""Attributes of a catalog, and how many images have each value: counted by the database."""

from __future__ import annotations

from dataclasses import dataclass, replace

from django.db import connection

from catalog.browsing.filters import ImageFilter
from catalog.cache import remembered
from catalog.models import Catalog
from catalog.queries import filtered_images

MAX_FACET_VALUES = 60  # an attribute with more (a name, a path) divides nothing
MAX_SUGGESTED_VALUES = 400
MAX_NUMBERS = 12  # sizes and prices are a scale, not a choice


@dataclass(frozen=True)
class Attribute:
    """An attribute of a catalog: in how many images it is known, and how many values it has."""

    name: str
    n_values: int
    n_images: int
    is_numeric: bool

    @property
    def is_facet(self) -> bool:
        """Whether it divides the catalog into parts worth choosing from."""
        most = MAX_NUMBERS if self.is_numeric else MAX_FACET_VALUES
        return 1 < self.n_values <= most and self.n_values < self.n_images


@dataclass(frozen=True)
class Value:
    """One value of a facet: whether it is chosen, its count, and the address that toggles it."""

    text: str
    n_images: int
    is_chosen: bool
    query: str


@dataclass(frozen=True)
class Facet:
    """An attribute to filter by, with its values, the most frequent first."""

    name: str
    values: list[Value]

    @property
    def is_chosen(self) -> bool:
        """Whether the filter has a condition on it."""
        return any(value.is_chosen for value in self.values)


def list_attributes(catalog: Catalog) -> list[Attribute]:
    """Return the attributes of a catalog by name."""

    def count() -> list[Attribute]:
        with connection.cursor() as cursor:
            cursor.execute(
                "select entry.key, count(distinct entry.value), count(*),"
                r" bool_and(entry.value ~ '^-?[0-9]+(\.[0-9]+)?$')"
                " from catalog_image, jsonb_each_text(attributes) as entry"
                " where catalog_id = %s group by entry.key order by entry.key",
                [catalog.pk],
            )
            return [Attribute(*row) for row in cursor.fetchall()]

    return remembered(catalog, "attributes", make=count)


def attribute_suggestions(catalog: Catalog) -> list[str]:
    """Return `name=value` for the attributes that divide the catalog, commonest first.

    A value that only one image has (a name, a price) is no suggestion.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT entry.key || '=' || entry.value FROM catalog_image, "
            "jsonb_each_text(attributes) AS entry WHERE catalog_id = %s AND entry.value <> '' "
            "GROUP BY entry.key, entry.value HAVING count(*) > 1 "
            "ORDER BY entry.key, count(*) DESC, entry.value LIMIT %s",
            [catalog.pk, MAX_SUGGESTED_VALUES],
        )
        return [row[0] for row in cursor.fetchall()]


def facets(catalog: Catalog, asked: ImageFilter) -> list[Facet]:
    """Return the facets under a filter: words before numbers, those of most images first.

    The count of a value tells how many images there would be if it were chosen: the
    conditions on other attributes hold, those on its own do not.
    """
    found = [attribute for attribute in list_attributes(catalog) if attribute.is_facet]
    found.sort(key=lambda a: (a.is_numeric, -a.n_images, a.n_values, a.name))
    names = [attribute.name for attribute in found]
    chosen = [name for name in names if asked.values_of(name)]
    open_names = [name for name in names if name not in chosen]
    counts = _counts(catalog, asked, open_names)
    for name in chosen:
        counts |= _counts(catalog, asked.without(name), [name])
    return [_facet(name, counts.get(name, {}), asked) for name in names]


def _facet(name: str, counts: dict[str, int], asked: ImageFilter) -> Facet:
    chosen = asked.values_of(name)
    for text in chosen:
        counts.setdefault(text, 0)
    ordered = sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))
    return Facet(
        name,
        [Value(text, n, text in chosen, asked.toggled(name, text).query()) for text, n in ordered],
    )


def _counts(catalog: Catalog, asked: ImageFilter, names: list[str]) -> dict[str, dict[str, int]]:
    if not names:
        return {}
    counted = replace(asked, like=None)  # an order changes no count

    def count() -> dict[str, dict[str, int]]:
        ids, parameters = (
            filtered_images(catalog, counted).order_by().values("id").query.sql_with_params()
        )
        found: dict[str, dict[str, int]] = {}
        with connection.cursor() as cursor:
            cursor.execute(
                "select entry.key, entry.value, count(*)"  # noqa: S608  (Django made `ids`)
                " from catalog_image, jsonb_each_text(attributes) as entry"
                f" where id in ({ids}) and entry.key = any(%s) group by 1, 2",
                [*parameters, names],
            )
            for name, value, n in cursor.fetchall():
                found.setdefault(name, {})[value] = n
        return found

    return remembered(catalog, "facets", counted.query(), *names, make=count)
