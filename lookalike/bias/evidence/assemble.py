"""Align labels, proposals and runs as the evidence of one pool."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lookalike.bias.evidence.files import Proposals, VoteTable
from lookalike.bias.evidence.judged_pairs import JoinedPool, join_pool
from lookalike.bias.evidence.pool import Attribute, Lists, PoolEvidence, RandomNegatives, Votes
from lookalike.core.arrays import Floats, Ints
from lookalike.core.each import each
from lookalike.io.errors import InputError
from lookalike.io.tables import Qrels, Run
from lookalike.metrics.match import AlignedRun, Missing, has_list, match_run, pair_scores, scored_at
from lookalike.stats.units import PRODUCT, Units

MAX_ATTRIBUTE_VALUES = 30


@dataclass(frozen=True)
class Extras:
    """What a bias analysis can use beyond labels, proposals and runs.

    Attributes:
        families: {model: family}.
        products: {image: product}; pairs of one product are left out, as in scoring.
        votes: the answers behind the labels.
        attributes: {attribute: {image: value}}.
        negatives: frozen random negatives as (query, candidate).
        contamination: their estimated share of positives.
        unit_of: {query: independent unit} for intervals and tests; None: `products`.
        unit_name: what a unit is, "product" or the column that `unit_of` was read from.
        n_catalogue_pairs: pairs of a query with an image of the catalogue other than itself.
    """

    families: Mapping[str, str] | None = None
    products: Mapping[str, str] | None = None
    votes: VoteTable | None = None
    attributes: Mapping[str, Mapping[str, str]] | None = None
    negatives: Sequence[tuple[str, str]] = ()
    contamination: float | None = None
    unit_of: Mapping[str, str] | None = None
    unit_name: str = PRODUCT
    n_catalogue_pairs: int | None = None


def assemble_evidence(
    qrels: Qrels,
    proposals: Proposals,
    runs: Sequence[Run],
    *,
    missing: Missing = "error",
    extras: Extras | None = None,
) -> PoolEvidence:
    """Return the evidence of a pool from what its files hold.

    Judged pairs that no model proposed, and pairs of one product, are left out and counted.
    Proposed pairs without a label count for overlap and size only. A run that scores exactly
    the judged pairs has no list of its own, and no cut-off measure.

    Args:
        qrels: the labels.
        proposals: who proposed what; their queries are the queries of the pool.
        runs: the models to evaluate; one named like a generator is that generator.
        missing: what a judged pair without a score means, as in `pair_scores`.
        extras: anything more.

    Returns:
        The evidence.

    Raises:
        InputError: if runs share a name, a family names nobody, or no proposed pair is judged.
        MissingScoresError: as `pair_scores`, with the run's name.
    """
    more = extras or Extras()
    _check_names(proposals, runs, more)
    pool = join_pool(qrels, proposals, more.products)
    matches = [match_run(pool.qrels, run, products=more.products) for run in runs]
    scores = np.stack([_scores(run, m, missing) for run, m in zip(runs, matches, strict=True)])
    return PoolEvidence(
        n_queries=len(proposals.query_ids),
        queries=pool.qrels.queries,
        candidates=pool.qrels.candidates,
        labels=pool.qrels.labels.astype(np.float64),
        generators=proposals.generators,
        ranks=pool.ranks,
        models=tuple(run.name for run in runs),
        scores=scores,
        families=dict(more.families or {}),
        lists=_lists(matches),
        unjudged_queries=pool.unjudged_queries,
        unjudged_ranks=pool.unjudged_ranks,
        n_outside_pool=pool.n_outside,
        n_own_product=pool.n_own,
        n_catalogue_pairs=more.n_catalogue_pairs,
        votes=None if more.votes is None else _votes(pool, more.votes),
        attributes=tuple(
            _attribute(name, values, proposals, pool)
            for name, values in (more.attributes or {}).items()
        ),
        random_negatives=_negatives(pool, runs, matches, more, missing) if more.negatives else None,
        units=Units.of(
            proposals.query_ids,
            more.products if more.unit_of is None else more.unit_of,
            more.unit_name,
        ),
    )


def dividing_attributes(
    names: Sequence[str], attributes: Sequence[Mapping[str, str]]
) -> dict[str, dict[str, str]]:
    """Return the attributes that divide images into few enough groups to compare.

    Args:
        names: of the images.
        attributes: of each of them.
    """
    by_key: dict[str, dict[str, str]] = {}
    for name, of_image in zip(names, attributes, strict=True):
        for key, value in of_image.items():
            by_key.setdefault(key, {})[name] = value
    return {
        key: values
        for key, values in sorted(by_key.items())
        if 1 < len(set(values.values())) <= MAX_ATTRIBUTE_VALUES and len(values) >= len(names) / 2
    }


def _scores(run: Run, aligned: AlignedRun, missing: Missing) -> Floats:
    try:
        return pair_scores(aligned, missing)
    except InputError as error:
        raise type(error)(f"run {run.name!r}: {error}") from error


def _lists(matches: Sequence[AlignedRun]) -> Lists | None:
    """Rank every run by falling score, equal scores by id, as all cut-off measures here do.

    Returns:
        None if no run has a list.
    """
    known = np.array([has_list(aligned) for aligned in matches])
    if not known.any():
        return None

    def of_run(m: AlignedRun) -> tuple[Ints, Ints]:
        n_listed = np.bincount(m.run_queries, minlength=m.n_queries)
        n_listed = np.minimum(n_listed, m.depths)
        place, ranks = m.judged_at, m.ranks
        return np.where(place >= 0, ranks[place] if ranks.size else 0, 0), n_listed

    ranks, lengths = zip(*each(of_run, matches), strict=True)
    depths = np.array([aligned.depth for aligned in matches])
    return Lists(np.stack(ranks), np.stack(lengths), known, depths)


def _votes(pool: JoinedPool, table: VoteTable) -> Votes:
    """Align the answers with the pairs; answers to other pairs are left out."""
    query_of = {name: code for code, name in enumerate(pool.qrels.query_ids)}
    code_of = {name: code for code, name in enumerate(pool.qrels.candidate_ids)}
    n = len(pool.qrels.candidate_ids)
    keys = pool.qrels.queries * n + pool.qrels.candidates
    wanted = np.array(
        [
            query_of[q] * n + code_of[c] if q in query_of and c in code_of else -1
            for q, c, _, _ in table.rows
        ]
    )
    at = np.minimum(np.searchsorted(keys, wanted), keys.size - 1)
    is_found = keys[at] == wanted
    who, what = np.array([row[2:] for row in table.rows]).T
    shape = (keys.size, len(table.annotators))
    answers, is_given = np.zeros(shape, dtype=np.bool_), np.zeros(shape, dtype=np.bool_)
    answers[at[is_found], who[is_found]] = what[is_found] == 1
    is_given[at[is_found], who[is_found]] = True
    return Votes(table.annotators, answers, is_given)


def _attribute(
    name: str, values: Mapping[str, str], proposals: Proposals, pool: JoinedPool
) -> Attribute:
    ids = pool.qrels.candidate_ids
    of_candidate = np.array([values.get(image, "") for image in ids], dtype=np.str_)
    return Attribute(
        name=name,
        query_values=np.array([values.get(q, "") for q in proposals.query_ids], dtype=np.str_),
        candidate_values=of_candidate[pool.qrels.candidates],
        catalogue_counts=Counter(value for value in values.values() if value),
    )


def _negatives(
    pool: JoinedPool,
    runs: Sequence[Run],
    matches: Sequence[AlignedRun],
    more: Extras,
    missing: Missing,
) -> RandomNegatives:
    """Look up every run's scores of the frozen negatives that are still unjudged."""
    judged = {(query, candidate) for query, candidate, _ in pool.qrels}
    query_of = {name: code for code, name in enumerate(pool.qrels.query_ids)}
    kept = [pair for pair in more.negatives if pair not in judged]
    strange = next((q for q, _ in kept if q not in query_of), None)
    if strange is not None:
        raise InputError(f"the random negatives hold query {strange!r}, which is not in the pool")
    queries = np.array([query_of[q] for q, _ in kept], dtype=np.int64)
    rows = [
        _negative_scores(run, m, queries, [c for _, c in kept], missing)
        for run, m in zip(runs, matches, strict=True)
    ]
    return RandomNegatives(queries, np.stack(rows), more.contamination)


