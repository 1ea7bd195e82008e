"""Can silent controls be told from the order in which pairs are served? A classifier tries.

Simulated campaigns (other pools, panels and shares of controls each), served by the site's own
ordering. For every pair served, the attacker knows all that the sequence tells but what the judge
remembers of the pair itself: where it stands in the queue and in its visit, how long the visit
and those beside it are, how often, how long ago and with how many pairs the query was there
before, how many of its pairs came and will come. Gradient boosted trees learn on half of the
judges of each campaign, and are scored on the other half.

    python docs/simulations/control_classifier.py [--campaigns 20]
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import roc_auc_score
from threadpoolctl import threadpool_limits

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from annotation.visits import AS_IT_IS, MIRRORED, AskedPairs, judge_order
from lookalike.core.arrays import Ints

N_JUDGES = 6
FIRST_GOLD = 10**9
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Served:
    """What one judge is served: shape (n,) each.

    Attributes:
        query_ids: the query of each pair.
        is_control: whether it is gold, or the control of a pair that is asked again.
        is_checked: whether it is gold, or either of the two times that a pair is asked.
    """

    query_ids: Ints
    is_control: Flags
    is_checked: Flags


def simulate(seed: int, n_queries: int, n_phases: int = 1) -> list[Served]:
    """Return what each judge of one campaign is served.

    Queries are a third of the catalog's images, as where a pool draws them from it; each has 12
    to 45 candidates. 2 to 6 percent of the pairs are gold, repeats and mirrored each.
    """
    rng = np.random.default_rng(seed)
    sizes = rng.integers(12, 46, n_queries)
    query_ids = np.repeat(np.arange(n_queries), sizes)
    candidates = [rng.choice(np.arange(3 * n_queries), n, replace=False) for n in sizes]
    pairs = AskedPairs(
        np.arange(query_ids.size), query_ids, np.concatenate(candidates),
        rng.integers(0, n_phases, query_ids.size),
    )  # fmt: skip
    n_gold, n_repeats, n_mirrors = (rng.integers(2, 7, 3) * query_ids.size // 100).tolist()
    gold = np.stack([FIRST_GOLD + np.arange(n_gold), rng.choice(query_ids, n_gold)], axis=1)
    return [
        _served(pairs, gold, np.random.default_rng([seed, judge]), n_repeats, n_mirrors)
        for judge in range(N_JUDGES)
    ]


def _served(
    pairs: AskedPairs, gold: Ints, rng: np.random.Generator, n_repeats: int, n_mirrors: int
) -> Served:
    order = judge_order(pairs, gold, rng, n_repeats=n_repeats, n_mirrors=n_mirrors)
    is_gold = order.question_ids >= FIRST_GOLD
    index = np.where(is_gold, order.question_ids - FIRST_GOLD, order.question_ids)
    shown = np.where(order.ways == MIRRORED, pairs.candidate_ids[index], pairs.query_ids[index])
    shown[is_gold] = gold[index[is_gold], 1]
    again = order.question_ids[order.ways != AS_IT_IS]
    is_control = is_gold | (order.ways != AS_IT_IS)
    return Served(shown, is_control, is_gold | np.isin(order.question_ids, again))


def features(query_ids: Ints) -> Floats:
    """Return what a sequence of queries tells about each pair, shape (n, n_features)."""
    n = query_ids.size
    starts = np.flatnonzero(np.append(True, query_ids[1:] != query_ids[:-1]))
    widths = np.diff(np.append(starts, n))
    totals = np.bincount(query_ids)
    seen: dict[int, int] = defaultdict(int)
    visits: dict[int, int] = defaultdict(int)
    last: dict[int, int] = {}
    rows = []
    for number, (start, width) in enumerate(zip(starts.tolist(), widths.tolist(), strict=True)):
        query = int(query_ids[start])
        before = widths[number - 1] if number else 0
        after = widths[number + 1] if number + 1 < widths.size else 0
        gap = start - last.get(query, -n)
        for inside in range(width):
            rows.append((
                (start + inside) / n, inside, width - inside, width, before, after,
                visits[query], seen[query] + inside, min(gap, n),
                totals[query], totals[query] - seen[query] - inside,
            ))  # fmt: skip
        visits[query] += 1
        seen[query] += width
        last[query] = start + width
    return np.array(rows, np.float64)


def score(panels: list[list[Served]], wanted: str) -> float:
    """Learn on half of the judges of each campaign; return the AUC on the other half.

    It is the mean over the campaigns: which of two campaigns has more controls tells no pair.

    Args:
        panels: what the judges of each campaign are served.
        wanted: the field of `Served` to be told.
    """
    tables = [[_table(panel[part::2], wanted) for panel in panels] for part in (0, 1)]
    learned, truth = (np.concatenate(parts) for parts in zip(*tables[0], strict=True))
    model = HistGradientBoostingClassifier(random_state=0)
    with threadpool_limits(1):  # small tables: more threads wait for each other on a busy machine
        model.fit(learned, truth)
        areas = [roc_auc_score(truth, model.predict_proba(X)[:, 1]) for X, truth in tables[1]]
    return float(np.mean(areas))


def _table(judges: list[Served], wanted: str) -> tuple[Floats, Flags]:
    flags: list[Flags] = [getattr(one, wanted) for one in judges]
    return np.concatenate([features(one.query_ids) for one in judges]), np.concatenate(flags)


def main() -> int:
    """Simulate campaigns of several sizes and print the classifier's AUC."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--campaigns", type=int, default=20)
    options = parser.parse_args()
    for n_phases in (1, 4):
        panels = [
            simulate(seed, n_queries, n_phases)
            for seed, n_queries in zip(
                range(options.campaigns), np.tile([60, 120, 240, 480], options.campaigns),
                strict=False,
            )
        ]  # fmt: skip
        served = [one.query_ids for panel in panels for one in panel]
        width = sum(map(len, served)) / sum(int((np.diff(one) != 0).sum()) + 1 for one in served)
        print(
            f"{options.campaigns} campaigns in {n_phases} phase(s): AUC "
            f"{score(panels, 'is_control'):.3f} of controls, "
            f"{score(panels, 'is_checked'):.3f} of all that is checked; "
            f"{width:.1f} pairs of a query in a row"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
