"""What `lookalike plan` is given: lists of numbers, and a pilot from files or a release."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any, TypeVar

from lookalike.bias.evidence.files import read_votes
from lookalike.cli.input_files import InputFiles
from lookalike.cli.simulate import HOW_CLOSE, world_options
from lookalike.cli.unit_option import file_unit
from lookalike.io.errors import InputError
from lookalike.planning.pilot import Pilot
from lookalike.planning.pool_files import named_pool
from lookalike.release.format.layout import ALL_TABLES
from lookalike.release.opened import open_release
from lookalike.release.rounds import judged_share, named_pool_of

OF_DESIGNS = ("n_queries", "depth", "n_judges")
DESIGNS: dict[str, tuple[Callable[[str], Any], str, str]] = {
    "queries": (int, "100,200,400", "of the campaign"),
    "depth": (int, "5", "k of the pool"),
    "judges": (int, "3", "of each pair"),
    "share": (float, "0.25,0.5,1", "of the pairs that is judged"),
}
T = TypeVar("T")


def several(given: str | None, default: str, option: str, kind: Callable[[str], T]) -> list[T]:
    """Return the numbers of an option, each once."""
    text = default if given is None else given
    try:
        found = [kind(part) for part in text.split(",") if part.strip()]
    except ValueError:
        found = []
    if not found:
        raise InputError(f"{option} {text!r} is not a list of numbers such as 1,3")
    return list(dict.fromkeys(found))


def read_pilot(arguments: argparse.Namespace) -> tuple[Pilot, list[str]]:
    """Return the pilot that is given, and notes on its files.

    Raises:
        InputError, Refused: files or options that cannot be used.
    """
    given = world_options(arguments, without=OF_DESIGNS)
    assumed = [f"--{name.removeprefix('n_').replace('_', '-')}" for name in given]
    if arguments.errors:
        assumed = [HOW_CLOSE, *(name for name in assumed if name not in ("--best", "--worst"))]
    if assumed:
        raise InputError(f"{', '.join(assumed)}: assumptions say nothing beside a pilot")
    if arguments.release is not None:
        return _released(arguments), []
    if not arguments.run or not (arguments.votes or arguments.qrels):
        raise InputError("a pilot takes --proposals, --run, and --votes or --qrels")
    files = InputFiles(arguments, "the proposals")
    proposals = files.proposals(arguments.proposals)
    unit = file_unit(arguments, files.names)
    runs = files.runs(arguments.run)
    unit.refuse_strangers(proposals.query_ids, arguments.metadata)
    named = named_pool(proposals, runs, unit_of=unit.unit_of, unit=unit.name)
    if arguments.qrels:
        labels = named.labels(files.labels(arguments.qrels))
        return Pilot.of(named.pool, labels[:, None]), files.notes
    votes = files.votes(arguments.votes)
    return Pilot.of(named.pool, named.votes(votes.rows, len(votes.annotators))), files.notes


def has_pilot(arguments: argparse.Namespace) -> bool:
    """Whether a pilot is given."""
    return arguments.proposals is not None or arguments.release is not None


def _released(arguments: argparse.Namespace) -> Pilot:
    """Return the models that built the pool of a release, and its votes that count."""
    given = ("proposals", "votes", "qrels", "run", "metadata")
    if beside := [f"--{name}" for name in given if getattr(arguments, name)]:
        raise InputError(f"{', '.join(beside)} not beside --release, which has them itself")
    with open_release(arguments.release) as release:
        if judged_share(release) < 1:
            raise InputError(
                f"{release.title} was judged in part, by rounds: the queries that are judged "
                "whole are no fair sample of it"
            )
        named = named_pool_of(release, arguments.unit)
        votes = read_votes(release.path / ALL_TABLES["judgements"].path)
        return Pilot.of(named.pool, named.votes(votes.rows, len(votes.annotators)))