def _negative_scores(
    run: Run, aligned: AlignedRun, queries: Ints, names: list[str], missing: Missing
) -> Floats:
    """Return the scores of the negatives; NaN for all where one is missing that may be."""
    code_of = {name: code for code, name in enumerate(aligned.candidate_ids)}
    candidates = np.array([code_of.get(name, -1) for name in names], dtype=np.int64)
    place = np.where(candidates >= 0, scored_at(aligned, queries, np.maximum(candidates, 0)), -1)
    if (place < 0).any() and missing == "worst":
        return np.full(place.size, np.nan)
    if (place < 0).any():
        first = int(np.flatnonzero(place < 0)[0])
        raise InputError(
            f"run {run.name!r}: no score for {int((place < 0).sum())} of {place.size} random "
            f"negatives (first: query {aligned.query_ids[queries[first]]!r}, candidate "
            f"{names[first]!r})"
        )
    return aligned.scores[place]


def _check_names(proposals: Proposals, runs: Sequence[Run], more: Extras) -> None:
    names = [run.name for run in runs]
    repeated = [name for name, n in Counter(names).items() if n > 1]
    if repeated:
        raise InputError(f"two runs are called {repeated[0]!r}")
    known = {*names, *proposals.generators}
    for name in more.families or {}:
        if name not in known:
            raise InputError(f"the families name {name!r}, which is neither a run nor a generator")
