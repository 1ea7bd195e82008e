"""Scores on a task of the VSD benchmark: what its official program prints."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from lookalike.cli.drawn_negatives import read_drawn
from lookalike.cli.output import Report
from lookalike.cli.run_options import N_PRODUCTS, check_runs
from lookalike.cli.score_release import named_apart, parse_measures, refuse_rules
from lookalike.cli.score_report import as_json, as_table, as_text, list_notes
from lookalike.io.errors import FormatError, InputError
from lookalike.io.named_images import rows_by_name
from lookalike.io.runs import read_run
from lookalike.io.tables import Run, sorted_names
from lookalike.io.vectors import holds_vectors, read_vectors
from lookalike.io.vsd_task import VsdTask, read_vsd_task
from lookalike.metrics.embedding_runs import NOTHING_TO_RANK, embedding_run, named_gallery
from lookalike.metrics.scoring import score_runs

MEASURES = (
    *("vsd_hr@5", "vsd_mrr@5", "vsd_hr@9", "vsd_mrr@9", "vsd_pair_mrr"),
    *("micro_roc_auc", "micro_pr_auc", "macro_roc_auc"),
)


def score_on_vsd_task(arguments: argparse.Namespace) -> Report:
    """Score runs by the labels, products, queries and gallery of a task.

    Raises:
        InputError: with file, line and reason; also if an option contradicts the task.
        OSError: if a file cannot be opened.
    """
    refuse_rules(arguments, "--vsd-task")
    if arguments.unit is not None:
        raise InputError("--unit gives intervals, which --vsd-task has none of, as its program")
    measures = parse_measures(arguments.measures or ",".join(MEASURES))
    task = read_vsd_task(arguments.vsd_task)
    qrels = task.qrels()
    negatives, band = read_drawn(arguments)
    drawn = [pair for listed in (negatives, band) if listed for pair in listed.pairs]
    ids_of = check_runs(arguments)
    read = [(path, *_run(arguments, path, task, drawn, ids_of.get(path))) for path in arguments.run]
    scored = score_runs(
        qrels,
        named_apart([(path, run) for path, run, _ in read]),
        measures,
        products=task.products,
        missing=arguments.missing,
        negatives=negatives,
        band_negatives=band,
        without_list=() if arguments.complete else None,
    )
    return Report(
        title=f"{task.name}: {', '.join(run.name for run in scored)}",
        text=as_text(task.name, qrels, scored, by_query=arguments.by_query),
        data={
            "task": {
                "name": task.name,
                "queries": len(task.queries()),
                "ranked": len(task.gallery()),
            }
        }
        | as_json(arguments, arguments.vsd_task, arguments.run, qrels, scored),
        table=as_table(qrels, scored, by_query=arguments.by_query),
        notes=[*list_notes(scored), *_notes(task, [(run.name, n) for _, run, n in read])],
    )


def _run(
    arguments: argparse.Namespace,
    path: Path,
    task: VsdTask,
    drawn: Sequence[tuple[str, str]],
    ids_path: Path | None,
) -> tuple[Run, int]:
    """Return scores of the task's queries and gallery, and how many others were left out."""
    if not holds_vectors(path):
        lower = arguments.lower_is_better
        return _within(read_run(path, lower_is_better=lower, depth=arguments.depth), task)
    table = read_vectors(path, ids_path)
    queries, gallery = task.queries(), task.gallery()
    row_of = rows_by_name(path, table, [*queries, *gallery])
    missing = [image for image in dict.fromkeys([*queries, *gallery]) if image not in row_of]
    if missing:
        reason = f"it has no vector of {len(missing):,} images of the task, such as {missing[0]!r}"
        raise FormatError(path, None, reason)
    if not queries or not gallery:
        raise FormatError(path, None, NOTHING_TO_RANK)
    pairs = [*((query, candidate) for query, candidate, _ in task.qrels()), *drawn]
    run = embedding_run(
        path.stem,
        table.vectors[[row_of[query] for query in queries]],
        table.vectors[[row_of[image] for image in gallery]],
        named_gallery(queries, gallery, pairs, task.products),
        n_products=N_PRODUCTS,
        is_lean=True,
    )
    return run, 0


def _within(run: Run, task: VsdTask) -> tuple[Run, int]:
    """Leave out what the task does not rank: it would take the places of what it does."""
    gallery = set(task.gallery())
    is_ranked = np.array([name in gallery for name in run.candidate_ids])[run.candidates]
    if is_ranked.all():
        return run, 0
    if not is_ranked.any():
        raise FormatError(run.name, None, f"it scores no image that {task.name} ranks, by path")
    rows = np.flatnonzero(is_ranked)
    queries, candidates = run.queries[rows], run.candidates[rows]
    query_ids, queries = sorted_names(run.query_ids, queries, np.unique(queries).tolist())
    candidate_ids, candidates = sorted_names(
        run.candidate_ids, candidates, np.unique(candidates).tolist()
    )
    kept = replace(
        run,
        query_ids=query_ids,
        candidate_ids=candidate_ids,
        queries=queries,
        candidates=candidates,
        scores=run.scores[rows],
    )
    return kept, int((~is_ranked).sum())


def _notes(task: VsdTask, left_out: Sequence[tuple[str, int]]) -> Iterator[str]:
    for name, n in left_out:
        if n:
            yield f"run {name!r}: {n:,} scores of images that the task does not rank are left out"
    products = task.products
    own = sum(products.get(q) == products.get(c) for q, c, _ in task.qrels())
    if own:
        yield (
            f"{own:,} labelled pairs show one product and are left out here; in its areas the "
            "benchmark's program counts them"
        )
