"""The options that give drawn negatives to commands that score runs."""

from __future__ import annotations

import argparse
from pathlib import Path

from lookalike.io.errors import InputError
from lookalike.io.labels import read_negatives
from lookalike.metrics.negatives import NegativeList


def add_negatives(parser: argparse.ArgumentParser, *, of_release: str = "") -> None:
    """Add the options; `of_release` says what holds without them."""
    for option, ending, kind in (
        ("--negatives", "_random", "random negatives"),
        ("--band-negatives", "_band", "negatives from a band of ranks"),
    ):
        parser.add_argument(
            option,
            type="input",
            metavar="FILE",
            help=f"{kind}, for measures that end in {ending}: labels that are all 0, or a "
            f"release's{of_release}",
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


def _read(option: str, path: Path | None, share: float | None) -> NegativeList | None:
    if share is not None and not 0 <= share < 1:
        raise InputError(f"{option} {share} is not in [0, 1)")
    if path is None:
        return None
    return NegativeList(tuple(read_negatives(path)), source=str(path), contamination=share)
