"""Simulate queries with a known truth: how often does each interval that a page shows hold it?

    python docs/simulations/coverage.py          prints the figures and writes them to the document
    python docs/simulations/coverage.py --check  exits with 1 if the document says otherwise, or
                                                 if a row breaks the promise from 20 queries on
    ... --only "product"                         only the rows with that in their name

A cell is blank where fewer than one world in ten shows an interval: there the rules on the data
leave it out, and no coverage is promised.

Rows are simulated in as many processes as there are cores. Another processor may round otherwise
and so hold a truth that ended within a rounding error of an interval: a world or two of a cell.

Every row is a kind of number on a page, in worlds whose true value is known. Beside the interval
that is shown stands what the percentile bootstrap covers, which stood there before. Where a number
takes few values (yes or no, one stratum), coverage jumps from one true value to the next whatever
the interval, so the truth is drawn anew for each world.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from docs.simulations.interval_situations import Situation  # noqa: E402
from docs.simulations.interval_worlds import N_BOOTSTRAPS, rng_of  # noqa: E402
from docs.simulations.pool_situations import SITUATIONS  # noqa: E402
from lookalike.core.cores import available_cores  # noqa: E402
from lookalike.stats.bootstrap import query_counts  # noqa: E402

DOCUMENT = ROOT / "docs/measures.md"
BEGIN, END = "<!-- coverage of the intervals -->", "<!-- end of the coverage -->"
N_QUERIES = (10, 20, 50, 200)
PROMISED = (0.93, 0.97)
SELDOM = 0.1  # share of worlds with an interval below which a cell is blank
ROUNDING = 0.15  # percentage points: two worlds of a cell


@dataclass(frozen=True)
class Coverage:
    """How often the truth was held: where an interval was shown, and by percentiles."""

    held: float
    shown: float
    percentile: float


def coverage(situation: Situation, n: int, n_worlds: int = 0) -> Coverage:
    """Return how often the intervals of `n` queries hold the truth."""
    n_worlds = n_worlds or situation.n_worlds
    rng = rng_of(f"{situation.name} {n}")
    counts = query_counts(n, N_BOOTSTRAPS, rng)
    truths, *sides = zip(*(situation.observe(rng, n, counts) for _ in range(n_worlds)), strict=True)
    held, percentile = (
        [
            i.low - 1e-12 <= truth <= i.high + 1e-12
            for truth, i in zip(truths, side, strict=True)
            if i.is_defined
        ]
        for side in sides
    )
    return Coverage(
        float(np.mean(held)) if held else float("nan"),
        len(held) / n_worlds,
        float(np.mean(percentile)) if percentile else float("nan"),
    )


def table(only: str = "") -> Iterator[str]:
    """Yield the figures as a Markdown table, each row as soon as it and those above are there."""
    chosen = [at for at, one in enumerate(SITUATIONS) if only in one.name]
    heads = [f"{n} queries" for n in N_QUERIES]
    yield f"| 95 % interval of | {' | '.join(heads)} | percentile bootstrap, 20 queries |"
    yield "|---|" + "---|" * (1 + len(N_QUERIES))
    with ProcessPoolExecutor(
        available_cores(), initializer=threadpool_limits, initargs=(1,)
    ) as pool:
        yield from pool.map(_row_at, chosen)


def _row_at(place: int) -> str:
    return row(SITUATIONS[place])


def row(situation: Situation, n_worlds: int = 0) -> str:
    """Return the figures of one kind of number as a row of a Markdown table."""
    found = [coverage(situation, n, n_worlds) for n in N_QUERIES]
    before = found[N_QUERIES.index(20)].percentile
    cells = [_shown(one) for one in found] + ["" if np.isnan(before) else f"{before:.1%}"]
    return f"| {situation.name} | {' | '.join(cells)} |"


def _shown(found: Coverage) -> str:
    if np.isnan(found.held):
        return "blank"
    if found.shown < SELDOM:
        return f"blank ({found.shown:.0%} shown)"
    partly = f" ({found.shown:.0%} shown)" if found.shown < 0.995 else ""
    return f"{found.held:.1%}{partly}"


def faults(figures: str, documented: str) -> Iterator[str]:
    """Yield where a document says otherwise than the figures, and where they break the promise."""
    rows, others = ([_cells(line) for line in of.splitlines()] for of in (figures, documented))
    if [row[0] for row in rows] != [row[0] for row in others]:
        yield "the document has other rows"
    for (name, *cells), (_, *told) in zip(rows, others, strict=False):
        for cell, other in zip(cells, told, strict=False):
            if not _is_alike(cell, other):
                yield f"{name}: {cell}, but {other} in the document"
        for n, cell in zip(N_QUERIES, cells, strict=False):
            if (
                n >= 20
                and "%" in cell
                and cell[:1].isdigit()
                and not PROMISED[0] <= _percent(cell) / 100 <= PROMISED[1]
            ):
                yield f"{name}: {cell} at {n} queries"


def _replaced(documented: str, rows: Sequence[str]) -> str:
    """Return the table of the document with some rows made again, in the order of situations."""
    new = {_cells(row)[0]: row for row in rows}
    head, old = documented.splitlines()[:2], documented.splitlines()[2:]
    known = {_cells(row)[0]: row for row in old} | new
    return "\n".join([*head, *(known[one.name] for one in SITUATIONS if one.name in known)])


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


def _percent(cell: str) -> float:
    return float(cell.partition("%")[0])


def _is_alike(cell: str, other: str) -> bool:
    (held, *rest), (told, *others) = cell.partition("%"), other.partition("%")
    if not (held[:1].isdigit() and told[:1].isdigit()):
        return cell == other
    return rest == others and (held == told or abs(float(held) - float(told)) < ROUNDING)


def main() -> int:
    """Simulate, print the figures, and write or check the document."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--check", action="store_true", help="compare the document, write nothing")
    parser.add_argument("--only", default="", help="rows with this in their name")
    arguments = parser.parse_args()
    lines = []
    for line in table(arguments.only):
        print(line, flush=True)
        lines.append(line)
    figures = "\n".join(lines)
    text = DOCUMENT.read_text(encoding="utf-8")
    head, rest = text.split(BEGIN)
    documented, tail = rest.split(END)
    if arguments.only:
        figures = _replaced(documented.strip(), lines[2:])
        if arguments.check:
            documented = "\n".join(row for row in documented.splitlines() if arguments.only in row)
            figures = "\n".join(lines[2:])
    if arguments.check:
        found = list(faults(figures, documented.strip()))
        n_off = sum(a != b for a, b in zip(lines, documented.strip().splitlines(), strict=False))
        print(
            *found or [f"The document holds; {n_off} rows end in another processor's digits."],
            sep="\n",
        )
        return int(bool(found))
    DOCUMENT.write_text(f"{head}{BEGIN}\n{figures}\n{END}{tail}", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
