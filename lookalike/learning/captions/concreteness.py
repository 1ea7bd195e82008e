"""How concrete words are: whether one can see what they name. The ratings are a file of the user's.

Source: Brysbaert, Warriner and Kuperman (Behavior Research Methods, 2014), whose table is not
free to be shipped; Vaze et al., "GeneCIS" (CVPR 2023), for what is made of it.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from math import isfinite
from pathlib import Path

from lookalike.core.errors import Refused
from lookalike.io.errors import FormatError

WORD, RATING = "Word", "Conc.M"
LEAST, MOST = 1.0, 5.0
MISSING = -1.0  # the score of what the table does not know


class Concreteness:
    """Ratings of words and of their plurals, in lower case.

    A plural has the rating of its singular, in place of one of its own, as in the paper's code.

    Args:
        ratings: {word: mean rating, from 1 to 5}, in the order of the table.

    Raises:
        Refused: `inflect`, which makes the plurals, is not installed.
    """

    def __init__(self, ratings: Mapping[str, float]) -> None:
        known = {word.lower(): rating for word, rating in ratings.items()}
        self._ratings = known | _plurals(known)

    def score(self, entity: str) -> float:
        """Return the rating of an entity, looked up as a whole, or MISSING."""
        return self._ratings.get(entity.lower(), MISSING)

    def __len__(self) -> int:
        return len(self._ratings)


def read_concreteness(path: str | Path) -> Concreteness:
    """Return the ratings of a file with tabs and the columns Word and Conc.M.

    Raises:
        FormatError: other columns, a rating that is no number from 1 to 5, or no word at all.
        Refused: as `Concreteness`.
        OSError: it cannot be opened.
    """
    path = Path(path)
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = csv.DictReader(file, delimiter="\t")
        header = rows.fieldnames or []
        if WORD not in header or RATING not in header:
            shown = ", ".join(header[:8])
            reason = f"the columns are {shown}; {WORD} and {RATING} are needed, with tabs between"
            raise FormatError(path, 1, reason)
        ratings = {row[WORD]: _rating(path, rows.line_num, row[RATING]) for row in rows}
    if not ratings:
        raise FormatError(path, None, "no word is rated")
    return Concreteness(ratings)


def _rating(path: Path, line: int, cell: str | None) -> float:
    try:
        rating = float(cell or "")
    except ValueError:
        rating = float("nan")
    if not (isfinite(rating) and LEAST <= rating <= MOST):
        raise FormatError(path, line, f"{cell!r} is no rating from {LEAST:g} to {MOST:g}")
    return rating


def _plurals(ratings: Mapping[str, float]) -> dict[str, float]:
    try:
        import inflect  # noqa: PLC0415 - of the extra `captions`
    except ImportError as problem:
        hint = "inflect is needed for plurals: pip install 'lookalike[captions]'"
        raise Refused("concreteness", hint) from problem
    engine = inflect.engine()
    return {engine.plural(word): rating for word, rating in ratings.items() if word.strip()}
