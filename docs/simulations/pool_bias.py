"""Simulate a pool: who is flattered, who is punished, and what closes the gap.

    python docs/simulations/pool_bias.py            prints the figures; writes plot and document
    python docs/simulations/pool_bias.py --check    exits with 1 if the document says otherwise

Three models build a pool; three others are their twins: the same quality, other errors. Every
label in the simulation is true, so any difference between twins is the pool's doing, not theirs.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from lookalike.bias.evidence.pool import Lists, PoolEvidence, RandomNegatives  # noqa: E402
from lookalike.bias.measurements import Measured, measure  # noqa: E402
from lookalike.bias.outsiders import (  # noqa: E402
    equal_outsider,
    family_matched,
    random_negative_auc,
)
from lookalike.bias.subsets import UNIQUES, LabelSet, leave_out_sets  # noqa: E402
from lookalike.core.arrays import Floats  # noqa: E402
from lookalike.metrics.contamination import corrected_auc  # noqa: E402
from lookalike.stats.defined_values import mean_defined  # noqa: E402
from lookalike.stats.rank_correlation import correlations  # noqa: E402

DOCUMENT, PLOT = ROOT / "docs/pool-bias.md", ROOT / "docs/images/pool-bias.svg"
BEGIN, END = "<!-- figures of the simulation -->", "<!-- end of the figures -->"
SEEDS = range(5)
N_POOLED, POSITIVE_SHARE, BAND = 3, 0.01, (100, 500)
QUALITIES = (0.9, 1.0, 1.1)  # noise of the three pooled models and of their twins
COLUMNS = (
    ("annotated AUC", "annotated_auc"),
    ("AP'", "ap"),
    ("P@5", "p@5"),
    ("AUC on random negatives", "random"),
    ("the same, corrected", "corrected"),
    ("equal-outsider AUC", "equal_outsider"),
    ("family-matched AUC", "family_matched"),
)


@dataclass(frozen=True)
class Setting:
    """One simulated world.

    Attributes:
        name: as it stands in the table.
        noise: standard deviation of a model's errors, that of the true similarity being 1.
        depth: k of the pool.
        shared: share of the error variance that a twin shares with its pooled relative.
    """

    name: str
    noise: float
    depth: int = 6
    shared: float = 0.0


SETTINGS = (
    Setting("good models", 0.4),
    Setting("fair models", 0.6),
    Setting("poor models", 0.9),
    Setting("fair models, pool to depth 24", 0.6, depth=24),
    Setting("fair models, twins share half of their errors", 0.6, shared=0.5),
)


@dataclass(frozen=True)
class Size:
    """How large a simulated world is."""

    n_queries: int = 300
    n_images: int = 3_000


@dataclass(frozen=True)
class World:
    """A simulated pool and how far its random negatives are contaminated."""

    evidence: PoolEvidence
    contamination: float


def simulate(setting: Setting, seed: int, size: Size) -> World:
    """Return a pool of three models, with three exact-quality twins outside it.

    True similarity is normal; the best `POSITIVE_SHARE` of all pairs are positive. A model sees it
    through normal errors. Everything the pool proposes is judged, without mistakes.
    """
    rng = np.random.default_rng(seed)
    shape = (size.n_queries, size.n_images)
    truth = rng.normal(size=shape)
    is_positive = truth > np.quantile(truth, 1 - POSITIVE_SHARE)
    errors = [_errors(rng, shape) for _ in range(N_POOLED)]
    own = 1.0 - setting.shared
    twins = [np.sqrt(setting.shared) * e + np.sqrt(own) * _errors(rng, shape) for e in errors]
    scores = np.stack(
        [
            truth + setting.noise * quality * e
            for quality, e in zip(2 * QUALITIES, [*errors, *twins], strict=True)
        ]
    )
    ranks = (-scores).argsort(axis=2).argsort(axis=2) + 1
    proposed = np.where(ranks[:N_POOLED] <= setting.depth, ranks[:N_POOLED], 0)
    in_pool = np.logical_or.reduce(proposed > 0, axis=0)
    queries, images = np.nonzero(in_pool)
    band = (ranks[:N_POOLED] >= BAND[0]) & (ranks[:N_POOLED] <= BAND[1])
    random_queries, random_images = _draw(
        rng, np.logical_or.reduce(band, axis=0) & ~in_pool, in_pool & is_positive
    )
    names = tuple(f"pooled {m}" for m in range(N_POOLED)) + tuple(
        f"twin {m}" for m in range(N_POOLED)
    )
    evidence = PoolEvidence(
        n_queries=size.n_queries,
        queries=queries,
        candidates=images,
        labels=is_positive[queries, images].astype(np.float64),
        generators=names[:N_POOLED],
        ranks=proposed[:, queries, images],
        models=names,
        scores=scores[:, queries, images],
        families={f"{kind} {m}": f"family {m}" for kind in ("pooled", "twin") for m in range(3)},
        lists=Lists(ranks[:, queries, images], np.full((6, size.n_queries), size.n_images)),
        random_negatives=RandomNegatives(random_queries, scores[:, random_queries, random_images]),
    )
    return World(evidence, float(is_positive[random_queries, random_images].mean()))


def gaps(setting: Setting, seed: int, size: Size) -> dict[str, float]:
    """Return by how much twins outside the pool exceed their pooled models, in each column.

    Quality is equal, so a fair column would show 0.
    """
    world = simulate(setting, seed, size)
    pool = world.evidence
    sets = leave_out_sets(pool)
    measured = measure(pool, sets, (5,))
    random = random_negative_auc(pool)
    assert random is not None
    found = {
        "annotated_auc": _gap(measured.macro["macro_auc"][:, 0]),
        "ap": _gap(measured.macro["macro_ap"][:, 0]),
        "p@5": _gap(measured.macro["p@5"][:, 0]),
        "random": _gap(random),
        "equal_outsider": _gap(equal_outsider(pool, sets, measured)),
        "family_matched": _gap(family_matched(pool, sets, measured)),
    }
    change, agreement = _left_out(sets, measured)
    means, _ = mean_defined(random)
    right = [corrected_auc(x, negatives_wrong=world.contamination) for x in means.tolist()]
    found["corrected"] = float(np.mean(right[N_POOLED:]) - np.mean(right[:N_POOLED]))
    auc = mean_defined(measured.macro["macro_auc"][:, 0])[0]
    return found | {
        "own_change": change,
        "agreement": agreement,
        "positive_share": float(pool.labels.mean()),
        "contamination": world.contamination,
        "worst_twin_above_best_pooled": float(auc[N_POOLED:].min() > auc[:N_POOLED].max()),
    }


def _left_out(sets: Sequence[LabelSet], measured: Measured) -> tuple[float, float]:
    """Return, over the pooled models, the mean own change of AUC and mean agreement of the order.

    The agreement is Spearman's over all six models, against the order on all labels.
    """
    auc = measured.macro["macro_auc"]
    changes, agreements = [], []
    for m in range(N_POOLED):
        g = next(i for i, s in enumerate(sets) if (s.kind, s.name) == (UNIQUES, f"pooled {m}"))
        common = ~np.isnan(auc[:, [0, g]]).any(axis=(0, 1))
        full, part = auc[:, 0, common].mean(axis=1), auc[:, g, common].mean(axis=1)
        changes.append(part[m] - full[m])
        agreements.append(float(correlations(full, part).spearman))
    return float(np.mean(changes)), float(np.mean(agreements))


def _errors(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    return rng.normal(size=shape)


def _draw(
    rng: np.random.Generator, may_be_drawn: np.ndarray, is_known: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Draw as many pairs of each query as it has known positives, from those in the band."""
    queries, images = [], []
    for q, wanted in enumerate(is_known.sum(axis=1).tolist()):
        band = np.flatnonzero(may_be_drawn[q])
        drawn = rng.choice(band, min(wanted, band.size), replace=False)
        queries += [q] * drawn.size
        images += drawn.tolist()
    return np.array(queries, dtype=np.int64), np.array(images, dtype=np.int64)


