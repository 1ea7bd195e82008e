"""Ranks as deep as the measures need: from a run's own lists, or from all that its system ranks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from lookalike.core.arrays import Bools, Ints
from lookalike.io.tables import Qrels, Run
from lookalike.metrics.match import WHOLE, AlignedRun, Mode, match_run
from lookalike.metrics.measures import Lists, Measure
from lookalike.metrics.rank import JudgedRanks, Order, rank_run


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

    def ranked(labels: Qrels, part: Run, matched: AlignedRun) -> Lists:
        images = matched if mode == "image" else match_run(labels, part, products=products)
        unjudged = None
        if (others := labels.unjudged) is not None:
            if mode == "product":
                others = _of_other_products(others, labels, products or {})
            of_others = match_run(others, part, products=products, mode=mode)
            unjudged = rank_run(of_others, order=order)
        plain = rank_run(matched, order=order)
        return Lists(plain, rank_run(images, one_per_product=True), trec, unjudged)

    order: Order = "trec" if trec else "id"
    lists = ranked(qrels, run, aligned)
    if run.deeper is None or not any(is_short(measure, lists).any() for measure in measures):
        return lists
    names: list[Sequence[str]] = []
    parts: list[Lists] = []
    for part in run.deeper.runs():
        labels = _labels_of(qrels, part)
        if labels.query_ids:
            names.append(labels.query_ids)
            matched = match_run(labels, part, products=products, mode=mode)
            parts.append(ranked(labels, part, matched))

    def joined(of: Callable[[Lists], JudgedRanks]) -> JudgedRanks:
        return _joined(of(lists), qrels.query_ids, names, [of(part) for part in parts])

    return Lists(
        joined(lambda x: x.plain),
        joined(lambda x: x.one_per_product),
        as_trec=trec,
        unjudged=joined(_unjudged) if lists.unjudged else None,
    )


def _of_other_products(others: Qrels, judged: Qrels, products: Mapping[str, str]) -> Qrels:
    """Leave out pairs of a product with a judged image: as one candidate it is judged."""
    is_judged = {(query, products.get(image) or image) for query, image, _ in judged}
    kept = [(query, products.get(image) or image) not in is_judged for query, image, _ in others]
    return replace(
        others,
        queries=others.queries[kept],
        candidates=others.candidates[kept],
        labels=others.labels[kept],
    )


def _unjudged(lists: Lists) -> JudgedRanks:
    if lists.unjudged is None:
        raise ValueError("no pair of the pool is known that was not judged")
    return lists.unjudged


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
    rows = [row for row, query in enumerate(qrels.query_ids) if query in known]
    code_of = np.full(len(qrels.query_ids), -1, np.int64)
    code_of[rows] = np.arange(len(rows))
    names = tuple(qrels.query_ids[row] for row in rows)

    def part(of: Qrels) -> Qrels:
        kept = code_of[of.queries] >= 0
        return replace(
            of,
            query_ids=names,
            queries=code_of[of.queries[kept]],
            candidates=of.candidates[kept],
            labels=of.labels[kept],
            grades=None if of.grades is None else of.grades[kept],
            unjudged=None if of.unjudged is None else part(of.unjudged),
        )

    return part(qrels)


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
