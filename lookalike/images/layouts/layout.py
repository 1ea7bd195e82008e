"""What a reader of a published data set gives: its images, counted, and what is missing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from lookalike.images.paths import UnsafePathError, clean_path
from lookalike.images.problems import Problem
from lookalike.images.sources import Source
from lookalike.io.errors import FormatError, InputError

SPLIT = "split"


@dataclass(frozen=True)
class LayoutImage:
    """One image of a data set.

    Attributes:
        path: as the source names it.
        product_id: "" where the data set knows classes, not products.
        attributes: name to text; `split` and `box` ([left, top, width, height]) among them where
            the data set says them.
        line: of the list that names it; 0 where no list does.
    """

    path: str
    product_id: str
    attributes: Mapping[str, str]
    line: int


@dataclass(frozen=True)
class Layout:
    """The images of a data set that are there.

    Attributes:
        title: of the data set.
        images: those that are listed and there, by path.
        counts: of what is listed: images, products, classes, and images of each split.
        problems: what is absent, and where the counts are not those published.
    """

    title: str
    images: Mapping[str, LayoutImage]
    counts: Mapping[str, int]
    problems: Sequence[Problem] = ()


@dataclass
class Listing:
    """What the lists of a data set say, before anybody looks for the pictures.

    Attributes:
        title: of the data set.
        list_name: the list that names the images, for messages.
        published: counts as its authors give them, named as in `Layout`.
        entries: product, attributes and line by the path that the lists use.
        problems: of the lists.
        further_counts: counts that the authors give and `Layout.counts` does not have.
    """

    title: str
    list_name: str
    published: Mapping[str, int]
    entries: dict[str, tuple[str, dict[str, str], int]] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    further_counts: Mapping[str, int] = field(default_factory=dict)

    def add(self, path: str, product_id: str, attributes: Mapping[str, str], line: int) -> None:
        """Note an image.

        Raises:
            FormatError: its path leads out of the folder, or stands in a line before.
        """
        try:
            path = clean_path(path)
        except UnsafePathError as problem:
            raise FormatError(self.list_name, line, f"{path!r}: {problem}") from None
        if path in self.entries:
            reason = f"{path!r} stands in line {self.entries[path][2]}, too"
            raise FormatError(self.list_name, line, reason)
        known = {name: text for name, text in attributes.items() if text}
        self.entries[path] = (product_id, known, line)

    def note(self, path: str, attributes: Mapping[str, str], place: str, line: int) -> None:
        """Add what another list says of an image.

        Raises:
            FormatError: no image of that path is listed.
        """
        entry = self.entries.get(path)
        if entry is None:
            raise FormatError(place, line, f"{path!r} is not in {self.list_name}")
        entry[1].update({name: text for name, text in attributes.items() if text})

    def found_in(self, source: Source) -> Layout:
        """Return the listed images that a source holds, wherever in it their folder is.

        Raises:
            InputError: it holds none.
        """
        root = _root(self.entries, source.paths)
        if root is None:
            first = next(iter(self.entries), "")
            raise InputError(
                f"{source.name}: none of the {len(self.entries):,} images of {self.list_name} is "
                f"there, such as {first}. Unpack the pictures of {self.title} beside its lists"
            )
        present = set(source.paths)
        images = {
            root + path: LayoutImage(root + path, product, attributes, line)
            for path, (product, attributes, line) in self.entries.items()
            if root + path in present
        }
        counts = self._counts()
        problems = [
            *self.problems,
            *self._absent(images, root),
            *self._other_counts(counts | dict(self.further_counts)),
        ]
        return Layout(self.title, images, counts, problems)

    def _counts(self) -> dict[str, int]:
        entries = self.entries.values()
        products = {product for product, _, _ in entries if product}
        classes = {attributes["class"] for _, attributes, _ in entries if "class" in attributes}
        splits = Counter(attributes[SPLIT] for _, attributes, _ in entries if SPLIT in attributes)
        counts = {"images": len(entries), "products": len(products), "classes": len(classes)}
        return {name: n for name, n in counts.items() if n} | dict(sorted(splits.items()))

    def _absent(self, images: Collection[str], root: str) -> Iterator[Problem]:
        n = len(self.entries) - len(images)
        if n:
            path, (_, _, line) = next(
                (path, entry) for path, entry in self.entries.items() if root + path not in images
            )
            place = f" (line {line})" if line else ""
            reason = f"{n:,} of {len(self.entries):,} listed images are not there, such as {path}"
            yield Problem(self.list_name, f"{reason}{place}.")

    def _other_counts(self, counts: Mapping[str, int]) -> Iterator[Problem]:
        other = [
            f"{name} {counts.get(name, 0):,} (published {n:,})"
            for name, n in self.published.items()
            if counts.get(name, 0) != n
        ]
        if other:
            yield Problem(
                self.list_name, f"A subset or another version of {self.title}: {', '.join(other)}."
            )


def _root(listed: Collection[str], paths: Iterable[str]) -> str | None:
    """Return the folder, with its slash, from which the lists name the pictures."""
    for path in paths:
        parts = path.split("/")
        for depth in range(len(parts)):
            if "/".join(parts[depth:]) in listed:
                return "".join(f"{part}/" for part in parts[:depth])
    return None