def _gap(values: Floats) -> float:
    """Return mean over twins less mean over pooled models, on the queries all define."""
    common = ~np.isnan(values).any(axis=0)
    means = values[:, common].mean(axis=1)
    return float(means[N_POOLED:].mean() - means[:N_POOLED].mean())


def table(results: dict[Setting, list[dict[str, float]]]) -> Iterator[str]:
    """Yield the figures as a Markdown table."""
    yield "| what twins outside the pool gain | " + " | ".join(s.name for s in results) + " |"
    yield "|---|" + "---|" * len(results)
    for name, key in COLUMNS:
        cells = [f"{_mean(runs, key):+.3f} ± {_spread(runs, key):.3f}" for runs in results.values()]
        yield f"| {name} | " + " | ".join(cells) + " |"
    for name, key in (
        ("positives in the pool", "positive_share"),
        ("contamination", "contamination"),
    ):
        yield f"| {name} | " + " | ".join(f"{_mean(r, key):.1%}" for r in results.values()) + " |"
    cells = [f"{_mean(runs, 'own_change'):+.3f}" for runs in results.values()]
    yield "| own change of AUC when a pooled model is left out | " + " | ".join(cells) + " |"
    cells = [f"{_mean(runs, 'agreement'):.2f}" for runs in results.values()]
    yield "| Spearman of all six models then | " + " | ".join(cells) + " |"
    cells = [
        f"{sum(run['worst_twin_above_best_pooled'] for run in runs):.0f} of {len(runs)}"
        for runs in results.values()
    ]
    yield "| worst twin above the best pooled model, annotated AUC | " + " | ".join(cells) + " |"


