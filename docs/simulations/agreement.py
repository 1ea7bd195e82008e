"""Coverage of the intervals of agreement, which docs/measures.md cites: about four minutes.

Items have a place, judges a threshold of their own; an answer is yes with the probability that
the normal distribution gives to their sum. `spread` is the standard deviation of thresholds, in
units of one answer's noise. The truth is the coefficient of all items and all judges.
"""

from __future__ import annotations

import argparse
from collections import Counter
from itertools import product

import numpy as np
from scipy.special import ndtr

from lookalike.agreement.intervals import agreement_intervals
from lookalike.agreement.votes import Votes

NAMES = ("percent", "alpha", "ac1")


def true_values(mean: float, slope: float, spread: float) -> dict[str, float]:
    """Return the coefficients of all items and judges."""
    places = np.linspace(-8.0, 8.0, 4001)
    weights = np.exp(-(places**2) / 2)
    weights /= weights.sum()
    share = ndtr((mean + slope * places) / np.sqrt(1.0 + spread**2))
    percent = 1.0 - float(weights @ (2.0 * share * (1.0 - share)))
    pi = float(weights @ share)
    chance = 2.0 * pi * (1.0 - pi)
    alpha = 1.0 - (1.0 - percent) / chance
    return {"percent": percent, "alpha": alpha, "ac1": (percent - chance) / (1.0 - chance)}


def draw(
    rng: np.random.Generator, n_items: int, n_judges: int, mean: float, spread: float
) -> Votes:
    """Return the answers of every judge to every item."""
    places = mean + 2.0 * rng.standard_normal((n_items, 1))
    chance = ndtr(places + spread * rng.standard_normal((1, n_judges)))
    labels = (rng.random((n_items, n_judges)) < chance).astype(np.int64)
    items, judges = np.repeat(np.arange(n_items), n_judges), np.tile(np.arange(n_judges), n_items)
    names = [[str(number) for number in range(n)] for n in (n_items, n_judges, 2)]
    return Votes(names[0], names[1], names[2], items, judges, labels.ravel())


def main() -> None:
    """Print how often each interval holds the truth, in percent, and how often there is one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=300)
    n = parser.parse_args().repetitions
    for n_judges, n_items, spread, mean in product((3, 4, 5, 8), (20, 50), (0.0, 0.5), (0.0, -1.5)):
        rng, truth = np.random.default_rng(0), true_values(mean, 2.0, spread)
        held, given = Counter[str](), Counter[str]()
        for _ in range(n):
            found = agreement_intervals(draw(rng, n_items, n_judges, mean, spread))
            for name in NAMES:
                ends = found[name].judges
                given[name] += ends.is_defined
                held[name] += ends.is_defined and ends.low <= truth[name] <= ends.high
        cells = [
            f"{name} {100 * held[name] / max(given[name], 1):.1f} ({given[name]})" for name in NAMES
        ]
        print(f"{n_judges} judges, {n_items} items, spread {spread}, mean {mean}:", *cells)


if __name__ == "__main__":
    main()
