"""Read every answer about pairs from any file of votes, with what else the file says of each."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from lookalike.io.answer_files import answers_in
from lookalike.io.column_table import ColumnTable, column_names
from lookalike.io.errors import FormatError
from lookalike.io.json_text import read_json
from lookalike.io.judgements import holds_judgements
from lookalike.io.label_words import NO_VOTE, label_of, plain_word
from lookalike.io.numbered_rows import TableError
from lookalike.io.pair_answers import (
    CANT_TELL,
    SKIP,
    VOTES,
    PairAnswer,
    PairAnswers,
    one_answer_each,
)
from lookalike.io.values import ValueKind, repaired
from lookalike.io.vote_options import VoteOptions
from lookalike.io.vote_rows import begins_json, schema_of, vote_rows

_OF_A_RELEASE = (
    *("query_id", "image_id", "annotator", "answer", "reason", "is_counted", "decided_at"),
    *("visible_ms", "guideline_version"),
)
_TRUE = frozenset({"true", "1"})


def read_pair_answers(path: str | Path, options: VoteOptions) -> PairAnswers | None:
    """Return the answers of judges in a file; None if it holds labels alone or something else.

    Args:
        path: JSON of Label Studio or FiftyOne, a release's judgements, or a CSV or parquet file
            with query,candidate,annotator,value.
        options: how to read votes.

    Raises:
        FormatError, TableError: the file has votes that cannot be read.
        OSError: if the file cannot be opened.
    """
    path = Path(path)
    if begins_json(path):
        return answers_in(read_json(path), options)
    if holds_judgements(path):
        answers, unit = list(_judgements(path)), "line"
    elif len(schema_of(column_names(path))) == 4:
        answers, unit = list(_votes(path, options)), "row"
    else:
        return None
    if not answers:
        raise FormatError(path, None, "there are no votes")
    counted, notes = one_answer_each(path, answers, options.repeats, unit=unit)
    return PairAnswers(counted, notes=(*options.notes, *notes))


def _judgements(path: Path) -> Iterator[PairAnswer]:
    names = column_names(path)
    graded = ("grade",) if "grade" in names else ()
    if missing := [name for name in _OF_A_RELEASE if name not in names]:
        raise FormatError(path, 1, f"a release's judgements also have {', '.join(missing)}")
    table = ColumnTable(path, (*_OF_A_RELEASE, *graded), may_be_empty=("reason", *graded))
    for line, cells in table:
        query, image, judge, answer, reason, counts, time, *numbers = cells
        try:
            visible_ms, version, *grades = (int(text) if text else None for text in numbers)
        except ValueError as error:
            raise table.refused(line, f"{error}: no whole number") from error
        yield PairAnswer(
            query,
            image,
            judge,
            _word(path, line, answer, table.unit),
            grade=grades[0] if grades else None,
            reason=reason,
            is_counted=counts.lower() in _TRUE,
            decided_at=time,
            visible_ms=visible_ms or 0,
            guideline_version=version,
            line=line,
        )


def _votes(path: Path, options: VoteOptions) -> Iterator[PairAnswer]:
    problems: list[str] = []
    for row in vote_rows(path, options, problems):
        word = _word(path, row.row, repaired(row.label, ValueKind.LABEL), "row")
        images, judge = (row.item, row.candidate), repaired(row.worker)
        yield PairAnswer(*images, judge, word, is_counted=word in VOTES, line=row.row)
    if problems:
        raise TableError(str(path), problems)


def _word(path: Path, line: int, text: str, unit: str) -> str:
    label = label_of(text)
    if label is not None:
        return VOTES[label]
    if plain_word(text) in NO_VOTE:
        return SKIP if plain_word(text) == SKIP else CANT_TELL
    reason = f"the answer {text!r} is none of similar, different, can't tell and skip"
    raise FormatError(path, line, reason, unit=unit)