def plot(results: dict[Setting, list[dict[str, float]]]) -> Figure:
    """Draw the gap of every column in every setting, one dot per seed."""
    ink = "#767676"  # readable on white and on black
    mpl.rcParams.update({"svg.hashsalt": "pool-bias", "svg.fonttype": "none"})
    figure = Figure(figsize=(9, 5.2))
    axes = figure.subplots(1, len(results), sharey=True)
    for ax, (setting, runs) in zip(axes, results.items(), strict=True):
        for row, (_, key) in enumerate(COLUMNS):
            values = [run[key] for run in runs]
            colour = "#d55e00" if abs(np.mean(values)) > 0.03 else "#0072b2"
            marker = "o" if colour == "#0072b2" else "D"
            ax.plot(values, [row] * len(values), marker, color=colour, markersize=5, alpha=0.8)
        ax.axvline(0, color=ink, linewidth=0.8)
        ax.set_title("\n".join(_wrapped(setting.name)), color=ink, fontsize=9)
        ax.set_xlim(-0.4, 0.4)
        ax.tick_params(colors=ink, labelsize=8)
        for side in ax.spines.values():
            side.set_color(ink)
    axes[0].set_yticks(range(len(COLUMNS)), [name for name, _ in COLUMNS])
    axes[0].invert_yaxis()
    figure.supxlabel("twin outside the pool less pooled model; 0 is fair", color=ink, fontsize=9)
    figure.tight_layout()
    return figure


def _wrapped(name: str) -> list[str]:
    head, _, tail = name.partition(", ")
    words = tail.split(" ")
    return [head, " ".join(words[: len(words) // 2]), " ".join(words[len(words) // 2 :])]


def _mean(runs: Sequence[dict[str, float]], key: str) -> float:
    return float(np.mean([run[key] for run in runs]))


def _spread(runs: Sequence[dict[str, float]], key: str) -> float:
    return float(np.std([run[key] for run in runs]))


def main() -> int:
    """Simulate, print the figures, and write or check plot and document."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare the document, write nothing")
    arguments = parser.parse_args()
    results = {s: [gaps(s, seed, Size()) for seed in SEEDS] for s in SETTINGS}
    figures = "\n".join(table(results))
    print(figures)
    text = DOCUMENT.read_text(encoding="utf-8")
    head, rest = text.split(BEGIN)
    _, tail = rest.split(END)
    wanted = f"{head}{BEGIN}\n{figures}\n{END}{tail}"
    if arguments.check:
        return int(text != wanted)
    DOCUMENT.write_text(wanted, encoding="utf-8")
    PLOT.parent.mkdir(exist_ok=True)
    plot(results).savefig(PLOT, transparent=True, metadata={"Date": None})
    return 0


if __name__ == "__main__":
    sys.exit(main())
