"""`lookalike simulate`: a campaign from a known truth, as files."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from lookalike.cli.options import seed
from lookalike.cli.output import Report
from lookalike.io.errors import InputError
from lookalike.planning.simulated_files import write_campaign
from lookalike.planning.simulator import CLOSE, DISTANT, World, simulate

DESCRIPTION = (
    "Simulate a campaign whose truth is known and write the files that the other commands read: "
    "proposals, runs, votes, majorities (qrels.csv) and the truth. The same seed gives the same "
    "files."
)
EXAMPLE = "lookalike simulate campaign/ --queries 300 --models 8 --distant --seed 1"
HOW_CLOSE = "--close or --distant"
HELP = {
    "n_queries": "queries",
    "n_images": "candidates of each",
    "n_models": "models that build the pool",
    "depth": "k of the pool",
    "best": "errors of the best model, where the true similarity varies by 1",
    "worst": "errors of the worst",
    "n_families": "families whose models share errors; 0: none",
    "shared": "share of the errors' variance that a family shares",
    "positives": "share of all pairs that are similar",
    "ease": "how far the queries differ in their share",
    "n_judges": "judges of each pair",
    "misses": "how often a judge calls a similar pair different",
    "false_alarms": "how often a judge calls a different pair similar",
}


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="where to write; new or empty")
    add_world_options(parser)
    parser.add_argument("--seed", type=seed, default=0, help="default: %(default)s")


def add_world_options(
    parser: argparse.ArgumentParser | argparse._ArgumentGroup, without: Sequence[str] = ()
) -> None:
    """Add the options that say what is simulated, but for some fields of `World`."""
    for field in fields(World):
        if field.name in without:
            continue
        kind: Any = type(field.default)
        parser.add_argument(
            "--" + field.name.removeprefix("n_").replace("_", "-"),
            dest=field.name,
            type=kind,
            metavar="N" if kind is int else "X",
            help=f"{HELP[field.name]} ({field.default})",
        )
    how_close = parser.add_mutually_exclusive_group()
    for option, (best, worst) in (("--close", CLOSE), ("--distant", DISTANT)):
        how_close.add_argument(
            option,
            dest="errors",
            action="store_const",
            const=(best, worst),
            help=f"--best {best} --worst {worst}",
        )


def world_options(arguments: argparse.Namespace, without: Sequence[str] = ()) -> dict[str, Any]:
    """Return {field of `World`: value} of the options that were given.

    Raises:
        InputError: errors of models said twice.
    """
    names = [field.name for field in fields(World) if field.name not in without]
    said = {name: getattr(arguments, name) for name in names}
    if arguments.errors:
        if said["best"] is not None or said["worst"] is not None:
            raise InputError(f"{HOW_CLOSE} says what --best and --worst are: name one or the other")
        said["best"], said["worst"] = arguments.errors
    return {name: value for name, value in said.items() if value is not None}


def run(arguments: argparse.Namespace) -> Report:
    """Simulate and write.

    Raises:
        InputError, Refused: options that make no sense, or a folder that holds something.
        OSError: if a file cannot be written.
    """
    campaign = simulate(World(**world_options(arguments)), arguments.seed)
    written = write_campaign(campaign, arguments.folder)
    labels = campaign.labels
    facts = {
        "pairs": campaign.pool.n_pairs,
        "pairs_of_a_query": campaign.pool.n_pairs / campaign.pool.n_queries,
        "similar": float(labels.mean()),
        "labels_wrong": float((labels != campaign.truth).mean()),
    }
    text = (
        f"{facts['pairs']:,} pairs, {facts['pairs_of_a_query']:.1f} a query; "
        f"{facts['similar']:.1%} of them judged similar, {facts['labels_wrong']:.1%} of the "
        f"majorities wrong\n" + "".join(f"{path}\n" for path in written)
    )
    return Report(
        title="A simulated campaign",
        text=text,
        data={
            "world": asdict(campaign.world),
            "seed": arguments.seed,
            **facts,
            "files": [str(path) for path in written],
        },
    )
