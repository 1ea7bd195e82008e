"""Names of one image in several files: labels, runs, products, votes.

Files write one name differently: `./a.jpg`, `a%20b.jpg`, `shoes\\1.jpg`, a URL, another Unicode
form, `7.0` of a data frame. Every file is brought to the names of the labels by
`lookalike.io.image_names`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Protocol, TypeVar

import numpy as np

from lookalike.core.arrays import Ints
from lookalike.io.errors import InputError
from lookalike.io.image_names import AmbiguousImageError, ImageNames, UnknownImageError
from lookalike.io.image_spellings import normal_path
from lookalike.io.tables import Run
from lookalike.io.values import repaired


class PairTable(Protocol):
    """A dataclass of pairs: ids in ascending order, and codes that point into them."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def query_ids(self) -> tuple[str, ...]:
        """Names of queries."""

    @property
    def candidate_ids(self) -> tuple[str, ...]:
        """Names of candidates."""

    @property
    def queries(self) -> Ints:
        """Positions in `query_ids`."""

    @property
    def candidates(self) -> Ints:
        """Positions in `candidate_ids`."""


T = TypeVar("T", bound=PairTable)
# A name without any of these has one reading, its normal path.
_MAY_READ_OTHERWISE = re.compile(r"[%+?#&]|://|^\s|\s\Z|^file:")


class MatchedNames:
    """Brings names of further files to the names that are known already.

    Only a name that no file wrote before is matched, and only with a known name that its own file
    lacks: a name that occurs as it stands is always itself.

    Args:
        known: names of the labels.
        title: of the file they come from, for messages.

    Attributes:
        notes: a sentence for each file whose names were matched.

    Example:
        >>> names = MatchedNames(["shoes/1 a.jpg", "b.jpg"])
        >>> names.match(["./shoes/1%20a.jpg", "b.jpg", "c.jpg"], "run beit")
        {'./shoes/1%20a.jpg': 'shoes/1 a.jpg'}
    """

    def __init__(self, known: Iterable[str], title: str = "the labels") -> None:
        self._known = set(known)
        self._title = title
        self.notes: list[str] = []

    def add(self, names: Iterable[str]) -> None:
        """Take names of a file, after they were matched, for known ones."""
        self._known.update(names)

    def match(self, names: Iterable[str], file: str) -> dict[str, str]:
        """Return {name: known name} of the names that the file writes differently.

        Args:
            names: of the file.
            file: its name in messages.

        Raises:
            InputError: a name fits two known images, or two names fit one.
        """
        held = set(names)
        missing, strange = self._known - held, held - self._known
        if not strange:
            return {}
        self._refuse_second_spellings(held, strange, file)
        matched: dict[str, str] = {}
        for name, known in _matches(missing, strange, self._title, file) if missing else ():
            if matched.setdefault(name, known) != known:
                fits = f"{matched[name]!r} and {known!r}"
                raise InputError(f"{file}: {name!r} fits two images of {self._title}: {fits}")
        name_of: dict[str, str] = {}
        for name, known in sorted(matched.items()):
            first = name_of.setdefault(known, name)
            if first != name:
                raise InputError(_twice(file, first, name, f"{known!r} of {self._title}"))
        if matched:
            self.notes.append(f"{file}: {self._words(matched)}")
        return matched

    def _words(self, matched: Mapping[str, str]) -> str:
        name, known = min(matched.items())
        return (
            f"{len(matched):,} names are written differently in {self._title} and were matched "
            f"(first: {name!r} is {known!r})"
        )

    def _refuse_second_spellings(self, held: set[str], strange: set[str], file: str) -> None:
        """Refuse a path that is written in another way than a known one of the same file."""
        for name in strange:
            form = _form(name)
            if form != name and form in self._known and form in held:
                raise InputError(_twice(file, form, name, "one path"))

    def table(self, table: T, file: str) -> T:
        """Return pairs under known names.

        Raises:
            InputError: as `match`.
        """
        matched = self.match({*table.query_ids, *table.candidate_ids}, file)
        if not matched:
            return table
        query_ids, queries = _renamed(table.query_ids, table.queries, matched)
        candidate_ids, candidates = _renamed(table.candidate_ids, table.candidates, matched)
        return replace(
            table,
            query_ids=query_ids,
            queries=queries,
            candidate_ids=candidate_ids,
            candidates=candidates,
        )

    def run(self, run: Run) -> Run:
        """Return a run under known names; its own notes say so.

        Raises:
            InputError: as `match`.
        """
        n_notes, file = len(self.notes), f"run {run.name!r}"
        matched = self.table(run, file)
        notes = [note.removeprefix(f"{file}: ") for note in self.notes[n_notes:]]
        del self.notes[n_notes:]
        return replace(matched, notes=(*matched.notes, *notes)) if notes else matched

    def mapping(self, values: Mapping[str, str], file: str) -> dict[str, str]:
        """Return {image: value} under known names, which further files may use.

        Raises:
            InputError: as `match`.
        """
        matched = self.match(values, file)
        renamed = {matched.get(name, name): value for name, value in values.items()}
        self.add(renamed)
        return renamed

    def pairs(self, pairs: Sequence[tuple[str, str]], file: str) -> list[tuple[str, str]]:
        """Return pairs of images under known names, which further files may use.

        Raises:
            InputError: as `match`.
        """
        matched = self.match({name for pair in pairs for name in pair}, file)
        renamed = [(matched.get(q, q), matched.get(c, c)) for q, c in pairs]
        self.add(name for pair in renamed for name in pair)
        return renamed


def _matches(
    missing: Collection[str], strange: Collection[str], title: str, file: str
) -> Iterable[tuple[str, str]]:
    """Yield (name of the file, known name) in both directions: either may be the quoted one."""
    by_form: dict[str, list[str]] = {}
    for known in missing:
        by_form.setdefault(_form(known), []).append(known)
    for name in strange:
        yield from ((name, known) for known in by_form.get(_form(name), ()))
    if quoted := sorted(filter(_MAY_READ_OTHERWISE.search, missing)):
        of_file = _resolver(strange, file)
        yield from ((name, known) for known in quoted if (name := _found(of_file, known, file)))
    if quoted := sorted(filter(_MAY_READ_OTHERWISE.search, strange)):
        of_known = _resolver(missing, title)
        yield from ((name, known) for name in quoted if (known := _found(of_known, name, file)))


def _form(name: str) -> str:
    """Return a name without traces of spreadsheets (`7.0` is `7`), as a normal path."""
    return normal_path(repaired(name))


def _resolver(names: Iterable[str], title: str) -> ImageNames[str]:
    return ImageNames(((name, name) for name in names), title=title, is_whole=False)


def _found(names: ImageNames[str], name: str, file: str) -> str:
    try:
        return names.find(name)
    except AmbiguousImageError as problem:
        raise InputError(f"{file}: {problem}") from problem
    except UnknownImageError:
        return ""


def _twice(file: str, first: str, second: str, what: str) -> str:
    return f"{file}: {first!r} and {second!r} are both {what}; name each image once"


def _renamed(
    ids: Sequence[str], codes: Ints, matched: Mapping[str, str]
) -> tuple[tuple[str, ...], Ints]:
    """Return ids under other names in ascending order, and the codes that fit them."""
    names = [matched.get(name, name) for name in ids]
    order = sorted(range(len(names)), key=names.__getitem__)
    place = np.empty(len(names), np.int64)
    place[order] = np.arange(len(names))
    return tuple(names[at] for at in order), place[codes]
