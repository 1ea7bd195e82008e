"""What services of this app raise when they refuse; the message is for a person."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from lookalike.conditional.types import Defect
from lookalike.core.errors import Refused

MAX_SHOWN = 100


class DefectsError(Refused):
    """A file has entries that cannot go in; nothing was stored."""

    def __init__(self, n_entries: int, defects: Sequence[Defect], file_name: str = "") -> None:
        n_bad = len({defect.index for defect in defects})
        lines = [f"entry {one.index}: {one.reason}" for one in defects[:MAX_SHOWN]]
        if len(defects) > MAX_SHOWN:
            lines.append(f"and {len(defects) - MAX_SHOWN:,} more")
        super().__init__(
            "file",
            f"{f'{file_name}: ' if file_name else ''}{n_bad:,} of {n_entries:,} entries cannot go "
            "in. Nothing was stored; “Keep the good entries” (--keep-good) imports the others.\n"
            + "\n".join(lines),
        )
        self.n_entries = n_entries
        self.defects = list(defects)


def in_their_words(problem: Exception, called: Mapping[Path, str]) -> str:
    """Return what an error says, with files named as their giver does."""
    told = str(problem)
    for path, name in called.items():
        told = told.replace(str(path), name).replace(path.name, name)
    return told
