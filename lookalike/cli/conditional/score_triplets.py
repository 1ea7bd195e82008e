"""`lookalike conditional score-triplets`: an embedding, or a known scale, against people."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from lookalike.cli.output import Report
from lookalike.cli.vector_options import add_vectors, read_one
from lookalike.cli.vote_options import add_vote_options, vote_options
from lookalike.conditional.column_spec import parse_where
from lookalike.conditional.formats.tables import read_scale
from lookalike.conditional.formats.triplet_files import TripletEntries, read_triplets
from lookalike.conditional.triplet_scores import (
    Agreement,
    human_ceiling,
    human_figures,
    score_triplets,
)
from lookalike.conditional.triplets import TripletTable, group_questions, vectors_for
from lookalike.io.documents import Table
from lookalike.io.errors import InputError

DESCRIPTION = "Score an embedding against human triplets, or compare people with a known scale."
EXAMPLE = "lookalike conditional score-triplets answers.csv --vectors vectors.npz"
MAX_SHOWN = 10


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument(
        "triplets",
        type="input",
        metavar="TRIPLETS.csv",
        help="anchor,closer,farther[,condition][,worker]",
    )
    add_vectors(parser, old_option="--embeddings")
    parser.add_argument("--metric", choices=("cosine", "euclidean"), default="cosine")
    parser.add_argument(
        "--scale", type="input", metavar="FILE", help="CSV image,value: the known order"
    )
    parser.add_argument(
        "--min-votes",
        type=int,
        default=3,
        metavar="N",
        help="votes of a question for the figures about people (default: %(default)s)",
    )
    parser.add_argument(
        "--where",
        action="append",
        default=[],
        metavar="COLUMN=VALUE",
        help="only these rows; may be given several times",
    )
    add_vote_options(parser)
    parser.add_argument("--skip-bad", action="store_true", help="leave bad rows out, and say so")


def run(arguments: argparse.Namespace) -> Report:
    """Score the votes.

    Raises:
        InputError: with file, row and reason; or neither --vectors nor --scale.
        OSError: if a file cannot be opened.
    """
    if not arguments.vectors and arguments.scale is None:
        raise InputError("give --vectors, --scale, or both")
    if arguments.min_votes < 1:
        raise InputError(f"--min-votes {arguments.min_votes} is not at least 1")
    options = vote_options(arguments)
    found = read_triplets(arguments.triplets, where=_filters(arguments.where), options=options)
    bad = [one for one in found.malformed if one.code != "repeated"]
    if bad and not arguments.skip_bad:
        raise InputError(_bad_rows(arguments.triplets, found))
    table = TripletTable.of(found.triplets)
    report = _people(table, arguments.min_votes)
    report["n_bad_rows"] = len(bad)
    if arguments.scale is not None:
        report["scale"] = _against_scale(table, arguments.scale, arguments.min_votes)
    if arguments.vectors:
        report["embedding"] = _of_embedding(table, arguments)
    return Report(
        title=f"Triplets of {arguments.triplets}",
        text="\n".join(_lines(report)) + "\n",
        data=report,
        table=_table(report),
        notes=options.notes,
    )


def _people(table: TripletTable, min_votes: int) -> dict[str, Any]:
    questions = group_questions(table)
    enough = questions.n_votes >= min_votes
    return {
        "n_votes": len(table),
        "n_questions": len(questions),
        "n_human_ties": int((questions.majority == 0).sum()),
        "min_votes": min_votes,
        "n_questions_with_min_votes": int(enough.sum()),
        "human_ceiling": human_ceiling(questions),
        "human_ceiling_with_min_votes": human_ceiling(questions, min_votes),
    }


def _against_scale(table: TripletTable, path: Path, min_votes: int) -> dict[str, Any]:
    scale = read_scale(path)
    missing = [image for image in table.images if image not in scale]
    if missing:
        raise InputError(f"{path}: no value for {len(missing):,} images (first: {missing[0]!r})")
    values = np.array([scale[image] for image in table.images])
    every = human_figures(table, values)
    often = human_figures(table, values, min_votes)
    return {
        "all_votes": _figures(every.single),
        "n_votes_undefined": every.n_undefined,
        "n_questions_with_min_votes": often.n_questions,
        "single_votes": _figures(often.single),
        "majority": _figures(often.majority),
    }


def _of_embedding(table: TripletTable, arguments: argparse.Namespace) -> dict[str, Any]:
    path, given = read_one(arguments)
    vectors = vectors_for(table, given)
    score = score_triplets(table, vectors, arguments.metric)
    return {
        "file": str(path),
        "metric": arguments.metric,
        "votes": _figures(score.votes),
        "majority": _figures(score.majority),
        "by_condition": {name: _figures(one) for name, one in score.by_condition.items()},
        "by_condition_majority": {
            name: _figures(one) for name, one in score.by_condition_majority.items()
        },
        "macro_accuracy": score.macro,
    }


def _figures(found: Agreement) -> dict[str, float]:
    return {
        "accuracy": found.accuracy,
        "without_ties": found.decided,
        "ties_as_wrong": found.pessimistic,
        "n": found.n,
        "n_ties": found.n_ties,
    }


def _filters(texts: list[str]) -> dict[str, str]:
    try:
        return parse_where(texts)
    except ValueError as problem:
        raise InputError(f"--where {problem}") from problem


def _bad_rows(path: Path, found: TripletEntries) -> str:
    shown = [f"row {defect.index}, {defect.reason}" for defect in found.malformed[:MAX_SHOWN]]
    more = len(found.malformed) - len(shown)
    text = "; ".join(shown) + (f"; and {more:,} more" if more else "")
    return f"{path}: {text}. --skip-bad leaves them out"


def _table(report: dict[str, Any]) -> Table:
    """Return a row for each set of votes that was compared."""
    scale, embedding = report.get("scale", {}), report.get("embedding", {})
    compared = {
        f"scale, {name}": scale[name] for name in ("all_votes", "single_votes", "majority") if scale
    }
    if embedding:
        compared |= {name: embedding[name] for name in ("votes", "majority")}
        for votes in ("by_condition", "by_condition_majority"):
            compared |= {f"{votes}, {name}": row for name, row in embedding[votes].items() if name}
    header = ("compared", "accuracy", "without_ties", "ties_as_wrong", "n", "n_ties")
    return Table(header, [[name, *figures.values()] for name, figures in compared.items()])


def _lines(report: dict[str, Any]) -> Iterator[str]:
    min_votes = report["min_votes"]
    yield (
        f"{report['n_votes']:,} votes on {report['n_questions']:,} questions, "
        f"{report['n_questions_with_min_votes']:,} with at least {min_votes} votes; "
        f"{report['n_human_ties']:,} undecided, {report['n_bad_rows']:,} bad rows left out"
    )
    yield f"human ceiling         {report['human_ceiling']:.3f} of all votes"
    often = report["human_ceiling_with_min_votes"]
    yield f"                      {often:.3f} where there are at least {min_votes} votes"
    if "scale" in report:
        scale = report["scale"]
        n_undefined, n_often = scale["n_votes_undefined"], scale["n_questions_with_min_votes"]
        yield f"people and the scale  ({n_undefined:,} votes where it has a tie left out)"
        yield _line("all votes", scale["all_votes"])
        yield f"  on the {n_often:,} questions with at least {min_votes} votes"
        yield _line("single votes", scale["single_votes"])
        yield _line("majority", scale["majority"])
    if "embedding" in report:
        found = report["embedding"]
        yield f"{found['file']} ({found['metric']})"
        yield _line("votes", found["votes"])
        yield _line("majority", found["majority"])
        for name, one in found["by_condition"].items():
            if name:
                yield _line(f"{name}, votes", one)
                yield _line(f"{name}, majority", found["by_condition_majority"][name])
        if len(found["by_condition"]) > 1:
            yield f"  {'mean of conditions':<20}{found['macro_accuracy']:.3f}"


def _line(name: str, found: dict[str, float]) -> str:
    return (
        f"  {name:<20}{found['accuracy']:.3f}  without ties {found['without_ties']:.3f}  "
        f"({found['n']:,}, {found['n_ties']:,} ties)"
    )
