"""What `lookalike plan` says of backtests: of a pilot's spread, and of a design."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from lookalike.cli.output import Report
from lookalike.cli.plan_inputs import DESIGNS, has_pilot, read_pilot, several
from lookalike.core.dataclass_json import as_json
from lookalike.io.errors import InputError
from lookalike.planning.backtest import backtest, backtest_design
from lookalike.planning.designs import RANGE, Design
from lookalike.planning.estimates import estimate
from lookalike.planning.pilot import majority_labels

OF_FORECASTS = ("seconds", "hourly", "width", "order", "all")


def spread_report(arguments: argparse.Namespace) -> Report:
    """Say how well the spread within parts of the pilot foretells all of it."""
    if beside := _beside(arguments, (*DESIGNS, *OF_FORECASTS)):
        raise InputError(f"{', '.join(beside)}: --backtest-spread tries no design out")
    if not has_pilot(arguments):
        raise InputError("--backtest-spread is of a pilot: --proposals or --release too")
    pilot, notes = read_pilot(arguments)
    one = estimate(pilot.pool, majority_labels(pilot.votes), [], [arguments.measure]).measures[0]
    found = backtest(
        one.by_query, arguments.backtest_spread, groups=one.groups, seed=arguments.seed
    )
    return Report(
        notes=notes,
        title="A backtest of a pilot's spread",
        text=(
            f"{arguments.measure}, {found.n_pilots} pilots of {found.n_queries} of "
            f"{pilot.pool.sample}, all judged in full\n"
            f"width forecast / width come: {found.width:.3f} on average, off by "
            f"{found.width_error:.1%}\n"
            f"order of two models: Brier score {found.brier:.4f} over {found.n_orders:,} forecasts "
            f"(one half for all: {found.brier_of_doubt:.4f})\n"
        ),
        data=as_json(found),
    )


def design_report(arguments: argparse.Namespace) -> Report:
    """Say how well parts of the pilot would have foretold one design on all of it."""
    if beside := _beside(arguments, ("queries", *OF_FORECASTS)):
        raise InputError(f"{', '.join(beside)}: --backtest-design is of all queries of the pilot")
    if not has_pilot(arguments):
        raise InputError("--backtest-design is of a pilot: --proposals or --release too")
    pilot, notes = read_pilot(arguments)
    default = {"depth": str(pilot.pool.depth), "judges": "1", "share": "1"}
    parts = []
    for name, text in default.items():
        found = several(getattr(arguments, name), text, f"--{name}", DESIGNS[name][0])
        if len(found) > 1:
            raise InputError(f"--{name}: --backtest-design tries one design")
        parts.append(found[0])
    design = Design(pilot.pool.n_queries, *parts)
    tested = backtest_design(
        pilot, design, arguments.measure, arguments.backtest_design, seed=arguments.seed
    )
    return Report(
        notes=notes,
        title="A backtest of a design",
        text=(
            f"{arguments.measure}, depth {design.depth}, {design.n_judges} of the votes of a pair, "
            f"{design.share:.0%} of the pairs: {tested.n_pilots} pilots of {tested.n_queries} of "
            f"{pilot.pool.sample}\n"
            f"width forecast / width come: {tested.width:.3f} on average, off by "
            f"{tested.width_error:.1%} (a forecast from all queries: {tested.least_error:.1%}); "
            f"{tested.within:.0%} within the range of {RANGE:.0%}\n"
            f"order of neighbours: Brier score {tested.brier:.4f} over {tested.n_orders:,} "
            "forecasts\n"
        ),
        data=as_json(tested),
    )


def _beside(arguments: argparse.Namespace, names: Sequence[str]) -> list[str]:
    """Return which of the options are given."""
    given = {name: getattr(arguments, name) for name in names}
    return [
        f"--{name}" for name, value in given.items() if value is not None and value is not False
    ]
