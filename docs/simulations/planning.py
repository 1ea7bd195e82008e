"""Simulate campaigns that are judged in part: do the intervals hold, and what does judging save?

    python docs/simulations/planning.py --kept FOLDER              all: 20 minutes of a core
    python docs/simulations/planning.py --check --world "50 quer"  two worlds; writes nothing
    python docs/simulations/planning.py --campaigns 150            fewer; the document says how many

Prints the figures and writes them to docs/planning.md. With `--kept` every campaign's outcome is
kept in a folder as soon as it is known, and a run that was stopped goes on where it was, as long as
the code is the same. `--check` compares the document instead, and exits with 1 if it says
otherwise, if a cell is further off than is allowed, or if rules to stop are wrong more often than
they promise. Every campaign is judged in three rounds,
and the rules to stop look after each. An interval should hold the truth in 95 % of campaigns, give
or take 1.5 (2.5 of 50 queries, or of fewer than 30 positives): a cell that is further off is
printed in bold. The truth is that of the world the queries are drawn from, with the labels that the
panel would give to all of the pool.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, replace
from functools import cache, partial
from hashlib import sha256
from itertools import repeat
from pathlib import Path
from zlib import crc32

import numpy as np
from scipy.stats import kendalltau

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from lookalike.core.arrays import Floats  # noqa: E402
from lookalike.core.source import source_digest  # noqa: E402
from lookalike.planning.estimates import Estimates, Estimator, estimate  # noqa: E402
from lookalike.planning.pool import RankedPool  # noqa: E402
from lookalike.planning.rounds import Round, draw_round  # noqa: E402
from lookalike.planning.simulator import CLOSE, World, simulate  # noqa: E402
from lookalike.planning.stopping import Looks, stop_advice  # noqa: E402

DOCUMENT = ROOT / "docs/planning.md"
COVERAGE = ("<!-- coverage of estimates -->", "<!-- end of the coverage -->")
SAVED = ("<!-- what judging saves -->", "<!-- end of what it saves -->")
N_CAMPAIGNS, N_SAVED = 1_000, 40
MEASURES = ("Success@5", "P@5", "AP'", "macro_roc_auc", "micro_roc_auc")
LEVEL, OFF, OFF_WHERE_FEW = 0.95, 0.015, 0.025
FEW_QUERIES, FEW_POSITIVES = 50, 30
SHARES = (0.15, 0.15, 0.15)
LOOKS = Looks(alpha=0.05, planned=len(SHARES))
N_TRUTH, N_CHUNK = 60_000, 3_000

BASE = World(n_models=5)
CLOSER = replace(BASE, best=CLOSE[0], worst=CLOSE[1])
WORLDS = {
    "distant models, 300 queries": BASE,
    "distant models, 50 queries": replace(BASE, n_queries=50),
    "close models, 300 queries": CLOSER,
    "close models in two families, 100 queries": replace(
        CLOSER, n_queries=100, n_families=2, n_models=4
    ),
    "distant models, rare positives, 300 queries": replace(BASE, positives=0.01, ease=0.3),
    "distant models, rare positives, 50 queries": replace(
        BASE, positives=0.005, ease=0.3, n_queries=50
    ),
    "distant models, frequent positives, 100 queries": replace(BASE, positives=0.35, n_queries=100),
}


@dataclass(frozen=True)
class Outcome:
    """What one campaign showed.

    Attributes:
        held: for each measure, of which models the interval held the truth.
        wrong: for each rule, whether it claimed anything wrong at any look.
        settled: whether the order was known at the last look.
        n_positives: similar pairs of the pool.
    """

    held: dict[str, list[bool]]
    wrong: dict[str, bool]
    settled: bool
    n_positives: int


def judged_in_rounds(
    pool: RankedPool, truth: Floats, shares: Sequence[float], seed: int, *, is_uniform: bool = False
) -> Iterator[tuple[Floats, list[Round]]]:
    """Yield the labels known and the rounds drawn after each round."""
    rng = np.random.default_rng([seed, 1])
    labels, rounds = np.full(pool.n_pairs, np.nan), []
    for share in shares:
        wanted = max(1, round(share * pool.n_pairs))
        one = draw_round(pool, labels, n_wanted=wanted, rng=rng, is_uniform=is_uniform)
        labels = np.where(one.drawn, truth, labels)
        rounds.append(one)
        yield labels, list(rounds)


def truth(name: str, world: World) -> dict[str, Floats]:
    """Return every measure of every model in the world at large."""
    chunks = [
        estimate(c.pool, c.labels, [], MEASURES).measures
        for c in (
            simulate(replace(world, n_queries=N_CHUNK), crc32(f"{name} {i}".encode()))
            for i in range(N_TRUTH // N_CHUNK)
        )
    ]
    return {
        name: np.mean([chunk[i].values for chunk in chunks], axis=0)
        for i, name in enumerate(MEASURES)
    }


def observe(world: World, true: dict[str, Floats], seed: int) -> Outcome:
    """Judge one campaign in rounds and return what held."""
    campaign = simulate(world, seed)
    wrong = dict.fromkeys(("order", "width", "recall"), False)
    estimator = Estimator(campaign.pool, MEASURES)
    for labels, rounds in judged_in_rounds(campaign.pool, campaign.labels, SHARES, seed):
        found = estimator.estimate(labels, rounds)
        advice = stop_advice(found, labels, "P@5", LOOKS)
        rank = {model: true["P@5"][m] for m, model in enumerate(campaign.pool.models)}
        wrong["order"] |= any(
            pair.verdict == "above" and rank[pair.upper] < rank[pair.lower]
            for pair in advice.neighbours
        )
        of_rules = found.measures[MEASURES.index("P@5")]
        ends = of_rules.intervals(1 - LOOKS.share / world.n_models)
        wrong["width"] |= not all(
            np.isnan(width) or e.low <= t <= e.high
            for e, t, width in zip(ends, true["P@5"], advice.widths, strict=True)
        )
        recall = np.nansum(labels) / max(campaign.labels.sum(), 1)
        wrong["recall"] |= bool(advice.recall > recall + 1e-12)
    held = {
        one.name: [
            bool(e.low <= t <= e.high)
            for e, t in zip(one.intervals(), true[one.name], strict=True)
            if e.is_defined
        ]
        for one in found.measures
    }
    return Outcome(held, wrong, advice.order_is_known, int(campaign.labels.sum()))


def outcomes(
    name: str, world: World, n_campaigns: int, workers: int, kept: Path | None
) -> list[Outcome]:
    """Return what the first campaigns of a world showed; what was kept is not simulated again."""
    found = _read_kept(name, kept)
    seeds = [seed for seed in range(n_campaigns) if seed not in found]
    if seeds:
        true = truth(name, world)
        with ProcessPoolExecutor(workers) as pool:
            jobs = pool.map(partial(observe, world, true), seeds, chunksize=5)
            for seed, outcome in zip(seeds, jobs, strict=True):
                found[seed] = outcome
                _keep(name, kept, seed, outcome)
    return [found[seed] for seed in range(n_campaigns)]


def _file(name: str, kept: Path) -> Path:
    """Return where outcomes of a world are kept: elsewhere once any of the code is another."""
    return kept / f"{sha256(f'{name} {_code()}'.encode()).hexdigest()[:16]}.jsonl"


@cache
def _code() -> str:
    return source_digest("lookalike.planning", "lookalike.stats") + Path(__file__).read_text()


def _keep(name: str, kept: Path | None, seed: int, outcome: Outcome) -> None:
    if kept is not None:
        kept.mkdir(parents=True, exist_ok=True)
        with _file(name, kept).open("a", encoding="utf-8") as file:
            file.write(json.dumps([seed, asdict(outcome)]) + "\n")


def _read_kept(name: str, kept: Path | None) -> dict[int, Outcome]:
    if kept is None or not _file(name, kept).exists():
        return {}
    file = _file(name, kept)
    *whole, cut = file.read_text(encoding="utf-8").split("\n")
    if cut:  # it was stopped in the middle of a line
        file.write_text("".join(f"{line}\n" for line in whole), encoding="utf-8")
    rows = [json.loads(line) for line in whole]
    return {seed: Outcome(**outcome) for seed, outcome in rows}


def coverage_table(
    n_campaigns: int, workers: int, named: str = "", kept: Path | None = None
) -> Iterator[str]:
    """Yield how often intervals held, and how often the rules to stop were wrong."""
    yield "45 % of the pairs judged in three rounds:"
    yield ""
    heads = ["campaigns", *MEASURES, "order wrong", "width wrong", "recall wrong", "order known"]
    yield f"| world | {' | '.join(heads)} |"
    yield "|---|" + "---|" * len(heads)
    n_off = n_cells = 0
    for name, world in WORLDS.items():
        if named not in name:
            continue
        line = coverage_line(name, world, outcomes(name, world, n_campaigns, workers, kept))
        n_off += sum(line.split(" | ")[2 + at].startswith("**") for at in range(len(MEASURES)))
        n_cells += len(MEASURES)
        yield line
    yield ""
    yield f"{n_cells - n_off} of {n_cells} cells within what is allowed."


def coverage_line(name: str, world: World, found: Sequence[Outcome]) -> str:
    """Return what the campaigns of a world showed."""
    cells = [f"{len(found):,}", *(_coverage(found, world, measure) for measure in MEASURES)]
    cells += [_marked(float(np.mean([one.wrong[r] for one in found]))) for r in found[0].wrong]
    cells.append(f"{np.mean([one.settled for one in found]):.0%}")
    return f"| {name} | {' | '.join(cells)} |"


def _marked(wrong: float) -> str:
    return f"**{wrong:.1%}**" if wrong > LOOKS.alpha else f"{wrong:.1%}"


def _coverage(found: Sequence[Outcome], world: World, measure: str) -> str:
    """Return how often intervals held, in bold where that is too far off."""
    held = [h for one in found for h in one.held[measure]]
    if not held:
        return "none shown"
    n_positives = np.mean([one.n_positives for one in found])
    is_few = world.n_queries <= FEW_QUERIES or n_positives < FEW_POSITIVES
    is_off = abs(np.mean(held) - LEVEL) > (OFF_WHERE_FEW if is_few else OFF)
    shown = len(held) / (len(found) * world.n_models)
    partly = f" ({shown:.0%} shown)" if shown < 0.995 else ""
    return f"**{np.mean(held):.1%}**{partly}" if is_off else f"{np.mean(held):.1%}{partly}"


def saved_table(n_campaigns: int, workers: int) -> Iterator[str]:
    """Yield widths against judging everything, and agreement of the order with it."""
    yield f"Eight distant models, 300 queries, {n_campaigns:,} campaigns:"
    yield ""
    ways = ("pairs alone, no model", "whole queries", "whole queries + label model", "rounds")
    yield "| judged | " + " | ".join(f"{way}: width, tau" for way in ways) + " | saved |"
    yield "|---|" + "---|" * (len(ways) + 1)
    for share in (0.25, 0.5, 0.7):
        with ProcessPoolExecutor(workers) as pool:
            jobs = pool.map(_saved, repeat(share), range(n_campaigns), chunksize=2)
            found = np.array(list(jobs))
        widths, taus = found[:, 0].mean(axis=0), found[:, 1].mean(axis=0)
        cells = [f"× {w:.2f}, {t:.3f}" for w, t in zip(widths, taus, strict=True)]
        yield f"| {share:.0%} | {' | '.join(cells)} | {1 - share * widths[3] ** 2:.0%} |"


def _saved(share: float, seed: int) -> tuple[list[float], list[float]]:
    """Return for each way of judging the width of P@5 against full judging, and tau to it."""
    campaign = simulate(World(), seed)
    pool = campaign.pool
    full = estimate(pool, campaign.labels, [], ["P@5"]).measures[0]
    alone = _pairs_alone(pool, campaign.labels, share, seed)
    everything = _pairs_alone(pool, campaign.labels, 1.0, seed)
    widths = [float((alone.std(axis=1) / everything.std(axis=1)).mean())]
    taus = [float(kendalltau(alone.mean(axis=1), everything.mean(axis=1))[0])]
    thirds = (share / 3,) * 3
    for shares, uniform, model in (
        ((share,), True, False), ((share,), True, True), (thirds, False, True),
    ):  # fmt: skip
        *_, (labels, rounds) = judged_in_rounds(
            pool, campaign.labels, shares, seed, is_uniform=uniform
        )
        found: Estimates = estimate(pool, labels, rounds, ["P@5"], with_model=model)
        one = found.measures[0]
        widths.append(float((one.by_query.std(axis=1) / full.by_query.std(axis=1)).mean()))
        taus.append(float(kendalltau(one.values, full.values)[0]))
    return widths, taus


def _pairs_alone(pool: RankedPool, labels: Floats, share: float, seed: int) -> Floats:
    """Return Horvitz and Thompson's positives in each top 5, pairs drawn one by one."""
    drawn = np.random.default_rng([seed, 2]).random(pool.n_pairs) < share
    weighted = np.where(drawn, labels / share, 0.0)
    return np.stack(
        [
            np.bincount(pool.queries, weighted * ((r > 0) & (r <= 5)), pool.n_queries) / 5
            for r in pool.ranks
        ]
    )


