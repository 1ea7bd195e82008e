"""How alike names are by WordNet: how deep what they have in common lies (Wu and Palmer)."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import TypeVar

import numpy as np

from lookalike.backbones.protocol import unit_rows
from lookalike.core.arrays import Float32s, Floats
from lookalike.core.errors import Refused
from lookalike.io.errors import FormatError

INDEX, DATA = "index.noun", "data.noun"
ABOVE = ("@", "@i")  # what a noun is a kind of, or an instance of
_WORD = re.compile(r"[^\s_]+")
_ENDINGS = (("s", ""), ("ses", "s"), ("xes", "x"), ("zes", "z"), ("ches", "ch"), ("shes", "sh"),
            ("men", "man"), ("ies", "y"))  # fmt: skip
T = TypeVar("T")


class WordNet:
    """The nouns of a WordNet folder, from its files `index.noun` and `data.noun`.

    Source: Wu and Palmer, "Verb Semantics and Lexical Selection" (ACL 1994), section 4: 2 D /
    (n + m + 2 D), where D counts the concepts from the root to what two have in common, and n and m
    are the steps up to it. Where a concept has several above it, the greatest value counts. A name
    is taken in its most frequent sense; of a name that is no entry its last words count, so that
    “red bag” is a bag.

    Args:
        folder: `dict` of WordNet 3.

    Attributes:
        spec: "wordnet:" and the folder's name.

    Raises:
        Refused: the folder has no such files.
        FormatError: they cannot be read as what they should be.
    """

    def __init__(self, folder: Path) -> None:
        for name in (INDEX, DATA):
            if not (folder / name).is_file():
                reason = f"{folder} holds no {name}; give the folder dict of WordNet 3"
                raise Refused("language", f"{reason} (wordnet.princeton.edu)")
        self.spec = f"wordnet:{folder.name}"
        self._sense = _entries(folder / INDEX, lambda cells: cells[-int(cells[2])])
        self._above = _entries(folder / DATA, _parents)
        named = {above for of in self._above.values() for above in of} | {*self._sense.values()}
        if absent := named - self._above.keys():
            reason = f"has no concept {min(absent)}, which is named ({len(absent):,} are missing)"
            raise FormatError(folder / DATA, None, reason)
        self._depth = cache(self._count_depth)

    def rows(self, names: Sequence[str]) -> Float32s:
        """Return unit rows whose dot products are the similarities, shape (n, e).

        These are exact where nothing has several concepts above it, and else near.

        Raises:
            Refused: no noun is in a name.
        """
        senses = [self.sense(name) for name in names]
        used, places = np.unique(senses, return_inverse=True)
        values, vectors = np.linalg.eigh(self.similarities(used.tolist()))
        return unit_rows(vectors * np.sqrt(values.clip(min=0)))[places]

    def sense(self, name: str) -> str:
        """Return the concept that a name most often stands for.

        Raises:
            Refused: no noun is in it.
        """
        words = _WORD.findall(name.lower())
        for start in range(len(words)):
            for entry in _singulars("_".join(words[start:])):
                if entry in self._sense:
                    return self._sense[entry]
        raise Refused("language", f"{self.spec} has no noun for {name!r}")

    def similarities(self, senses: Sequence[str]) -> Floats:
        """Return how alike concepts are, shape (n, n), 0 to 1."""
        below: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for row, sense in enumerate(senses):
            for above, steps in self._steps_up(sense).items():
                below[above].append((row, steps))
        found = np.zeros((len(senses), len(senses)))
        for above, members in below.items():
            rows, steps = np.array(members).T
            common = 2 * self._depth(above)
            at = np.ix_(rows, rows)
            found[at] = np.maximum(found[at], common / (steps[:, None] + steps + common))
        return found

    def _steps_up(self, sense: str) -> dict[str, int]:
        """Return everything above a concept, and the fewest steps to it."""
        found, level, steps = {sense: 0}, [sense], 0
        while level:
            steps += 1
            level = [above for one in level for above in self._above[one] if above not in found]
            found |= dict.fromkeys(level, steps)
        return found

    def _count_depth(self, sense: str) -> int:
        """Return how many concepts there are from the root down to one, the longest way."""
        return 1 + max((self._depth(above) for above in self._above[sense]), default=0)


def _entries(path: Path, read: Callable[[list[str]], T]) -> dict[str, T]:
    """Return what is read of each line, by its first cell; the licence is indented."""
    found = {}
    with path.open(encoding="utf-8", errors="replace") as file:
        for number, line in enumerate(file, 1):
            if not line.startswith("  "):
                cells = line.partition("|")[0].split()
                try:
                    found[cells[0]] = read(cells)
                except (IndexError, ValueError) as problem:
                    raise FormatError(path, number, "is no entry of WordNet") from problem
    return found


def _parents(cells: Sequence[str]) -> tuple[str, ...]:
    """Return what is above a concept: after its words come its pointers, four cells each."""
    start = 5 + 2 * int(cells[3], 16)
    pointers = cells[start : start + 4 * int(cells[start - 1])]
    return tuple(
        to for sort, to in zip(pointers[::4], pointers[1::4], strict=True) if sort in ABOVE
    )


def _singulars(entry: str) -> Iterator[str]:
    yield entry
    for ending, instead in _ENDINGS:
        if entry.endswith(ending):
            yield entry.removesuffix(ending) + instead
