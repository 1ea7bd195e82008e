"""The files that both commands of rounds read."""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import numpy as np

from lookalike.bias.evidence.files import read_proposals
from lookalike.core.arrays import Floats
from lookalike.io.errors import InputError
from lookalike.io.labels import read_qrels
from lookalike.io.runs import read_run
from lookalike.planning.estimates import undrawn
from lookalike.planning.pool_files import NamedPool, named_pool, read_round
from lookalike.planning.rounds import Round


@dataclass(frozen=True)
class RoundFiles:
    """What the files say.

    Attributes:
        named: the pool.
        labels: shape (n_pairs,), NaN where unjudged or left out.
        rounds: that were drawn, in order.
        n_left_out: labels that `--drawn-only` left out.
    """

    named: NamedPool
    labels: Floats
    rounds: list[Round]
    n_left_out: int

    @property
    def notes(self) -> list[str]:
        """What a reader is told of labels that were left out."""
        said = "labels left out: their pairs were open in a round, and none drew them"
        return [f"{self.n_left_out:,} {said}"] if self.n_left_out else []


def add_files(parser: argparse.ArgumentParser) -> None:
    """Add the options that name them."""
    parser.add_argument(
        "--proposals", type="input", required=True, metavar="FILE",
        help="CSV or parquet: query,candidate,model,rank",
    )  # fmt: skip
    parser.add_argument(
        "--run", type="input", required=True, action="append", metavar="FILE",
        help="whole lists: TREC, CSV or parquet; once per model",
    )  # fmt: skip
    parser.add_argument(
        "--qrels", type="input", metavar="FILE", help="labels: VSD JSON, TREC, CSV or parquet"
    )
    parser.add_argument(
        "--round", type="input", action="append", default=[], metavar="FILE", dest="rounds",
        help="a round as `rounds draw` wrote it; once per round, in their order",
    )  # fmt: skip
    parser.add_argument(
        "--drawn-only", action="store_true",
        help="leave out labels of pairs that were open in a round and that none drew",
    )  # fmt: skip
    parser.add_argument(
        "--missing", choices=("error", "worst"), default="error",
        help="pairs without a score: refuse the run, or rank them below all others",
    )  # fmt: skip


def read_files(arguments: argparse.Namespace) -> RoundFiles:
    """Read them.

    Raises:
        InputError: with file, line and reason.
        OSError: if a file cannot be opened.
    """
    runs = [read_run(path) for path in arguments.run]
    named = named_pool(read_proposals(arguments.proposals), runs, missing=arguments.missing)
    labels = np.full(named.pool.n_pairs, np.nan)
    if arguments.qrels is not None:
        labels = named.labels(read_qrels(arguments.qrels))
    rounds = [read_round(path, named) for path in arguments.rounds]
    left_out = np.zeros(labels.size, dtype=np.bool_)
    if arguments.drawn_only:
        if not rounds:
            raise InputError("--drawn-only says nothing without --round")
        left_out = undrawn(labels, rounds)
    return RoundFiles(named, np.where(left_out, np.nan, labels), rounds, int(left_out.sum()))
