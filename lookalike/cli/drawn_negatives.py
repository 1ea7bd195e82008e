"""The options that give drawn negatives to commands that score runs."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from lookalike.io.errors import InputError
from lookalike.io.labels import read_negatives
from lookalike.metrics.negatives import NegativeList
from lookalike.release.opened import Release


def add_negatives(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    for option, ending, kind in (
        ("--negatives", "_random", "random negatives"),
        ("--band-negatives", "_band", "negatives from a band of ranks"),
    ):
        parser.add_argument(
            option,
            type="input",
            metavar="FILE",
            help=f"{kind}, for measures that end in {ending}: labels that are all 0, or a "
            "release's; with --release in place of its own",
        )
    for option, kind in (
        ("--contamination", "random negatives"),
        ("--band-contamination", "negatives from a band"),
    ):
        parser.add_argument(
            option,
            type=float,
            metavar="SHARE",
            help=f"estimated share of true positives among the {kind}",
        )


def read_drawn(
    arguments: argparse.Namespace,
) -> tuple[NegativeList | None, NegativeList | None]:
    """Return the random negatives and those of a band, None where no file is given.

    Raises:
        InputError: with file, line and reason, or a share outside [0, 1).
    """
    return (
        _read("--contamination", arguments.negatives, arguments.contamination),
        _read("--band-contamination", arguments.band_negatives, arguments.band_contamination),
    )


def read_of_release(arguments: argparse.Namespace, release: Release) -> dict[str, NegativeList]:
    """Return the lists that replace those of a release, by kind, with its names of images.

    A share without a file is one of the release's own list.

    Raises:
        InputError: as `read_drawn`; a name that is no image of the release; or a share of negatives
            that the release does not have.
    """
    names = release.judged.names()
    shares = {"uniform": arguments.contamination, "band": arguments.band_contamination}
    paths = {"uniform": arguments.negatives, "band": arguments.band_negatives}
    lists = {}
    for kind, given in zip(paths, read_drawn(arguments), strict=True):
        if given is not None:
            pairs = tuple((names.find(query), names.find(image)) for query, image in given.pairs)
            lists[kind] = replace(given, pairs=pairs)
        elif shares[kind] is not None:
            own = release.drawn_negatives().get(kind)
            if own is None:
                raise InputError(
                    f"{release.title} has no negatives of the kind {kind!r}; give a file"
                )
            lists[kind] = replace(own, contamination=shares[kind])
    return lists


def pairs_of(lists: Mapping[str, NegativeList]) -> list[tuple[str, str]]:
    """Return every pair of some lists."""
    return [pair for listed in lists.values() for pair in listed.pairs]


def _read(option: str, path: Path | None, share: float | None) -> NegativeList | None:
    if share is not None and not 0 <= share < 1:
        raise InputError(f"{option} {share} is not in [0, 1)")
    if path is None:
        return None
    return NegativeList(tuple(read_negatives(path)), source=str(path), contamination=share)
