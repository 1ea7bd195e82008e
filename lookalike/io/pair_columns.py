"""Which columns of a table are the query, the candidate, and the label or score."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Literal

from lookalike.io.errors import FormatError

OF_A_RELEASE = ("query_id", "image_id", "label")  # where a pair may have no label
RANK = "rank"  # column of a run; pairs without a rank stand below its exact depth
Value = Literal["label", "score"]
Columns = tuple[str, str, str]
QUERY = ("query", "query_id", "qid", "q_id", "topic", "topic_id", "query_name", "queryid")
CANDIDATE = (
    *("candidate", "image_id", "corpus_id", "docno", "doc_id", "docid", "document_id", "doc"),
    *("candidate_id", "did", "pid", "image", "filepath", "document", "passage_id"),
)
LABEL = ("label", "relevance", "rel", "grade", "judgment", "judgement", "value", "score")
SCORE = ("score", "similarity", "sim")
VALUES: dict[Value, tuple[str, ...]] = {"label": LABEL, "score": SCORE}
_WHOLE = {  # columns that come together
    "label": (
        *(("query", "candidate", "label"), ("query-id", "corpus-id", "score")),
        *(OF_A_RELEASE, ("query", "filepath", "label")),
    ),
    "score": (("query", "candidate", "score"), ("query_id", "image_id", "score")),
}
_DISTANCES = frozenset({"distance", "dist", "distances"})
KNOWN = frozenset({*QUERY, *CANDIDATE, *LABEL, *SCORE, *_DISTANCES})


def plain_column(name: object) -> str:
    """Return the name of a column as names are compared.

    >>> plain_column(" Query-ID")
    'query_id'
    """
    return str(name).strip().lower().replace("-", "_").replace(" ", "_")


def is_header(cells: Collection[object]) -> bool:
    """Whether the cells of a first line are names of columns of pairs."""
    return len({plain_column(cell) for cell in cells} & KNOWN) > 1


def chosen_columns(
    path: Path, header: Sequence[str], value: Value, *, line: int | None = 1
) -> Columns:
    """Return the columns of query, candidate and label or score.

    First those that come together, such as query_id, image_id and label of a release; else one
    known name for each, in any spelling (`qid`, `docno`, `doc_id`, `relevance`).

    Args:
        path: of the file, for messages.
        header: names of its columns.
        value: the kind of the third column.
        line: of the header.

    Raises:
        FormatError: there is no such column, or several.
    """
    for columns in _WHOLE[value]:
        if all(header.count(name) == 1 for name in columns):
            return columns
    held = f"the columns are {','.join(map(str, header))!r}"
    needed = f"needed: {','.join(_WHOLE[value][0])}, or others such as {_WHOLE[value][1]}"
    chosen = []
    for names in (QUERY, CANDIDATE, VALUES[value]):
        found = [name for name in header if plain_column(name) in names]
        if names is LABEL and len(found) > 1:
            found = [name for name in found if plain_column(name) != "score"]
        if not found and names is SCORE and {*map(plain_column, header)} & _DISTANCES:
            advice = "name the column score and say that lower is better (--lower-is-better)"
            reason = f"{held}: of a run higher must be more similar; {advice}"
            raise FormatError(path, line, reason)
        if len(found) != 1:
            many = f"; several may be meant: {', '.join(found)}" if found else ""
            raise FormatError(path, line, f"{held}; {needed}{many}")
        chosen += found
    return chosen[0], chosen[1], chosen[2]
