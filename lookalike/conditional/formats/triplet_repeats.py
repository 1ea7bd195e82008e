"""Answers of one worker to one triplet: which of them counts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from lookalike.conditional.types import Defect, Triplet
from lookalike.conditional.validate import kept_places
from lookalike.io.errors import FormatError
from lookalike.io.repeats import Repeats, without_repeats
from lookalike.io.vote_options import VoteOptions

if TYPE_CHECKING:
    from lookalike.conditional.formats.triplet_files import TripletEntries

_Placed = tuple[int, Triplet, bool]  # place in the file, and whether it is swapped


def counted_triplets(path: Path, entries: TripletEntries, options: VoteOptions) -> TripletEntries:
    """Return the answers that count where a worker answers one triplet twice.

    Raises:
        FormatError: there is such an answer, and it shall be an error.
    """
    places = kept_places(len(entries.triplets), entries.malformed)
    rows = list(zip(places, entries.triplets, entries.swapped, strict=True))

    def refuse(first: _Placed, second: _Placed) -> FormatError:
        reason = f"{second[1].worker!r} answered this triplet before, in row {first[0] + 1}"
        return FormatError(path, second[0] + 1, reason, unit="row")

    counts = options.repeats or Repeats.FIRST
    counted, n_repeated = without_repeats(rows, _question, counts, refuse)
    if n_repeated == 0:
        return entries
    if options.repeats is None:
        options.notes.append(
            f"{n_repeated:,} answers repeat one of the same worker to the same triplet; all count "
            "(--repeats first or last counts one)"
        )
        return entries
    kept = {place for place, *_ in counted}
    left_out = [
        Defect(place, "repeated", f"{triplet.worker!r} answered this triplet twice")
        for place, triplet, _ in rows
        if place not in kept
    ]
    counted.sort()
    return replace(
        entries,
        triplets=tuple(triplet for _, triplet, _ in counted),
        swapped=tuple(is_swapped for *_, is_swapped in counted),
        malformed=tuple(sorted([*entries.malformed, *left_out])),
    )


def _question(row: _Placed) -> tuple[str, ...] | None:
    _, (anchor, closer, farther, condition, worker), _ = row
    return (worker, anchor, *sorted((closer, farther)), condition) if worker else None
