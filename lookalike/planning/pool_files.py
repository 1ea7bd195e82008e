"""A campaign's files as the arrays that rounds and estimates take, and rounds as files."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lookalike.bias.evidence.files import Proposals, make_proposals
from lookalike.core.arrays import Bools, Floats, Ints
from lookalike.io.column_table import ColumnTable
from lookalike.io.errors import FormatError, InputError
from lookalike.io.tables import Qrels, Run
from lookalike.io.writers import write_csv
from lookalike.metrics.match import AlignedRun, Missing, has_list, match_run, pair_scores
from lookalike.planning.label_model import LABEL_MODEL
from lookalike.planning.pool import RankedPool
from lookalike.planning.rounds import Round
from lookalike.stats.units import PRODUCT, Units

_ENDLESS = np.iinfo(np.int64).max
COLUMNS = ("query", "candidate", "probability", "drawn")
OF_THE_DRAW = ("seed", "guess")  # facts kept beside them, which no estimate needs
NO_GUESS = "none"


@dataclass(frozen=True)
class NamedPool:
    """A pool with the names of its pairs.

    Attributes:
        pool: the pairs.
        pairs: (query, candidate) of each.
    """

    pool: RankedPool
    pairs: tuple[tuple[str, str], ...]

    def labels(self, qrels: Qrels) -> Floats:
        """Return the label of each pair, NaN for one that is not judged.

        Raises:
            InputError: no pair of the pool has a label.
        """
        label_of = {(query, candidate): label for query, candidate, label in qrels}
        labels = np.array([label_of.get(pair, np.nan) for pair in self.pairs], dtype=np.float64)
        if np.isnan(labels).all():
            raise InputError(
                f"no pair of the pool has a label (the pool has {self.pairs[0]!r}, the labels "
                f"have {next(iter(label_of))!r})"
            )
        return labels

    def votes(self, rows: Sequence[tuple[str, str, int, int]], n_judges: int) -> Floats:
        """Return what each judge said of each pair, NaN for nothing: (n_pairs, n_judges)."""
        at = {pair: i for i, pair in enumerate(self.pairs)}
        votes = np.full((len(self.pairs), n_judges), np.nan)
        for query, candidate, judge, value in rows:
            if (query, candidate) in at:
                votes[at[query, candidate], judge] = value
        return votes


def named_pool(
    proposals: Proposals,
    runs: Sequence[Run],
    *,
    missing: Missing = "error",
    products: Mapping[str, str] | None = None,
    unit_of: Mapping[str, str] | None = None,
    unit: str = PRODUCT,
) -> NamedPool:
    """Return the pool that proposals made, with the ranks and scores that runs give its pairs.

    Args:
        proposals: which pairs there are, and how deep the pool is.
        runs: of the models to measure; whole lists, not the pool's pairs alone.
        missing: what a pair without a score means, as in `pair_scores`.
        products: product of each image, where the pool left out those of the query's own.
        unit_of: the independent unit of each query, "" where unknown; None: each query is one.
        unit: what a unit is, as `Units.name`.

    Raises:
        InputError: two runs of one name, a run that ranks nothing but pairs of the pool, or an
            outsider: a run with candidates that were never put to the judges, down to the depth
            of the shallowest source; or a run whose lists end above that depth. The pool is as
            deep as the deepest source down to whose depth every run's lists are complete and it
            holds their candidates.
        MissingScoresError: as `pair_scores`, with the run's name.
    """
    names = [run.name for run in runs]
    if len(set(names)) < len(names):
        raise InputError("two runs have the same name: each model has one")
    keys = np.unique(proposals.queries * len(proposals.candidate_ids) + proposals.candidates)
    codes = np.divmod(keys, len(proposals.candidate_ids))
    pairs = [
        (proposals.query_ids[q], proposals.candidate_ids[c])
        for q, c in zip(*(code.tolist() for code in codes), strict=True)
    ]
    wanted = Qrels.of((query, candidate, 0) for query, candidate in pairs)
    ranks, scores, lists = [], [], []
    for run in runs:
        aligned = match_run(wanted, run, products=products)
        if not has_list(aligned):
            raise InputError(
                f"run {run.name!r} ranks pairs of the pool alone: ranks need its whole lists"
            )
        try:
            scores.append(pair_scores(aligned, missing))
        except InputError as error:
            raise type(error)(f"run {run.name!r}: {error}") from error
        rank_of = aligned.ranks
        at = aligned.judged_at
        is_asked = np.zeros(rank_of.size, dtype=np.bool_)
        is_asked[at[at >= 0]] = True
        rank_of = _asked_first(aligned, rank_of, is_asked)
        ranks.append(np.where(at >= 0, rank_of[at], 0))
        lists.append(_Ranks(run.name, rank_of[rank_of > 0], rank_of[~is_asked & (rank_of > 0)],
                            aligned.depth))  # fmt: skip
    pool = RankedPool(
        models=tuple(names),
        n_queries=len(wanted.query_ids),
        queries=wanted.queries,
        ranks=np.stack(ranks),
        scores=np.stack(scores),
        depth=_depth(proposals, lists),
        units=None if unit_of is None else Units.of(wanted.query_ids, unit_of, unit),
    )
    named = zip(wanted.queries.tolist(), wanted.candidates.tolist(), strict=True)
    return NamedPool(pool, tuple((wanted.query_ids[q], wanted.candidate_ids[c]) for q, c in named))


def _asked_first(aligned: AlignedRun, ranks: Ints, is_asked: Bools) -> Ints:
    """Return the ranks with pairs that judges are asked before those that they tie with.

    A model's search had to break each tie when the pool was made; who was asked tells how.
    """
    order = aligned.by_rank
    group = np.cumsum(aligned.is_first)
    settled = order[np.lexsort((np.arange(order.size), ~is_asked[order], group))]
    found = np.empty_like(ranks)
    found[settled] = ranks[order]
    return found


@dataclass(frozen=True)
class _Ranks:
    """A run's ranks.

    Attributes:
        name: of the run.
        listed: of all its candidates.
        unasked: of those that were never put to the judges.
        depth: down to which every list is complete.
    """

    name: str
    listed: Ints
    unasked: Ints
    depth: int


def _depth(proposals: Proposals, lists: Sequence[_Ranks]) -> int:
    """Return how deep all runs stand in the pool."""
    of_sources = np.zeros(len(proposals.generators), dtype=np.int64)
    np.maximum.at(of_sources, proposals.models, proposals.ranks)
    whole = min(min(int(of.unasked.min(initial=_ENDLESS)) - 1, of.depth) for of in lists)
    reached = of_sources[of_sources <= whole]
    if reached.size:
        return int(reached.max())
    depth = int(of_sources.min())
    for of in lists:
        if of.depth < depth:
            raise InputError(_too_short(of.name, of.depth, depth))
        n = int((of.unasked <= depth).sum())
        if n:
            n_listed = int((of.listed <= depth).sum())
            raise InputError(
                f"run {of.name!r}: {n:,} of its {n_listed:,} candidates down to rank {depth} were "
                "never put to the judges; nothing is estimated for an outsider of the pool"
            )
    raise AssertionError("a run is whole down to the shallowest source")


def _too_short(name: str, depth: int, needed: int) -> str:
    return (
        f"run {name!r} is complete down to rank {depth:,} only, and the pool is {needed:,} deep: "
        "what it scores below has no rank"
    )


def with_newcomers(
    proposals: Proposals,
    newcomers: Sequence[Run],
    queries: Collection[str],
    products: Mapping[str, str] | None = None,
) -> Proposals:
    """Return the proposals of a pool and, as deep, of newcomers, for some of its queries.

    Args:
        proposals: of the pool.
        newcomers: runs of models that have not built it.
        queries: that are kept.
        products: product of each image, where the pool left out those of the query's own.

    Raises:
        InputError: none of these queries is of the pool, or a newcomer's lists end above its
            depth.
    """
    codes = zip(
        proposals.queries.tolist(), proposals.candidates.tolist(), proposals.models.tolist(),
        proposals.ranks.tolist(), strict=True,
    )  # fmt: skip
    rows = [
        (proposals.query_ids[q], proposals.candidate_ids[c], proposals.generators[m], rank)
        for q, c, m, rank in codes
        if proposals.query_ids[q] in queries
    ]
    deepest = np.zeros(len(proposals.generators), dtype=np.int64)
    np.maximum.at(deepest, proposals.models, proposals.ranks)
    for one in newcomers:
        rows += _proposed(one, queries, int(deepest.min()), products or {})
    if not rows:
        raise InputError("no query of the pool is in every newcomer's run")
    return make_proposals(rows)


def _proposed(
    run: Run, queries: Collection[str], depth: int, products: Mapping[str, str]
) -> Iterator[tuple[str, str, str, int]]:
    asked = [row for row in _first_rows(run) if row[0] in queries]
    if not asked:
        return
    aligned = match_run(Qrels.of(asked), run, products=products or None)
    if aligned.depth < depth:
        raise InputError(_too_short(run.name, aligned.depth, depth))
    ranks = aligned.ranks
    for row in np.flatnonzero((ranks > 0) & (ranks <= depth)).tolist():
        query = aligned.query_ids[aligned.run_queries[row]]
        yield query, aligned.candidate_ids[aligned.run_candidates[row]], run.name, int(ranks[row])


def _first_rows(run: Run) -> list[tuple[str, str, int]]:
    """Return a pair of each query of a run, as labels need one."""
    queries, first = np.unique(run.queries, return_index=True)
    return [
        (run.query_ids[query], run.candidate_ids[run.candidates[row]], 0)
        for query, row in zip(queries.tolist(), first.tolist(), strict=True)
    ]


def write_round(
    path: Path, pool: NamedPool, drawn: Round, *, seed: int, guess: str = LABEL_MODEL
) -> None:
    """Write a round: one row for each pair that was open.

    Args:
        path: of a new file.
        pool: whose pairs they are.
        drawn: the round.
        seed: it was drawn with.
        guess: name and version of the label model behind the probabilities, or `NO_GUESS`.
    """
    rows = (
        (*pool.pairs[i], f"{drawn.probabilities[i]:.6g}", int(drawn.drawn[i]), seed, guess)
        for i in np.flatnonzero(~np.isnan(drawn.probabilities)).tolist()
    )
    with path.open("w", encoding="utf-8", newline="") as out:
        write_csv(out, rows, (*COLUMNS, *OF_THE_DRAW))


def read_round(path: Path, pool: NamedPool) -> Round:
    """Return a round as `write_round` wrote it.

    Raises:
        FormatError: a missing column, a pair twice or not of the pool, a probability outside
            (0, 1], a drawn that is neither 0 nor 1.
        OSError: if the file cannot be opened.
    """
    at = {pair: i for i, pair in enumerate(pool.pairs)}
    probabilities = np.full(len(pool.pairs), np.nan)
    drawn = np.zeros(len(pool.pairs), dtype=np.bool_)
    table = ColumnTable(path, COLUMNS)
    for line, (query, candidate, probability, was_drawn) in table:
        pair = (query, candidate)
        if pair not in at:
            raise table.refused(line, f"{pair!r} is no pair of the pool")
        if not np.isnan(probabilities[at[pair]]):
            raise table.refused(line, f"{pair!r} stands here twice")
        if was_drawn not in ("0", "1"):
            raise table.refused(line, f"drawn is {was_drawn!r}, neither 0 nor 1")
        value = _number(probability)
        if not 0.0 < value <= 1.0:
            raise table.refused(line, f"probability {probability!r} is not in (0, 1]")
        probabilities[at[pair]], drawn[at[pair]] = value, was_drawn == "1"
    if np.isnan(probabilities).all():
        raise FormatError(path, None, "the file holds no pair")
    return Round(probabilities, drawn)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return float("nan")
