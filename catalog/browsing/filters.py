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
class Area:
    """A rectangle of a catalog's map, in [0, 1] from its upper left corner.

    Attributes:
        map_id: of the `CatalogMap`.
        left, top, right, bottom: its edges, which belong to it.
    """

    map_id: int
    left: float
    top: float
    right: float
    bottom: float

    def pairs(self) -> list[tuple[str, str]]:
        """Return it as parameters of an address."""
        edges = (self.left, self.top, self.right, self.bottom)
        return [("map", str(self.map_id)), ("area", ",".join(f"{edge:.5g}" for edge in edges))]


@dataclass(frozen=True)
class Likeness:
    """Nearest to an image first, by an embedding set."""

    image: uuid.UUID
    set_id: int

    def pairs(self) -> list[tuple[str, str]]:
        """Return it as parameters of an address."""
        return [("like", str(self.image)), ("by", str(self.set_id))]


@dataclass(frozen=True)
class ImageFilter:
    """Conditions that all must hold; of one attribute's values any may.

    Attributes:
        search: words, each in the product, a value of an attribute or a path.
        product: the whole product.
        attributes: (name, values) in order of the name.
        area: where on a map.
        like: orders what is left by nearness to an image, which is left out itself.
        ignored: conditions of the address that mean nothing here, for a notice.
    """

    search: str = ""
    product: str = ""
    attributes: tuple[tuple[str, tuple[str, ...]], ...] = ()
    area: Area | None = None
    like: Likeness | None = None
    ignored: tuple[str, ...] = field(default=(), compare=False)

    def __bool__(self) -> bool:
        """Whether anything is asked for."""
        return bool(self.search or self.product or self.attributes or self.area or self.like)

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
        return urlencode(self.pairs())

    def pairs(self) -> list[tuple[str, str]]:
        """Return the filter as parameters of an address."""
        return ([("q", self.search)] if self.search else []) + self.others()

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
        if self.area:
            found.append(("selected on the map", replace(self, area=None).query()))
        return found

    def others(self) -> list[tuple[str, str]]:
        """Return the parameters beside the search, for the hidden fields of its form."""
        pairs = [("product", self.product)] if self.product else []
        pairs += [(PREFIX + name, v) for name, values in self.attributes for v in values]
        return pairs + [pair for one in (self.area, self.like) if one for pair in one.pairs()]


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
        area=_area(asked),
        like=_likeness(asked),
        ignored=tuple(ignored[:10]),
    )


def _area(asked: Mapping[str, Sequence[str]]) -> Area | None:
    """Read an area; what is none, or has its corners the wrong way round, is left out."""
    map_id, edges = _number(asked, "map"), _text(asked, "area").split(",")
    if map_id is None or len(edges) != 4:
        return None
    try:
        left, top, right, bottom = (min(max(float(edge), 0.0), 1.0) for edge in edges)
    except ValueError:
        return None
    if not (left <= right and top <= bottom):  # which no NaN is
        return None
    return Area(map_id, left, top, right, bottom)


def _likeness(asked: Mapping[str, Sequence[str]]) -> Likeness | None:
    image, set_id = _uid(asked, "like"), _number(asked, "by")
    return None if image is None or set_id is None else Likeness(image, set_id)


def _number(asked: Mapping[str, Sequence[str]], key: str) -> int | None:
    """Read the id of a row."""
    text = _text(asked, key)
    is_id = text.isascii() and text.isdigit() and len(text) < 19  # as many as the database holds
    return int(text) if is_id else None


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
