"""The votes of a release that count."""

from __future__ import annotations

from typing import Any

from lookalike.release.errors import ReleaseError
from lookalike.release.format.folder import Folder
from lookalike.release.format.tables import rows_of

ANSWERS = {"similar": 1, "different": 0}


def counted_votes(folder: Folder, label: str = "answer") -> list[tuple[str, str, str, Any]]:
    """Return query, image, judge and label of each vote that counts.

    Args:
        folder: the release.
        label: column of judgements: "answer", or "grade" where pairs are graded.

    Raises:
        ReleaseError: no vote counts.
    """
    table = folder.table("judgements")
    columns = ("query_id", "image_id", "annotator", label, "answer", "is_counted")
    votes = [
        (query, image, judge, value)
        for query, image, judge, value, answer, counts in rows_of(table, *columns)
        if counts and answer in ANSWERS
    ]
    if not votes:
        raise ReleaseError(f"{folder.place}: data/judgements.parquet holds no vote that counts")
    return votes
