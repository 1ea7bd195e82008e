"""What commands score: runs and vectors, how they are read, and what missing scores mean."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lookalike.cli.options import rank
from lookalike.cli.vector_options import FORMATS, add_ids, ids_by_file
from lookalike.io.errors import FormatError, InputError
from lookalike.io.matched_names import MatchedNames
from lookalike.io.named_images import rows_by_image
from lookalike.io.runs import read_run
from lookalike.io.tables import Qrels, Run
from lookalike.io.vectors import holds_vectors, read_vectors
from lookalike.metrics.embedding_runs import NOTHING_TO_RANK, embedding_run, named_gallery
from lookalike.metrics.match import MissingScoresError

RUNS = "scores: TREC, CSV, JSON, parquet, or a .npz of ranked lists or of a matrix"
N_PRODUCTS = 20  # cut-offs of vectors up to here are exact


def add_runs(
    parser: argparse.ArgumentParser, text: str = RUNS, metavar: str = "FILE", also: str = ""
) -> None:
    """Add `--run` and `--vectors`, whose order is that of the models, and `--ids`."""
    parser.add_argument(
        "--run", type="input", action="append", default=[], metavar=metavar,
        help=f"{text}; may be repeated{also}",
    )  # fmt: skip
    parser.add_argument(
        "--vectors", type="input", action=_VectorRun, default=[], metavar="FILE",
        help=f"vectors, which rank all images that they hold by cosine: {FORMATS}; may be "
        f"repeated{also}",
    )  # fmt: skip
    add_ids(parser)


def add_missing(parser: argparse.ArgumentParser) -> None:
    """Add `--missing`: what to do about judged pairs without a score."""
    parser.add_argument(
        "--missing",
        choices=("error", "worst"),
        default="error",
        help="judged pairs without a score: refuse the run, or rank them below all others",
    )


def add_score_rules(parser: argparse.ArgumentParser) -> None:
    """Add how scores of runs are to be read."""
    parser.add_argument(
        "--lower-is-better",
        action="store_true",
        help="scores of runs are distances: rank by rising score (vectors are ranked by cosine)",
    )
    parser.add_argument(
        "--depth",
        type=rank,
        metavar="RANK",
        help="down to this rank every list of the runs is complete, and what stands below was "
        "scored because it was judged: measures that look further down are undefined (a parquet "
        "run may state it itself)",
    )


class _VectorRun(argparse.Action):
    """Takes a file of vectors as a model, in the order of the command's words."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        namespace.vectors = [*namespace.vectors, values]
        namespace.run = [*namespace.run, values]


def check_runs(arguments: argparse.Namespace) -> Mapping[Path, Path]:
    """Check the files that are given as vectors, and return the file of ids of each .npy.

    Raises:
        InputError: scores given as vectors, or not as many files of ids as of .npy.
        OSError: a file cannot be opened.
    """
    for path in arguments.vectors:
        if not holds_vectors(path):
            raise FormatError(path, None, "it holds no vectors; name scores by --run")
    files = [path for path in arguments.run if path in arguments.vectors or path.is_file()]
    return ids_by_file(arguments, files)


def require_runs(arguments: argparse.Namespace) -> None:
    """Refuse to go on with nothing to score."""
    if not arguments.run:
        raise InputError("name what to score: --run FILE or --vectors FILE")


def read_runs(
    arguments: argparse.Namespace,
    qrels: Qrels,
    names: MatchedNames,
    *,
    products: Mapping[str, str] | None = None,
    further: Sequence[tuple[str, str]] = (),
) -> list[tuple[Path, Run]]:
    """Return the run of each file; vectors rank all images that they hold.

    Args:
        arguments: with `run`, `vectors`, `ids`, `lower_is_better` and `depth`.
        qrels: the labels.
        names: of images, which runs and vectors may write differently.
        products: of images.
        further: pairs that vectors score, too.

    Raises:
        InputError: with file, row and reason.
        OSError: a file cannot be opened.
    """
    ids_of = check_runs(arguments)

    def ranked(path: Path) -> Run:
        if not holds_vectors(path):
            lower, depth = arguments.lower_is_better, arguments.depth
            return names.run(read_run(path, lower_is_better=lower, depth=depth))
        table = read_vectors(path, ids_of.get(path))
        pairs = [*((query, candidate) for query, candidate, _ in qrels), *further]
        matched = names.match(table.ids, str(path))
        row_of = rows_by_image(path, table, lambda name: matched.get(name, name))
        images = sorted(row_of)
        queries = [query for query in qrels.query_ids if query in row_of]
        if not queries:
            raise FormatError(path, None, NOTHING_TO_RANK)
        return embedding_run(
            path.stem,
            table.vectors[[row_of[query] for query in queries]],
            table.vectors[[row_of[image] for image in images]],
            named_gallery(queries, images, pairs, products),
            n_products=N_PRODUCTS,
            is_lean=True,
        )

    return [(path, ranked(path)) for path in arguments.run]


@contextmanager
def hint_at_missing(hint: str = "(--missing worst)") -> Iterator[None]:
    """Add to an error about missing scores which option accepts them."""
    try:
        yield
    except MissingScoresError as error:
        raise MissingScoresError(f"{error} {hint}") from error
