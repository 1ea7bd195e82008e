"""Labels and runs as arrays: the output of readers and the input of measures."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from lookalike.core.arrays import Bools, Floats, Ints
from lookalike.io.errors import FormatError, InputError
from lookalike.io.pair_values import grade_value, label_value, rank_value, score_value

NO_COLUMN = np.inf  # in the place of a rank, where a file has no ranks
IF_DISTANCES = "if they are distances, say that lower is better (--lower-is-better)"


class Row(NamedTuple):
    """One line of a file: its number, the two ids, the value and the rank as they stand there.

    The rank is None in files without a column of ranks, and an empty text where it is left out.
    """

    line: int
    query: str
    candidate: str
    value: object
    rank: object = None


@dataclass(frozen=True)
class Qrels:
    """The judged pairs. A pair without a row is unjudged, which is not the same as negative.

    Attributes:
        query_ids: distinct, in ascending order; so codes sort as ids do.
        candidate_ids: distinct, in ascending order.
        queries: shape (n_pairs,), positions in `query_ids`.
        candidates: shape (n_pairs,), positions in `candidate_ids`.
        labels: shape (n_pairs,), 0 or 1. Each (query, candidate) occurs once.
        grades: shape (n_pairs,), whole numbers from 0 to `MAX_GRADE` that the labels were made
            of; None if there are none. Only nDCG looks at them.
        unjudged: pairs of the pool that were not judged, which TREC marks by -1: of the same
            queries, with labels of 0 that mean nothing. Only infAP looks at them. None: no such
            pair is known.
    """

    query_ids: tuple[str, ...]
    candidate_ids: tuple[str, ...]
    queries: Ints
    candidates: Ints
    labels: NDArray[np.int8]
    grades: Ints | None = None
    unjudged: Qrels | None = None

    @classmethod
    def of(cls, pairs: Iterable[tuple[str, str, int]], *, min_rel: int | None = None) -> Qrels:
        """Build labels from (query, candidate, label), or grade; see `read_qrels`.

        Raises:
            FormatError: as `read_qrels`, with the position of the pair as its line.
        """
        rows = (Row(i, *pair) for i, pair in enumerate(pairs, 1))
        return labels_from("labels", rows, min_rel=min_rel)

    def by_query(self) -> dict[str, dict[str, int]]:
        """Return {query: {candidate: label}}."""
        table: dict[str, dict[str, int]] = {query: {} for query in self.query_ids}
        for query, candidate, label in self:
            table[query][candidate] = label
        return table

    def __iter__(self) -> Iterator[tuple[str, str, int]]:
        for q, c, label in zip(
            self.queries.tolist(), self.candidates.tolist(), self.labels.tolist(), strict=True
        ):
            yield self.query_ids[q], self.candidate_ids[c], label

    def __len__(self) -> int:
        return int(self.labels.size)


class WholeLists(Protocol):
    """Ranks every candidate, for measures that look below the depth of a run."""

    def runs(self) -> Iterator[Run]:
        """Yield runs of a few queries each that list every candidate."""


@dataclass(frozen=True)
class Run:
    """The scores a system gives to pairs: any set of pairs, higher is more similar.

    Attributes:
        name: what to call it in a table.
        query_ids, candidate_ids, queries, candidates: as in `Qrels`.
        scores: shape (n_pairs,), finite. Each (query, candidate) occurs once.
        depth: the exact depth, at least 1: down to this rank every list is complete. Rows below
            it have scores, but no ranks. None: the lists are all that the system ranks.
        deeper: ranks below `depth`; None where nobody can tell them.
        notes: what whoever reads its numbers should know.
    """

    name: str
    query_ids: tuple[str, ...]
    candidate_ids: tuple[str, ...]
    queries: Ints
    candidates: Ints
    scores: Floats
    depth: int | None = None
    deeper: WholeLists | None = field(default=None, repr=False, compare=False)
    notes: tuple[str, ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        if self.depth is not None and self.depth < 1:
            raise InputError(f"run {self.name!r}: the depth {self.depth} is not 1 or more")

    @classmethod
    def of(
        cls, name: str, pairs: Iterable[tuple[str, str, float]], *, depth: int | None = None
    ) -> Run:
        """Build a run from (query, candidate, score).

        Args:
            name: of the run.
            pairs: each once.
            depth: the exact depth, as of `Run`.

        Raises:
            FormatError: as `read_run`, with the position of the pair as its line.
            InputError: a depth below 1.
        """
        rows = (Row(i, *pair) for i, pair in enumerate(pairs, 1))
        return replace(scores_from(name, name, rows), depth=depth)

    def by_query(self) -> dict[str, dict[str, float]]:
        """Return {query: {candidate: score}}."""
        table: dict[str, dict[str, float]] = {query: {} for query in self.query_ids}
        for q, c, score in zip(
            self.queries.tolist(), self.candidates.tolist(), self.scores.tolist(), strict=True
        ):
            table[self.query_ids[q]][self.candidate_ids[c]] = score
        return table

    def __len__(self) -> int:
        return int(self.scores.size)


def labels_from(
    file: str | Path, rows: Iterable[Row], *, unit: str = "line", min_rel: int | None = None
) -> Qrels:
    """Check rows and keep them as labels; a repeated pair with the same label counts once.

    Args:
        file: to name in messages.
        rows: as they stand in the file.
        unit: the word for a row of the file.
        min_rel: the least grade that is positive; a negative grade marks a pair of the pool that
            was not judged. None: there are no grades.

    Raises:
        FormatError: an empty id, a label outside {0, 1} or a grade that is no whole number or
            above `MAX_GRADE`, a pair with two different labels, or no row at all.
    """
    coded = _Coded()
    for row in rows:
        read = label_value if min_rel is None else grade_value
        label = read(file, row.line, row.value, unit)
        coded.add(file, row, max(label, -1), unit)
    first, repeated = coded.repeats()
    for i in repeated.tolist():
        if coded.values[i] != coded.values[first[i]]:
            reason = f"{coded.pair(i)} has label {coded.values[i]:g} here and "
            reason += f"{coded.values[first[i]]:g} in {unit} {coded.lines[first[i]]}"
            raise FormatError(file, coded.lines[i], reason, unit=unit)
    query_ids, candidate_ids, queries, candidates, values = coded.table(file, repeated)
    if min_rel is None:
        return Qrels(query_ids, candidate_ids, queries, candidates, values.astype(np.int8))
    is_judged = values >= 0
    if not is_judged.any():
        raise FormatError(file, None, "no pair is judged: every grade is negative")

    def part(kept: Bools) -> Qrels:
        pairs = queries[kept], candidates[kept]
        labels = (values[kept] >= min_rel).astype(np.int8)
        return Qrels(query_ids, candidate_ids, *pairs, labels, values[kept].astype(np.int64))

    unjudged = None if is_judged.all() else replace(part(~is_judged), grades=None)
    return replace(part(is_judged), unjudged=unjudged)


def scores_from(
    file: str | Path,
    name: str,
    rows: Iterable[Row],
    *,
    unit: str = "line",
    merge: bool = False,
    lower_is_better: bool = False,
) -> Run:
    """Check rows and keep them as a run.

    Args:
        file: to name in messages.
        name: of the run.
        rows: as they stand in the file.
        unit: the word for a row of the file.
        merge: take a repeated pair with the same score once, for files that may name one image
            in two ways; otherwise every repeated pair is refused.
        lower_is_better: the scores are distances: take their negatives.

    Raises:
        FormatError: an empty id, a score that is no finite number, a repeated pair, or no row
            at all.
    """
    coded, ranks = _Coded(), array("d")
    for row in rows:
        coded.add(file, row, score_value(file, row.line, row.value, unit), unit)
        ranks.append(NO_COLUMN if row.rank is None else rank_value(row.rank))
    first, repeated = coded.repeats()
    refused = [
        i for i in repeated.tolist() if not merge or coded.values[i] != coded.values[first[i]]
    ]
    for i in refused[:1]:
        reason = f"{coded.pair(i)} was scored before, in {unit} {coded.lines[first[i]]}"
        raise FormatError(file, coded.lines[i], reason, unit=unit)
    run = Run(name, *coded.table(file, repeated))
    if lower_is_better:
        run = replace(run, scores=0.0 - run.scores)
    return with_ranks(run, np.delete(np.frombuffer(ranks), repeated))


def with_ranks(run: Run, ranks: Floats) -> Run:
    """Return a run with what its file's column of ranks says of it.

    Scores alone order the lists. A pair without a rank stands below the exact depth; and where
    scores rise from rank to rank, they are probably distances, which a note says.

    Args:
        run: the scores.
        ranks: shape (n_pairs,); NaN for a pair without one, `NO_COLUMN` without a column.
    """
    is_known = np.isfinite(ranks)
    if not is_known.any():
        return run
    n_known = np.bincount(run.queries[is_known], minlength=len(run.query_ids))
    if np.isnan(ranks).any():
        run = replace(run, depth=max(1, int(n_known.min())))
    order = np.lexsort((ranks, run.queries))[: ranks.size]
    order = order[is_known[order]]
    q, r, s = run.queries[order], ranks[order], run.scores[order]
    is_next = (q[1:] == q[:-1]) & (r[1:] > r[:-1])
    n_rising = int((is_next & (s[1:] > s[:-1])).sum())
    n_falling = int((is_next & (s[1:] < s[:-1])).sum())
    if n_rising <= n_falling:
        return run
    note = (
        f"WARNING: the scores contradict the ranks of the file: from one rank to the next, "
        f"{n_rising:,} of {n_rising + n_falling:,} rise. Scores count, not ranks, and the highest "
        f"is the best; {IF_DISTANCES}"
    )
    return replace(run, notes=(*run.notes, note))


class _Coded:
    """Rows as small arrays: ids become numbers on arrival, so a long run fits into memory."""

    def __init__(self) -> None:
        self.query_codes: dict[str, int] = {}
        self.candidate_codes: dict[str, int] = {}
        self.queries = array("q")
        self.candidates = array("q")
        self.values = array("d")
        self.lines = array("q")

    def add(self, file: str | Path, row: Row, value: float, unit: str) -> None:
        if not (_is_text(row.query) and _is_text(row.candidate)):
            odd = row.candidate if _is_text(row.query) else row.query
            raise FormatError(file, row.line, f"the id {odd!r} is not a string", unit=unit)
        if not row.query or not row.candidate:
            which = "candidate" if row.query else "query"
            raise FormatError(file, row.line, f"the {which} is empty", unit=unit)
        self.queries.append(self.query_codes.setdefault(row.query, len(self.query_codes)))
        self.candidates.append(
            self.candidate_codes.setdefault(row.candidate, len(self.candidate_codes))
        )
        self.values.append(value)
        self.lines.append(row.line)

    def pair(self, i: int) -> str:
        query = list(self.query_codes)[self.queries[i]]
        candidate = list(self.candidate_codes)[self.candidates[i]]
        return f"the pair {query!r}, {candidate!r}"

    def repeats(self) -> tuple[Ints, Ints]:
        """Return for each row the first row of the same pair, and the rows that are not it."""
        queries, candidates = _ints(self.queries), _ints(self.candidates)
        key = queries * max(len(self.candidate_codes), 1) + candidates
        _, first, which = np.unique(key, return_index=True, return_inverse=True)
        of_row = first[which].astype(np.int64)
        return of_row, np.flatnonzero(of_row != np.arange(of_row.size))

    def table(
        self, file: str | Path, without: Ints
    ) -> tuple[tuple[str, ...], tuple[str, ...], Ints, Ints, Floats]:
        if not self.values:
            raise FormatError(file, None, "the file holds no pairs")
        kept = np.ones(len(self.values), dtype=bool)
        kept[without] = False
        query_ids, queries = sorted_names(list(self.query_codes), _ints(self.queries)[kept])
        names = list(self.candidate_codes)
        candidate_ids, candidates = sorted_names(names, _ints(self.candidates)[kept])
        values = np.frombuffer(self.values, dtype=np.float64)[kept]
        return query_ids, candidate_ids, queries, candidates, values


def _is_text(name: object) -> bool:
    return isinstance(name, str)


def _ints(values: array[int]) -> Ints:
    return np.frombuffer(values, dtype=np.int64) if values else np.zeros(0, dtype=np.int64)


def sorted_names(
    names: Sequence[str], codes: Ints, used: Iterable[int] | None = None
) -> tuple[tuple[str, ...], Ints]:
    """Return names in ascending order, and codes renumbered so that they sort as their names do.

    Args:
        names: distinct.
        codes: any shape, positions in `names`.
        used: positions of the names to keep, among them all of `codes`; None: every name.
    """
    order = sorted(range(len(names)) if used is None else used, key=names.__getitem__)
    place = np.zeros(len(names), dtype=np.int64)
    place[order] = np.arange(len(order))
    return tuple(names[code] for code in order), place[codes]
