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
import os
import sys
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import roc_auc_score

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from annotation.ordering import AS_IT_IS, judge_order
from lookalike.core.arrays import Ints

N_JUDGES = 6
FIRST_GOLD = 10**9
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Served:
    """What one judge is served: shape (n,) each.

    Attributes:
        query_ids: the query of each pair.
        is_control: whether it is gold, or asked again.
    """

    query_ids: Ints
    is_control: NDArray[np.bool_]


def simulate(seed: int, n_queries: int, n_phases: int = 1) -> list[Served]:
    """Return what each judge of one campaign is served.

    Queries are a third of the catalog's images, as where a pool draws them from it; each has 12
    to 45 candidates. 2 to 6 percent of the pairs are gold, repeats and mirrored each.
    """
    rng = np.random.default_rng(seed)
    sizes = rng.integers(12, 46, n_queries)
    query_ids = np.repeat(np.arange(n_queries), sizes)
    candidates = [rng.choice(np.arange(3 * n_queries), n, replace=False) for n in sizes]
    candidate_ids = np.concatenate(candidates)
    question_ids = np.arange(query_ids.size)
    phases = rng.integers(0, n_phases, query_ids.size)
    n_gold, n_repeats, n_mirrors = (rng.integers(2, 7, 3) * query_ids.size // 100).tolist()
    gold = np.stack([FIRST_GOLD + np.arange(n_gold), rng.choice(query_ids, n_gold)], axis=1)
    query_of = dict(zip(question_ids.tolist(), query_ids.tolist(), strict=True))
    candidate_of = dict(zip(question_ids.tolist(), candidate_ids.tolist(), strict=True))
    query_of |= dict(gold.tolist())
    served = []
    for judge in range(N_JUDGES):
        order = judge_order(
            question_ids, query_ids, candidate_ids, phases, gold,
            np.random.default_rng([seed, judge]), n_repeats=n_repeats, n_mirrors=n_mirrors,
        )  # fmt: skip
        pairs = zip(order.question_ids.tolist(), order.ways.tolist(), strict=True)
        shown = [candidate_of[q] if way == 2 else query_of[q] for q, way in pairs]
        is_control = (order.ways != AS_IT_IS) | (order.question_ids >= FIRST_GOLD)
        served.append(Served(np.array(shown), is_control))
    return served


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


def score(panels: list[list[Served]]) -> float:
    """Learn on half of the judges of each campaign; return the AUC on the other half."""
    halves = [[one for panel in panels for one in panel[part::2]] for part in (0, 1)]
    tables = [np.concatenate([features(one.query_ids) for one in half]) for half in halves]
    truths = [np.concatenate([one.is_control for one in half]) for half in halves]
    model = HistGradientBoostingClassifier(random_state=0).fit(tables[0], truths[0])
    return float(roc_auc_score(truths[1], model.predict_proba(tables[1])[:, 1]))


def main() -> int:
    """Simulate campaigns of several sizes and print the classifier's AUC."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--campaigns", type=int, default=20)
    options = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "2")
    for n_phases in (1, 4):
        panels = [
            simulate(seed, n_queries, n_phases)
            for seed, n_queries in zip(
                range(options.campaigns), np.tile([60, 120, 240, 480], options.campaigns),
                strict=False,
            )
        ]  # fmt: skip
        runs = [int((np.diff(one.query_ids) != 0).sum()) + 1 for panel in panels for one in panel]
        n = sum(one.query_ids.size for panel in panels for one in panel)
        print(
            f"{options.campaigns} campaigns in {n_phases} phase(s): AUC {score(panels):.3f}, "
            f"{n / sum(runs):.1f} pairs of a query in a row"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
