"""The refusal that lists the entries of a file."""

from __future__ import annotations

from collections.abc import Sequence

from lookalike.conditional.types import Defect
from lookalike.core.errors import Refused

MAX_SHOWN = 100


class DefectsError(Refused):
    """A file has entries that cannot go in; nothing was stored."""

    def __init__(self, n_entries: int, defects: Sequence[Defect], file_name: str = "") -> None:
        n_bad = len({defect.index for defect in defects})
        lines = [f"entry {defect.index}: {defect.reason}" for defect in defects[:MAX_SHOWN]]
        if len(defects) > MAX_SHOWN:
            lines.append(f"and {len(defects) - MAX_SHOWN:,} more")
        super().__init__(
            "file",
            f"{f'{file_name}: ' if file_name else ''}{n_bad:,} of {n_entries:,} entries cannot go "
            "in. Nothing was stored; “Keep the good entries” (--keep-good) imports the others.\n"
            + "\n".join(lines),
        )
