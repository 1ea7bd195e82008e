"""`lookalike plan`: what a budget of judging buys."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from itertools import product

from lookalike.cli.inputs import file_option
from lookalike.cli.options import seed
from lookalike.cli.output import Report
from lookalike.cli.plan_backtests import design_report, spread_report
from lookalike.cli.plan_inputs import DESIGNS, OF_DESIGNS, has_pilot, read_pilot, several
from lookalike.cli.simulate import add_world_options, world_options
from lookalike.cli.unit_option import add_metadata, unit_json
from lookalike.cli.vote_options import add_vote_options
from lookalike.core.dataclass_json import as_json
from lookalike.io.documents import Table
from lookalike.io.errors import InputError
from lookalike.planning.designs import RANGE, Costs, Design, Forecast, Goals, cheapest, frontier
from lookalike.planning.pilot import Pilot
from lookalike.planning.planner import assumed_pilot, forecast
from lookalike.planning.simulator import World
from lookalike.stats.proportion import Interval
from lookalike.stats.text_tables import TEXT, table

DESCRIPTION = (
    "Say what designs of a campaign would cost and bring: hours, money, widths of intervals and "
    "how likely neighbouring models come out in the right order; and the cheapest that meets the "
    "goals. From a pilot (--release, or --proposals, --run and --votes or --qrels, of queries that "
    "are judged whole), or from assumptions about the models, the pictures and the judges. "
    "--backtest-spread says how well a part of the pilot would have foretold all of it."
)
EXAMPLE = (
    "lookalike plan --close --queries 100,200,400 --depth 5,10 --judges 1,3 --share 0.25,0.5,1 "
    "--width 0.05"
)
HEADER = (
    *("queries", "depth", "judges", "share", "pairs", "hours", "money"),
    *("measure", "width", "width_from", "width_to", "bias", "order"),
)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    design = parser.add_argument_group("designs; each takes several, with commas between")
    for name, (_, default, what) in DESIGNS.items():
        design.add_argument(f"--{name}", help=f"{what}; default: {default}", metavar="A,B")
    cost = parser.add_argument_group("costs and goals")
    cost.add_argument(
        "--seconds", type=float, metavar="X",
        help=f"of a judge for a pair; default: {Costs.seconds:g}",
    )  # fmt: skip
    cost.add_argument("--hourly", type=float, metavar="X", help="money for an hour of a judge")
    cost.add_argument("--measure", default="P@5", help="default: %(default)s")
    cost.add_argument("--width", type=float, metavar="X", help="width and bias of ± X at most")
    cost.add_argument("--order", type=float, metavar="X", help="the order right with X at least")
    pilot = parser.add_argument_group("a pilot")
    file_option(pilot, "--proposals", "query,candidate,model,rank")
    file_option(pilot, "--release", "a release's folder or zip, in place of all these files")
    file_option(pilot, "--run", "whole lists; once per model", action="append", default=[])
    labels = pilot.add_mutually_exclusive_group()
    file_option(labels, "--votes", "query,candidate,annotator,value")
    file_option(labels, "--qrels", "labels, where votes are lost")
    add_metadata(pilot)
    add_vote_options(pilot)
    pilot.add_argument(
        "--backtest-spread", type=float, metavar="SHARE",
        help="of its queries, as a pilot of the pilot; no design is tried out",
    )  # fmt: skip
    pilot.add_argument(
        "--backtest-design", type=float, metavar="SHARE",
        help="likewise, of one design: what each pilot foretells is held against all of the "
        "queries, judged by the design",
    )  # fmt: skip
    assumed = parser.add_argument_group("assumptions, where there is no pilot")
    add_world_options(assumed, without=OF_DESIGNS)
    parser.add_argument("--all", action="store_true", help="every design, not the best alone")
    parser.add_argument("--seed", type=seed, default=0, help="default: %(default)s")


def run(arguments: argparse.Namespace) -> Report:
    """Forecast what each design brings.

    Raises:
        InputError, Refused: files or options that cannot be used.
        OSError: if a file cannot be opened.
    """
    if arguments.backtest_spread is not None:
        return spread_report(arguments)
    if arguments.backtest_design is not None:
        return design_report(arguments)
    lists = [
        several(getattr(arguments, name), default, f"--{name}", kind)
        for name, (kind, default, _) in DESIGNS.items()
    ]
    designs = [Design(*one) for one in product(*lists)]
    goals = Goals(arguments.width, arguments.order)
    given = {"seconds": arguments.seconds, "hourly": arguments.hourly}
    costs = Costs(**{name: value for name, value in given.items() if value is not None})
    if has_pilot(arguments):
        pilot, reading = read_pilot(arguments)
    else:
        pilot, reading = _assumed(arguments, designs), []
    goals.refuse_order_of_one(pilot.pool.models)
    found = forecast(pilot, designs, [arguments.measure], costs, arguments.seed)
    if not found:
        raise InputError(f"no design is deep enough for {arguments.measure}")
    best = cheapest(found, goals)
    has_goals = goals.width is not None or goals.order is not None
    shown = sorted(found, key=lambda f: (f.hours, f.design)) if arguments.all else frontier(found)
    return Report(
        title="A plan of judging",
        text="\n".join([*_text(shown, found), *(_answer(best) if has_goals else ())]) + "\n",
        data={
            "forecasts": [
                {**as_json(f), "widest": f.widest, "off": f.off, "order": f.order} for f in found
            ],
            "cheapest": None if best is None else as_json(best.design),
            **unit_json(pilot.pool),
        },
        table=Table(HEADER, [_row(one) for one in found]),
        notes=[*reading, *_notes(arguments, pilot)],
    )


def _assumed(arguments: argparse.Namespace, designs: Sequence[Design]) -> Pilot:
    if arguments.run or arguments.votes or arguments.qrels:
        raise InputError("--run, --votes and --qrels are of a pilot: --proposals too")
    world = World(**world_options(arguments, without=OF_DESIGNS))
    return assumed_pilot(world, designs, arguments.seed)


def _row(one: Forecast) -> list[str | int | float | None]:
    design = one.design
    return [
        *(design.n_queries, design.depth, design.n_judges, design.share),
        *(one.n_pairs, round(one.hours, 2), round(one.money, 2)),
        *(one.measure, one.widest, *one.widest_range, max(one.biases), one.order),
    ]


def _text(shown: Sequence[Forecast], found: Sequence[Forecast]) -> Iterator[str]:
    yield f"{found[0].measure}: {len(found)} designs"
    yield f"width: ± of the widest interval; range: where {RANGE:.0%} of such widths come;"
    yield "bias: how far wrong labels of its judges move a value;"
    yield "order: the probability, at least, that all models come out in the right order"
    yield ""
    has_money = any(one.money for one in found)
    head = ["queries", "depth", "judges", "share", "pairs", "hours"]
    head += ["width", "range", "bias", "order"]
    rows = [head + (["money"] if has_money else [])]
    for one in shown:
        d = one.design
        cells = [str(d.n_queries), str(d.depth), str(d.n_judges), TEXT.share(d.share, 0)]
        cells += [f"{one.n_pairs:,}", f"{one.hours:,.1f}"]
        cells += [TEXT.number(one.widest), TEXT.interval(Interval(*one.widest_range), 3)]
        cells += [TEXT.number(max(one.biases)), TEXT.share(one.order)]
        rows.append(cells + ([f"{one.money:,.0f}"] if has_money else []))
    yield from table(rows)


def _answer(best: Forecast | None) -> Iterator[str]:
    yield ""
    if best is None:
        yield "No design meets the goals."
        return
    d = best.design
    yield (
        f"Cheapest that meets the goals: {d.n_queries} queries, depth {d.depth}, "
        f"{d.n_judges} judges, {d.share:.0%} of the pairs judged: {best.hours:,.1f} hours"
    )
    for upper, lower, p in best.neighbours:
        yield f"  {upper} above {lower}: {TEXT.share(p)}"


def _notes(arguments: argparse.Namespace, pilot: Pilot) -> Iterator[str]:
    n = pilot.pool.n_queries
    if has_pilot(arguments):
        yield f"from a pilot of {pilot.pool.sample} judged whole"
        if pilot.pool.groups is not None:
            yield (
                "intervals take as independent what queries share; a campaign of more queries is "
                "taken to have as many of each as the pilot"
            )
        if arguments.qrels:
            yield "labels without votes: more or fewer judges change the hours alone, and no bias"
    else:
        yield f"from assumptions: {n} simulated queries; their truth is only as good as these"