def printed(lines: Iterator[str]) -> Iterator[str]:
    """Yield lines, each printed once it is known."""
    for line in lines:
        print(line, flush=True)
        yield line


def is_said(lines: Sequence[str]) -> bool:
    """Whether the document holds the lines of the worlds, and none of their cells is off."""
    said = DOCUMENT.read_text(encoding="utf-8").splitlines()
    rows = [line for line in lines if line.startswith("|")][2:]
    others = [line for line in rows if line not in said]
    for line in others:
        print(f"the document says otherwise: {line}", file=sys.stderr)
    return not others and not any("**" in line for line in rows)


def write(marks: tuple[str, str], lines: Sequence[str]) -> None:
    """Put lines between their marks in the document."""
    text = DOCUMENT.read_text(encoding="utf-8")
    head, rest = text.split(marks[0])
    _, tail = rest.split(marks[1])
    figures = "\n".join(lines)
    DOCUMENT.write_text(f"{head}{marks[0]}\n{figures}\n{marks[1]}{tail}", encoding="utf-8")


def main() -> int:
    """Simulate, print the figures, and write or check the document."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--campaigns", type=int, help=f"default: {N_CAMPAIGNS:,}, saved {N_SAVED}")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--only", choices=("coverage", "saved"))
    parser.add_argument("--world", default="", help="coverage of those whose name holds this")
    parser.add_argument("--kept", type=Path, help="folder of outcomes; a later run goes on")
    parser.add_argument(
        "--check",
        action="store_true",
        help="compare the document, write nothing; what is allowed is of 1,000 campaigns",
    )
    given = parser.parse_args()
    n_saved, n = given.campaigns or N_SAVED, given.campaigns or N_CAMPAIGNS
    tables = {
        "saved": (SAVED, saved_table(n_saved, given.workers)),
        "coverage": (COVERAGE, coverage_table(n, given.workers, given.world, given.kept)),
    }
    only = "coverage" if given.world else given.only
    is_right = True
    for name, (marks, table) in tables.items():
        if only in (None, name):
            lines = list(printed(table))
            if given.check:
                is_right &= is_said(lines)
            elif not given.world:
                write(marks, lines)
    return int(not is_right)


if __name__ == "__main__":
    sys.exit(main())
