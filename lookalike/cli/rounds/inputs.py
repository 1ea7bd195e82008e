"""The files that both commands of rounds read."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from lookalike.cli.input_files import InputFiles
from lookalike.cli.inputs import PROPOSALS, file_option
from lookalike.cli.unit_option import add_metadata, file_unit
from lookalike.cli.vote_options import add_vote_options
from lookalike.core.arrays import Floats
from lookalike.io.errors import InputError
from lookalike.planning.estimates import undrawn
from lookalike.planning.pool_files import NamedPool, named_pool, read_round
from lookalike.planning.rounds import Round
from lookalike.release.opened import open_release
from lookalike.release.rounds import named_pool_of, read_rounds

OF_THE_RELEASE = ("proposals", "run", "qrels", "rounds", "metadata")


@dataclass(frozen=True)
class RoundFiles:
    """What the files say.

    Attributes:
        named: the pool.
        labels: shape (n_pairs,), NaN where unjudged or left out.
        rounds: that were drawn, in order.
        notes: what a reader is told of them.
        n_left_out: labels that are left out.
    """

    named: NamedPool
    labels: Floats
    rounds: list[Round]
    notes: list[str]
    n_left_out: int


def add_files(parser: argparse.ArgumentParser) -> None:
    """Add the options that name them."""
    add = partial(file_option, parser)
    add(
        "--release",
        "a release's folder or zip of a campaign in rounds, in place of all other files",
    )
    add("--proposals", PROPOSALS)
    add("--run", "whole lists: TREC, CSV or parquet; once per model", action="append", default=[])
    add("--qrels", "labels: VSD JSON, TREC, CSV or parquet")
    add(
        "--round", "a round as `rounds draw` wrote it; once per round, in their order",
        action="append", default=[], dest="rounds",
    )  # fmt: skip
    add_metadata(parser)
    add_vote_options(parser)
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
        InputError: with file, line and reason; options that do not go together.
        OSError: if a file cannot be opened.
    """
    if arguments.release is not None:
        return _of_release(arguments)
    if missing := [f"--{name}" for name in ("proposals", "run") if not getattr(arguments, name)]:
        raise InputError(f"{', '.join(missing)} missing: give these files, or --release alone")
    files = InputFiles(arguments, "the proposals")
    proposals = files.proposals(arguments.proposals)
    unit = file_unit(arguments, files.names)
    runs = files.runs(arguments.run)
    unit.refuse_strangers(proposals.query_ids, arguments.metadata)
    named = named_pool(
        proposals, runs, missing=arguments.missing, unit_of=unit.unit_of, unit=unit.name
    )
    labels = np.full(named.pool.n_pairs, np.nan)
    if arguments.qrels is not None:
        labels = named.labels(files.labels(arguments.qrels))
    rounds = [read_round(path, named) for path in arguments.rounds]
    if arguments.drawn_only and not rounds:
        raise InputError("--drawn-only says nothing without --round")
    return _kept(named, labels, rounds, files.notes, drawn_only=arguments.drawn_only)


def _of_release(arguments: argparse.Namespace) -> RoundFiles:
    """Read a release, whose estimates leave out what no round drew."""
    for name in OF_THE_RELEASE:
        if getattr(arguments, name) not in (None, []):
            option = name.removesuffix("s") if name == "rounds" else name
            raise InputError(f"--{option} does not go with --release, which says it itself")
    with open_release(arguments.release) as release:
        if not any(campaign.get("rounds") for campaign in release.info["campaigns"]):
            raise InputError(f"{release.title} was not judged in rounds: lookalike score reads it")
        named = named_pool_of(release, arguments.unit)
        labels, rounds = named.labels(release.qrels()), read_rounds(release, named)
        return _kept(named, labels, rounds, release.caveats, drawn_only=True)


def _kept(
    named: NamedPool,
    labels: Floats,
    rounds: list[Round],
    notes: Sequence[str] = (),
    *,
    drawn_only: bool,
) -> RoundFiles:
    left_out = undrawn(labels, rounds) if drawn_only else np.zeros(labels.size, dtype=np.bool_)
    n = int(left_out.sum())
    said = [f"{n:,} labels left out: their pairs were open in a round, and none drew them"]
    return RoundFiles(
        named, np.where(left_out, np.nan, labels), rounds, [*notes, *(said if n else ())], n
    )
