"""One label per question from several votes: majority and unanimity.

Pure. Only votes count: “can't tell”, “skip” and “later” are no votes. Models of the voters are
in `lookalike.agreement.voter_models`; they are reported beside the labels and never are the labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from lookalike.core.arrays import Bools, Floats, Ints

Rule = Literal["negative", "undecided", "unanimous"]
MODELS = ("dawid-skene", "glad", "mace")  # of the voters, see lookalike.agreement.voter_models
RULES: tuple[str, ...] = get_args(Rule)


@dataclass(frozen=True)
class Labels:
    """The outcome of each question.

    Attributes:
        is_similar: shape (n,); False wherever the question is not decided.
        is_decided: shape (n,); a question without a vote never is.
    """

    is_similar: Bools
    is_decided: Bools


def majority(n_similar: Ints, n_different: Ints, rule: str) -> Labels:
    """Return what more than half of the votes say; the VSD paper's rule is "negative".

    Args:
        n_similar: shape (n,), votes for similar.
        n_different: shape (n,), votes for different.
        rule: "negative": a tie is different; "undecided": a tie has no label; "unanimous": no
            label unless all votes are equal.

    Raises:
        ValueError: an unknown rule.
    """
    if rule not in RULES:
        raise ValueError(f"unknown rule {rule!r}; one of {', '.join(RULES)}")
    has_votes = n_similar + n_different > 0
    if rule == "unanimous":
        is_decided = has_votes & ((n_similar == 0) | (n_different == 0))
    elif rule == "undecided":
        is_decided = has_votes & (n_similar != n_different)
    else:
        is_decided = has_votes
    return Labels(is_similar=is_decided & (n_similar > n_different), is_decided=is_decided)


def is_settled(n_similar: int, n_different: int, n_wanted: int, tie_rule: str) -> bool:
    """Say whether the majority can no longer change, whatever the missing votes will be.

    Args:
        n_similar: votes so far.
        n_different: votes so far.
        n_wanted: votes there will be at most, >= n_similar + n_different.
        tie_rule: "negative" counts a tie as different, so half of the votes are enough for it.
    """
    enough = 2 * n_different >= n_wanted if tie_rule == "negative" else 2 * n_different > n_wanted
    return 2 * n_similar > n_wanted or enough


def top_labels(counts: Ints) -> tuple[Ints, Bools]:
    """Return the first label with the most votes, and whether others have as many.

    Args:
        counts: shape (n_items, n_labels).

    Returns:
        Label index of each item, shape (n_items,); for a tie the lowest of the tied ones, which
        is not to be used as a label. And shape (n_items,), True for ties; an item without any
        vote is a tie.
    """
    best = counts.max(axis=1)
    is_tied: Bools = (counts == best[:, None]).sum(axis=1) > 1
    first: Ints = counts.argmax(axis=1)
    return first, is_tied


def accuracy_with_split_ties(counts: Ints, truth: Ints) -> float:
    """Return how often the majority is right, a tie counting as a share of one.

    Args:
        counts: shape (n_items, n_labels).
        truth: shape (n_items,), label index; outside 0..n_labels-1 for a label nobody gave.

    Returns:
        0..1, NaN without items.
    """
    if not truth.size:
        return float("nan")
    is_true = truth[:, None] == np.arange(counts.shape[1])
    return float(split_ties(counts)[is_true].sum() / truth.size)


def split_ties(counts: Ints) -> Floats:
    """Return 1 for the label with the most votes, equal shares of 1 for labels that tie.

    Args:
        counts: shape (n_items, n_labels).

    Returns:
        Shape (n_items, n_labels), rows summing to 1.

    >>> split_ties(np.array([[3, 1], [2, 2]])).tolist()
    [[1.0, 0.0], [0.5, 0.5]]
    """
    is_top = counts == counts.max(axis=1, keepdims=True)
    shares: Floats = is_top / is_top.sum(axis=1, keepdims=True)
    return shares


def accuracy_by_tie_side(counts: Ints, truth: Ints) -> list[float]:
    """Return the accuracy that results if every tie went to label 0, to label 1, and so on.

    A tie in which the favoured label does not take part counts as wrong, so with more than two
    labels all of these may lie below what ties decided by chance give: see `accuracy_range`.

    Args:
        counts: shape (n_items, n_labels).
        truth: shape (n_items,), label index.

    Returns:
        One figure for each label.
    """
    first, is_tied = top_labels(counts)
    is_top = counts == counts.max(axis=1, keepdims=True)
    sides = []
    for label in range(counts.shape[1]):
        wins = np.where(is_top[:, label], label, -1)
        sides.append(float((np.where(is_tied, wins, first) == truth).mean()))
    return sides


def accuracy_range(counts: Ints, truth: Ints) -> tuple[float, float]:
    """Return the least and the greatest accuracy that any way to decide the ties could give.

    Args:
        counts: shape (n_items, n_labels).
        truth: shape (n_items,), label index; outside 0..n_labels-1 for a label nobody gave.

    Returns:
        With every tie wrong, and with every tie right that holds the true label; NaN without
        items.
    """
    if not truth.size:
        return float("nan"), float("nan")
    _, is_tied = top_labels(counts)
    is_top = counts == counts.max(axis=1, keepdims=True)
    may_be_right = (is_top & (truth[:, None] == np.arange(counts.shape[1]))).any(axis=1)
    return float((may_be_right & ~is_tied).mean()), float(may_be_right.mean())


def label_accuracies(
    shares: Floats, names: Sequence[str], truth: Sequence[str]
) -> dict[str, dict[str, float]]:
    """Return precision, recall and F1 of each label, over the items that have one.

    Args:
        shares: shape (n_items, n_labels), how much of each label an item gets: 1 for its label;
            equal parts of 1 where a tie is split; a row of zeros leaves the item out.
        names: of the labels.
        truth: true label of each item; it need not be one of `names`.

    Returns:
        By label, ascending, if it was given or is true: n_given, n_true, precision, recall and
        f1, NaN where undefined. With split ties, n_given counts shares.

    >>> found = label_accuracies(np.array([[0.5, 0.5], [0, 1]]), ["no", "yes"], ["yes", "yes"])
    >>> found["yes"]["recall"], found["no"]["precision"]
    (0.75, 0.0)
    """
    kept = shares.sum(axis=1) > 0
    true_labels = np.array(truth, dtype=object)[kept]
    given = dict(zip(names, shares[kept].T, strict=True))
    nothing = np.zeros(len(true_labels))

    def ratio(part: float, whole: float) -> float:
        return part / whole if whole else float("nan")

    found = {}
    for name in sorted({*(name for name in names if given[name].any()), *true_labels}):
        own, is_true = given.get(name, nothing), true_labels == name
        n_given, n_true, right = float(own.sum()), int(is_true.sum()), float(own[is_true].sum())
        found[name] = {
            "n_given": int(n_given) if n_given.is_integer() else n_given,
            "n_true": n_true,
            "precision": ratio(right, n_given),
            "recall": ratio(right, n_true),
            "f1": ratio(2 * right, n_given + n_true),
        }
    return found
