"""Resolve the names that files give to pictures to the names of a catalog."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from functools import cached_property
from typing import Generic, TypeVar

from lookalike.io.errors import InputError
from lookalike.io.image_spellings import PICTURE, normal_path, place_suffixes, spellings

SHORTEST_ID = 16  # first characters of a SHA-256 that name an image in a release, at least
SHA256_LENGTH = 64
K = TypeVar("K", bound=Hashable)
_FRAME_INDEX = re.compile(r"(?P<digits>0|[1-9][0-9]*)(?:\.0+)?\Z")


class UnknownImageError(InputError):
    """A name that no image of the catalog has; the message names the catalog."""


class AmbiguousImageError(UnknownImageError):
    """A name that fits two images of the catalog."""


class ImageNames(Generic[K]):
    """Find the image that a name in a file means, however the name is written.

    The one place where names of pictures are resolved. In this order, the first that fits:

    1. a path or id of the catalog as it stands;
    2. another spelling of a path: Unicode composition, backslashes, `./`, percent signs, `+`,
       query strings, URLs, file and storage URIs, addresses of Label Studio
       (`lookalike.io.image_spellings.spellings`);
    3. an id in another case, or the first 16 or more characters of a SHA-256;
    4. a path or address that ends in a path of the catalog;
    5. the end of a path of the catalog, such as the bare file name;
    6. a file name without its ending, or the number that it is ("121506" or "121506.0" for
       000000121506.jpg, as COCO and data frames have it).

    A name that fits two images at the same step is an error. So are two paths of one file that
    step 4 takes for one image: their folders differ, so at least one is another picture. Make one
    object for each file that is read.

    Args:
        paths: (path in the catalog, image).
        ids: (uid or SHA-256, image).
        title: the catalog's name in messages.
        is_whole: whether `paths` are all images that a name may mean. Otherwise steps 4 to 6 are
            left out, since they could take an image that is not listed for one that is.
        among: images that the file may name; one of them is preferred to others at steps 1 to 3,
            and any other is unknown.

    Example:
        >>> names = ImageNames([("shoes/H&M 1.jpg", 7)])
        >>> names.find("/data/local-files/?d=shoes/H%26M%201.jpg")
        7
    """

    def __init__(
        self,
        paths: Iterable[tuple[str, K]],
        ids: Iterable[tuple[str, K]] = (),
        *,
        title: str = "the catalog",
        is_whole: bool = True,
        among: Collection[K] | None = None,
    ) -> None:
        self._title, self._is_whole, self._among = title, is_whole, among
        self._path_of: dict[K, str] = {}
        self._exact = self._table(paths, str)
        self._ids = self._table(ids, str.lower)
        self._found: dict[str, K] = {}
        self._as_listed: set[K] = set()  # images that a name of the file gives by their own path
        self._longer_name_of: dict[K, str] = {}  # name by which step 4 found an image

    def find(self, name: str) -> K:
        """Return the image that a name means.

        Raises:
            AmbiguousImageError: it fits two images.
            UnknownImageError: it fits none.
        """
        image = self._found.get(name)
        if image is None:
            image = self._found[name] = self._resolved(name)
        return image

    def find_all(self, names: Iterable[str]) -> tuple[dict[str, K], dict[str, str]]:
        """Return {name: image} of the names that mean one image, and {name: reason} of others."""
        images: dict[str, K] = {}
        reasons: dict[str, str] = {}
        for name in names:
            try:
                images[name] = self.find(name)
            except UnknownImageError as problem:
                reasons[name] = str(problem)
        return images, reasons

    def _resolved(self, name: str) -> K:
        steps = [self._as_it_stands, self._spelled, self._by_id]
        if self._is_whole:
            steps += [self._longer, self._shorter, self._numbered]
        for step in steps:
            images = self._preferred(step(name), step in steps[:3])
            if len(images) > 1:
                raise AmbiguousImageError(self._two(name, images))
            if images:
                (image,) = images
                if self._among is not None and image not in self._among:
                    break
                self._refuse_second_name(image, name, step == self._longer)
                return image
        raise UnknownImageError(self._unknown(name))

    def _preferred(self, images: set[K], is_exact: bool) -> set[K]:
        if self._among is None or not is_exact or len(images) < 2:
            return images
        return {image for image in images if image in self._among} or images

    def _refuse_second_name(self, image: K, name: str, is_longer: bool) -> None:
        """Refuse two paths of one file for one image where step 4 left a folder out."""
        first = self._longer_name_of.get(image)
        if is_longer:
            if first is None and image in self._as_listed and not _is_absolute(name):
                first = self._path_of[image]
            self._longer_name_of.setdefault(image, _likeliest(name))
        else:
            self._as_listed.add(image)
            first = None if first is None or _is_absolute(first) else first
        if first is not None and first != _likeliest(name):
            raise AmbiguousImageError(
                f"{name!r} and {first!r} of this file both end in {self._path_of[image]!r}, and "
                "only one of them can be that image; write the paths as the catalog has them"
            )

    def _as_it_stands(self, name: str) -> set[K]:
        return {*self._exact.get(name, ()), *self._ids.get(name, ())}

    def _spelled(self, name: str) -> set[K]:
        for readings in spellings(name):
            images: set[K] = set()
            for reading in readings:
                images.update(self._normal.get(reading, ()))
            if images:
                return images
        return set()

    def _by_id(self, name: str) -> set[K]:
        word = name.strip().lower()
        hashes = [word] if word in self._ids else images_of_id(word, self._hashes)
        return {image for sha256 in hashes for image in self._ids[sha256]}

    def _longer(self, name: str) -> set[K]:
        for readings in spellings(name):
            ends = (end for reading in readings for end in place_suffixes(reading))
            if images := {image for end in ends for image in self._normal.get(end, ())}:
                return images
        return set()

    def _shorter(self, name: str) -> set[K]:
        for readings in spellings(name):
            images: set[K] = set()
            for reading in readings:
                for path in self._by_file_name.get(reading.rpartition("/")[2], ()):
                    if path.endswith(f"/{reading.removeprefix('/')}"):
                        images.update(self._normal[path])
            if images:
                return images
        return set()

    def _numbered(self, name: str) -> set[K]:
        for readings in spellings(name):
            for reading in readings:
                if images := self._by_stem.get(reading):
                    index = _FRAME_INDEX.match(reading)
                    more = self._by_number.get(index["digits"], ()) if index else ()
                    return {*images, *more}
        index = _FRAME_INDEX.match(name.strip())
        return set(self._by_number.get(index["digits"], ())) if index else set()

    def _table(
        self, items: Iterable[tuple[str, K]], form: Callable[[str], str]
    ) -> dict[str, tuple[K, ...]]:
        table: dict[str, tuple[K, ...]] = {}
        for name, image in items:
            self._path_of.setdefault(image, name)
            _add(table, form(name), (image,))
        return table

    @cached_property
    def _normal(self) -> dict[str, tuple[K, ...]]:
        return _joined((normal_path(path), images) for path, images in self._exact.items())

    @cached_property
    def _hashes(self) -> list[str]:
        return sorted(name for name in self._ids if len(name) == SHA256_LENGTH)

    @cached_property
    def _by_file_name(self) -> dict[str, list[str]]:
        paths: dict[str, list[str]] = {}
        for path in self._normal:
            paths.setdefault(path.rpartition("/")[2], []).append(path)
        return paths

    @cached_property
    def _by_stem(self) -> dict[str, tuple[K, ...]]:
        return _joined(
            (stem, images)
            for path, images in self._normal.items()
            for stem in {PICTURE.sub("", path), PICTURE.sub("", path.rpartition("/")[2])}
        )

    @cached_property
    def _by_number(self) -> dict[str, tuple[K, ...]]:
        return _joined(
            (stem.lstrip("0") or "0", images)
            for stem, images in self._by_stem.items()
            if stem.isascii() and stem.isdecimal()
        )

    def _two(self, name: str, images: set[K]) -> str:
        fits = " and ".join(sorted(repr(self._path_of[image]) for image in images)[:3])
        return f"{name!r} fits {len(images)} images of {self._title} ({fits}); name it by its id"

    @cached_property
    def _folded(self) -> dict[str, str]:
        return {path.rpartition("/")[2].casefold(): path for path in self._exact}

    def _unknown(self, name: str) -> str:
        reason = f"{name!r} is no image of {self._title} (by path, id or SHA-256)"
        similar = self._folded.get(_likeliest(name).rpartition("/")[2].casefold())
        return reason if similar is None else f"{reason}; a similar name there is {similar!r}"


def images_of_id(image_id: str, hashes: Sequence[str]) -> list[str]:
    """Return the image that a release calls so, none, or the first two that it may be.

    Args:
        image_id: the beginning of a SHA-256.
        hashes: SHA-256 of all images, ascending.
    """
    if len(image_id) < SHORTEST_ID:
        return []
    at = bisect_left(hashes, image_id)
    return [sha256 for sha256 in hashes[at : at + 2] if sha256.startswith(image_id)]


def _likeliest(name: str) -> str:
    return next(spellings(name), [name])[0]


def _is_absolute(name: str) -> bool:
    return name.startswith(("/", "\\")) or ":" in name[:12]


def _joined(items: Iterable[tuple[str, tuple[K, ...]]]) -> dict[str, tuple[K, ...]]:
    table: dict[str, tuple[K, ...]] = {}
    for name, images in items:
        _add(table, name, images)
    return table


def _add(table: dict[str, tuple[K, ...]], name: str, images: tuple[K, ...]) -> None:
    known = table.get(name)
    table[name] = images if known is None else tuple(dict.fromkeys(known + images))
