"""Random labels and runs with every awkward thing in them, and the golden cases as tables."""

import numpy as np

from lookalike.io.tables import Qrels, Run


def random_labels_and_run(seed, n_queries=25, n_candidates=40, n_values=12):
    """Ties, one-class queries, a query without labels, queries and judged pairs without scores."""
    rng = np.random.default_rng(seed)
    labels, scores = [], []
    candidates = [f"c{i:02d}" for i in rng.permutation(n_candidates)]
    for q in range(n_queries):
        rate = [0.0, 1.0][q] if q < 2 else rng.random()
        for c in rng.choice(candidates, rng.integers(1, 15), replace=False):
            labels.append((f"q{q:02d}", str(c), int(rng.random() < rate)))
        if q != 3:
            for c in rng.choice(candidates, rng.integers(1, n_candidates), replace=False):
                scores.append((f"q{q:02d}", str(c), float(rng.integers(-n_values, n_values)) / 4))
    scores.append(("q99", "c00", 1.0))
    order = rng.permutation(len(scores))
    return Qrels.of(labels), Run.of("random", [scores[i] for i in order])


def g3() -> tuple[Qrels, Run]:
    """Golden case G3: unjudged candidates, a short list, no positives, a missing query."""
    labels = [("q1", c, label) for c, label in zip("abcde", [1, 0, 1, 0, 1], strict=True)]
    labels += [("q2", "a", 1), ("q2", "b", 1), ("q3", "a", 0), ("q3", "b", 0)]
    labels += [("q4", "a", 1), ("q4", "z", 0)]
    scores = [0.9, 0.85, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3]
    run = [("q1", c, s) for c, s in zip("axbcydwe", scores, strict=True)]
    run += [("q2", "x", 0.9), ("q2", "a", 0.8), ("q2", "b", 0.7)]
    run += [("q3", "a", 0.9), ("q3", "b", 0.8), ("q5", "a", 1.0)]
    return Qrels.of(labels), Run.of("g3", run)


def g2() -> tuple[Qrels, Run, dict[str, str]]:
    """Golden case G2: the official VSD code on two products with two images each."""
    labels = [("q1", "a", 1), ("q1", "b", 0), ("q1", "c", 1)]
    labels += [("q2", "a2", 1), ("q2", "d", 0), ("q2", "e", 1)]
    scores = {
        "q1": {"p": 0.99, "a2": 0.95, "a": 0.9, "b": 0.8, "c": 0.7, "d": 0.6, "e": 0.5, "q2": 0.1},
        "q2": {"a2": 0.9, "d": 0.85, "e": 0.8, "a": 0.7, "b": 0.6, "c": 0.5, "p": 0.4, "q1": 0.1},
    }
    products = {name: name for name in ("b", "c", "d", "e", "q2")}
    products |= {"q1": "Q", "p": "Q", "a": "A", "a2": "A"}
    return Qrels.of(labels), _square(scores), products


def toy() -> tuple[Qrels, Run, dict[str, str]]:
    """The golden toy of the VSD protocol: nine images, two products with two images."""
    labels = [("q1", "a1", 1), ("q1", "b1", 0), ("q1", "c1", 1)]
    labels += [("q2", "c1", 0), ("q2", "d1", 1), ("q2", "a1", 1), ("q2", "b1", 0)]
    labels += [("q3", "b1", 1), ("q3", "d1", 0)]
    order = {
        "q1": "a1 .9 a2 .8 b1 .7 c1 .6 b2 .5 d1 .4 q2 .3 q3 .2",
        "q2": "c1 .95 d1 .85 a1 .75 b2 .65 b1 .55 a2 .45 q3 .35 q1 .25",
        "q3": "b2 .9 b1 .88 a2 .7 d1 .6 c1 .5 a1 .4 q1 .3 q2 .1",
    }
    scores = {}
    for query, text in order.items():
        words = text.split()
        scores[query] = dict(zip(words[::2], map(float, words[1::2]), strict=True))
    products = {name: name for name in ("q1", "q2", "q3", "c1", "d1")}
    products |= {"a1": "A", "a2": "A", "b1": "B", "b2": "B"}
    return Qrels.of(labels), _square(scores), products


def _square(scores):
    """Return a run whose queries also score themselves, as a full similarity matrix does."""
    rows = [(q, c, s) for q, row in scores.items() for c, s in row.items()]
    return Run.of("run", rows + [(q, q, 1.0) for q in scores])
