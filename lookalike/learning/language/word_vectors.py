"""Names as the mean of the vectors of their words, from a file of the user's."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from lookalike.backbones.protocol import unit_rows
from lookalike.core.arrays import Float32s
from lookalike.core.errors import Refused
from lookalike.io.errors import FormatError

_WORD = re.compile(r"[^\W_]+")


class WordVectors:
    """Word vectors as word2vec, GloVe and fastText write them as text: a line for each word.

    Source: Roth, Vinyals and Akata (CVPR 2022), section 4.4, which compares such vectors with
    sentences. Of a large file only the lines of wanted words are kept.

    Args:
        path: of the file; its first line may say how many words and numbers follow.

    Attributes:
        spec: "vectors:" and the file's name.

    Raises:
        Refused: there is no such file.
    """

    def __init__(self, path: Path) -> None:
        if not path.is_file():
            raise Refused("language", f"{path} is no file of word vectors")
        self._path = path
        self.spec = f"vectors:{path.name}"

    def rows(self, names: Sequence[str]) -> Float32s:
        """Return unit rows, shape (n, d); words that are not in the file do not count.

        Raises:
            Refused: none of a name's words is in the file.
            FormatError: a line is no word with its numbers.
        """
        words = [_WORD.findall(name.lower()) for name in names]
        known = self._vectors({word for of in words for word in of})
        means = []
        for name, of in zip(names, words, strict=True):
            found = [known[word] for word in of if word in known]
            if not found:
                raise Refused("language", f"{self.spec} has no word of {name!r}")
            means.append(unit_rows(np.array(found)).mean(axis=0))
        return unit_rows(np.array(means))

    def _vectors(self, wanted: set[str]) -> dict[str, Float32s]:
        try:
            with self._path.open(encoding="utf-8") as file:
                return self._read(file, wanted)
        except UnicodeDecodeError as problem:
            raise FormatError(self._path, None, "is no text in UTF-8") from problem

    def _read(self, lines: Iterable[str], wanted: set[str]) -> dict[str, Float32s]:
        found: dict[str, Float32s] = {}
        for number, line in enumerate(lines, 1):
            word, _, numbers = line.partition(" ")
            if word not in wanted or word in found:
                continue
            try:
                vector = np.array(numbers.split(), np.float32)
            except ValueError as problem:
                raise FormatError(self._path, number, f"{word!r} has no numbers") from problem
            if number == 1 and vector.size == 1:  # how many words, and of how many numbers
                continue
            size = len(next(iter(found.values()), vector))
            if not (vector.size == size and np.isfinite(vector).all() and vector.any()):
                reason = f"what follows {word!r} is not {size} finite numbers, or all are 0"
                raise FormatError(self._path, number, reason)
            found[word] = vector
        return found
