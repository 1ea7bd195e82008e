"""Which images of a catalog a page shows, read from its address.

An address like `?q=WH&a.color=red&a.color=blue&after=…` can be shared. Attribute names are
checked against those of the catalog and reach the database only as data, never as look-ups.
"""

from __future__ import annotations

import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from urllib.parse import urlencode

PREFIX = "a."
MAX_TEXT = 200
MAX_VALUES = 50


@dataclass(frozen=True)
class ImageFilter:
    """Conditions that all must hold; of one attribute's values any may.

    Attributes:
        search: words, each in the product, a value of an attribute or a path.
        product: the whole product.
        attributes: (name, values) in order of the name.
        ignored: conditions of the address that mean nothing here, for a notice.
    """

    search: str = ""
    product: str = ""
    attributes: tuple[tuple[str, tuple[str, ...]], ...] = ()
    ignored: tuple[str, ...] = field(default=(), compare=False)

    def __bool__(self) -> bool:
        """Whether anything is asked for."""
        return bool(self.search or self.product or self.attributes)

    def values_of(self, name: str) -> tuple[str, ...]:
        """Return the values of one attribute that are asked for."""
        return dict(self.attributes).get(name, ())

    def without(self, name: str) -> ImageFilter:
        """Return the filter without its condition on one attribute."""
        kept = tuple(entry for entry in self.attributes if entry[0] != name)
        return replace(self, attributes=kept)

    def toggled(self, name: str, value: str) -> ImageFilter:
        """Return the filter with one value of an attribute added, or taken out if it is there."""
        values = self.values_of(name)
        changed = tuple(v for v in values if v != value) if value in values else (*values, value)
        rest = self.without(name).attributes
        both = (*rest, (name, tuple(sorted(changed)))) if changed else rest
        return replace(self, attributes=tuple(sorted(both)))

    def query(self) -> str:
        """Return the filter as the query of an address, without the question mark."""
        pairs = [("q", self.search)] if self.search else []
        return urlencode(pairs + self.others())

    def conditions(self) -> list[tuple[str, str]]:
        """Return each condition in words, with the address's query that drops it."""
        found = []
        if self.search:
            words = f"contains “{self.search}”"
            found.append((words, replace(self, search="").query()))
        if self.product:
            found.append((f"product is {self.product}", replace(self, product="").query()))
        for name, values in self.attributes:
            found += [(f"{name}: {v}", self.toggled(name, v).query()) for v in values]
        return found

    def others(self) -> list[tuple[str, str]]:
        """Return the parameters beside the search, for the hidden fields of its form."""
        pairs = [("product", self.product)] if self.product else []
        return pairs + [(PREFIX + name, v) for name, values in self.attributes for v in values]


@dataclass(frozen=True)
class Place:
    """Where in the list a page begins or ends: after or before an image."""

    after: uuid.UUID | None = None
    before: uuid.UUID | None = None


def parse_filter(asked: Mapping[str, Sequence[str]], names: Collection[str]) -> ImageFilter:
    """Read a filter from the lists of an address's parameters.

    Args:
        asked: parameter to its values, as in `dict(request.GET.lists())`.
        names: the attributes that the catalog has.
    """
    attributes: dict[str, tuple[str, ...]] = {}
    ignored = []
    for key, values in asked.items():
        if not key.startswith(PREFIX):
            continue
        name = key.removeprefix(PREFIX)
        if name not in names:
            ignored.append(name[:MAX_TEXT])
            continue
        wanted = sorted({v for v in values if v and "\0" not in v})[:MAX_VALUES]
        if wanted:
            attributes[name] = tuple(wanted)
    return ImageFilter(
        search=_text(asked, "q"),
        product=_text(asked, "product"),
        attributes=tuple(sorted(attributes.items())),
        ignored=tuple(ignored[:10]),
    )


def parse_place(asked: Mapping[str, Sequence[str]]) -> Place:
    """Read where a page begins; what is no image's uid means the beginning."""
    return Place(after=_uid(asked, "after"), before=_uid(asked, "before"))


def _text(asked: Mapping[str, Sequence[str]], key: str) -> str:
    values = asked.get(key) or [""]
    return values[-1].replace("\0", "").strip()[:MAX_TEXT]


def _uid(asked: Mapping[str, Sequence[str]], key: str) -> uuid.UUID | None:
    try:
        return uuid.UUID(_text(asked, key))
    except ValueError:
        return None
