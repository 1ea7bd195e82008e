"""`lookalike conditional alignment`: greedy and transport accuracy of an accuracy matrix."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from lookalike.cli.output import Report
from lookalike.conditional.alignment import Alignment, SinkhornResult, align, sinkhorn_accuracy
from lookalike.conditional.formats.tables import AccuracyMatrix, read_matrix
from lookalike.io.documents import Table
from lookalike.io.errors import InputError

DESCRIPTION = (
    "Match conditions with embeddings on a matrix of accuracies, and score the match on it or on "
    "another."
)
EXAMPLE = "lookalike conditional alignment validation.csv --test test.csv"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument(
        "matrix", type="input", metavar="MATRIX.csv", help="condition,<embedding>,... in [0, 1]"
    )
    parser.add_argument(
        "--test", type="input", metavar="MATRIX.csv", help="score here what is fitted on the first"
    )
    parser.add_argument(
        "--sinkhorn",
        type=float,
        default=1e-3,
        metavar="REG",
        help="regularisation of the comparison (default: %(default)s, the released code's)",
    )


def run(arguments: argparse.Namespace) -> Report:
    """Match, and score the match.

    Raises:
        InputError: with file, line and reason; or two matrices with other names.
        OSError: if a file cannot be opened.
    """
    matrix = read_matrix(arguments.matrix)
    test = None if arguments.test is None else _like(matrix, read_matrix(arguments.test), arguments)
    if not arguments.sinkhorn > 0:
        raise InputError(f"--sinkhorn {arguments.sinkhorn} is not above 0")
    values = None if test is None else test.values
    found = align(matrix.values, values)
    entropic = sinkhorn_accuracy(matrix.values, values, arguments.sinkhorn)
    return Report(
        title=f"Alignment on {arguments.test or arguments.matrix}",
        text="\n".join(_lines(matrix, found, entropic, arguments.sinkhorn)) + "\n",
        data=_report(matrix, found, entropic),
        table=_table(matrix, found),
    )


def _like(
    matrix: AccuracyMatrix, test: AccuracyMatrix, arguments: argparse.Namespace
) -> AccuracyMatrix:
    """Return the test matrix in the order of the first one."""
    for what, ours, theirs in (
        ("conditions", matrix.conditions, test.conditions),
        ("embeddings", matrix.embeddings, test.embeddings),
    ):
        if sorted(ours) != sorted(theirs):
            raise InputError(f"{arguments.test} has other {what} than {arguments.matrix}")
    rows = [test.conditions.index(name) for name in matrix.conditions]
    columns = [test.embeddings.index(name) for name in matrix.embeddings]
    return AccuracyMatrix(matrix.conditions, matrix.embeddings, test.values[rows][:, columns])


def _report(
    matrix: AccuracyMatrix, found: Alignment, entropic: SinkhornResult
) -> dict[str, object]:
    return {
        "ot_accuracy": found.ot,
        "greedy_accuracy": found.greedy,
        "greedy_accuracy_chosen_on_test": found.greedy_on_test,
        "conditions": {
            name: {
                "ot_accuracy": float(found.by_condition[row]),
                "embedding": matrix.embeddings[found.main_choice[row]],
                "greedy_embedding": matrix.embeddings[found.greedy_choice[row]],
                "plan": dict(zip(matrix.embeddings, found.plan[row].tolist(), strict=True)),
            }
            for row, name in enumerate(matrix.conditions)
        },
        "sinkhorn": {
            "reported": entropic.reported,
            "mass": entropic.mass,
            "failure": entropic.failure or None,
        },
    }


def _table(matrix: AccuracyMatrix, found: Alignment) -> Table:
    chosen = [[matrix.embeddings[k] for k in of] for of in (found.main_choice, found.greedy_choice)]
    return Table(
        ("condition", "ot_accuracy", "embedding", "greedy_embedding"),
        list(zip(matrix.conditions, found.by_condition.tolist(), *chosen, strict=True)),
    )


def _lines(
    matrix: AccuracyMatrix, found: Alignment, entropic: SinkhornResult, regularisation: float
) -> Iterator[str]:
    n_conditions, n_embeddings = found.plan.shape
    yield f"{n_conditions} conditions, {n_embeddings} embeddings"
    yield f"OT accuracy      {found.ot:.6f}  exact transport"
    yield f"greedy accuracy  {found.greedy:.6f}  chosen on the first matrix"
    yield f"                 {found.greedy_on_test:.6f}  chosen where it is scored"
    failure = f"  FAILED: {entropic.failure}" if entropic.failure else ""
    yield f"Sinkhorn {regularisation:g}   {entropic.reported:.6f}  for comparison only{failure}"
    width = max(len(name) for name in matrix.conditions)
    for row, name in enumerate(matrix.conditions):
        shares = [
            f"{matrix.embeddings[k]} {found.plan[row, k] * n_conditions:.0%}"
            for k in found.plan[row].argsort(kind="stable")[::-1]
            if found.plan[row, k] > 1e-12
        ]
        yield f"{name:<{width}}  {found.by_condition[row]:.6f}  {', '.join(shares)}"
