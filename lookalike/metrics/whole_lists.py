"""Ranks as deep as the measures need: from a run's own lists, or from all that its system ranks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from lookalike.core.arrays import Bools, Ints
from lookalike.io.tables import Qrels, Run, sorted_names
from lookalike.metrics.match import WHOLE, AlignedRun, Mode, match_run
from lookalike.metrics.measures import Lists, Measure
from lookalike.metrics.rank import JudgedRanks, rank_run


def rank_lists(
    qrels: Qrels,
    run: Run,
    aligned: AlignedRun,
    measures: Sequence[Measure],
    *,
    products: Mapping[str, str] | None = None,
    mode: Mode = "image",
    trec: bool = False,
) -> Lists:
    """Return the ranks of the judged candidates, down to where the measures look.

    A run that knows ranks below its depth (`Run.deeper`) is ranked whole where a measure looks
    down there, a few queries at a time; otherwise its own lists are ranked.

    Args:
        qrels: the labels.
        run: the scores.
        aligned: `match_run` of both, in the same mode.
        measures: what will be asked of the ranks.
        products: as in `match_run`.
        mode: as in `match_run`; vsd_ measures always look at images.
        trec: order ties as trec_eval does.
    """

    def ranked(labels: Qrels, part: Run, matched: AlignedRun) -> tuple[JudgedRanks, JudgedRanks]:
        images = matched if mode == "image" else match_run(labels, part, products=products)
        plain = rank_run(matched, order="trec" if trec else "id")
        return plain, rank_run(images, one_per_product=True)

    lists = Lists(*ranked(qrels, run, aligned), as_trec=trec)
    if run.deeper is None or not any(is_short(measure, lists).any() for measure in measures):
        return lists
    names: list[Sequence[str]] = []
    parts: list[tuple[JudgedRanks, JudgedRanks]] = []
    for part in run.deeper.runs():
        labels = _labels_of(qrels, part)
        if len(labels):
            matched = match_run(labels, part, products=products, mode=mode)
            names.append(labels.query_ids)
            parts.append(ranked(labels, part, matched))
    plain = _joined(lists.plain, qrels.query_ids, names, [part[0] for part in parts])
    per_product = _joined(lists.one_per_product, qrels.query_ids, names, [p[1] for p in parts])
    return replace(lists, plain=plain, one_per_product=per_product)


def is_short(measure: Measure, lists: Lists) -> Bools:
    """Return for which queries a measure looks below the exact depth, shape (n_queries,)."""
    depths = measure.depths(lists)
    short: Bools = (depths < WHOLE) & (measure.reach(lists) > depths)
    return short


def why_short(measure: Measure, lists: Lists) -> str:
    """Return why a measure has no value on lists that end above where it looks; "" if it has one.

    A mean over the other queries would be another measure, so that none is given.
    """
    short = is_short(measure, lists)
    if not short.any():
        return ""
    deepest = measure.reach(lists)[short].max()
    needed = "the whole list" if np.isinf(deepest) else f"ranks down to {deepest:.0f}"
    unit = "products" if measure.needs_products else "ranks"
    depth = int(measure.depths(lists)[short].min())
    return (
        f"it needs {needed}, and the run is complete down to {depth:,} {unit} only "
        f"({int(short.sum()):,} of {short.size:,} queries)"
    )


def _labels_of(qrels: Qrels, run: Run) -> Qrels:
    """Return the labels of a run's queries."""
    known = set(run.query_ids)
    is_asked = np.array([query in known for query in qrels.query_ids], np.bool_)
    kept = is_asked[qrels.queries]
    queries, candidates = qrels.queries[kept], qrels.candidates[kept]
    used = np.unique(candidates).tolist()
    query_ids, queries = sorted_names(qrels.query_ids, queries, np.flatnonzero(is_asked).tolist())
    candidate_ids, candidates = sorted_names(qrels.candidate_ids, candidates, used)
    grades = None if qrels.grades is None else qrels.grades[kept]
    return Qrels(query_ids, candidate_ids, queries, candidates, qrels.labels[kept], grades)


def _joined(
    own: JudgedRanks,
    query_ids: Sequence[str],
    names: Sequence[Sequence[str]],
    parts: Sequence[JudgedRanks],
) -> JudgedRanks:
    """Put the ranks of some queries in the place of a run's own.

    Args:
        own: of all queries.
        query_ids: their names.
        names: those of the queries of each part.
        parts: the ranks among whole lists.
    """
    code_of = {name: code for code, name in enumerate(query_ids)}
    codes = [np.array([code_of[name] for name in of], np.int64) for of in names]
    is_replaced = np.zeros(own.n_queries, np.bool_)
    by_query = {name: getattr(own, name).copy() for name in ("n_listed", "first_tie", "depths")}
    for at, part in zip(codes, parts, strict=True):
        is_replaced[at] = True
        for name, values in by_query.items():
            values[at] = getattr(part, name)
    kept = ~is_replaced[own.queries]
    queries = np.concatenate(
        [own.queries[kept], *(c[p.queries] for c, p in zip(codes, parts, strict=True))]
    )
    order = np.argsort(queries, kind="stable")

    def column(name: str) -> Ints:
        values = [getattr(own, name)[kept], *(getattr(part, name) for part in parts)]
        return np.concatenate(values)[order]

    return JudgedRanks(
        own.n_queries,
        queries[order],
        labels=column("labels"),
        ranks=column("ranks"),
        tie_ends=column("tie_ends"),
        grades=None if own.grades is None else column("grades"),
        **by_query,
    )
