"""What `lookalike aggregate` prints: labels, agreement, and accuracy against truth.

Pure; runs without Django.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike.agreement.coefficients import Agreement, agreement
from lookalike.agreement.grades import median_grades, ordinal_agreement
from lookalike.agreement.intervals import LEVEL, CoefficientIntervals, agreement_intervals
from lookalike.agreement.majority import (
    MODELS,
    accuracy_by_tie_side,
    accuracy_range,
    accuracy_with_split_ties,
    label_accuracies,
    split_ties,
    top_labels,
)
from lookalike.agreement.voter_models import posterior
from lookalike.agreement.votes import Votes
from lookalike.core.arrays import Floats, Ints
from lookalike.io.errors import InputError

RULES = ("majority", "median", *MODELS)
TIES = ("negative", "undecided", "split")
SCORED = {  # by tie rule: the items over which accuracy and each label's figures are
    "negative": "all items, a tie as the negative label",
    "undecided": "items with a label, ties left out",
    "split": "all items, a tie as equal shares of its labels",
}
NEGATIVES = ("0", "different", "no", "false", "negative", "-1")
NO_VOTES = "there are no votes"
LONGEST_GRADE = 2  # digits
SAME_CHANCE = 1e-9  # posteriors closer than this are a tie


class AggregateError(InputError):
    """The votes and the rule do not go together; the message says why."""


def aggregate(
    votes: Votes,
    *,
    rule: str = "majority",
    tie: str = "negative",
    negative: str | None = None,
    truth: dict[str, str] | None = None,
    similar_from: int | None = None,
) -> dict[str, Any]:
    """Return one JSON object: labels, ties, agreement, and accuracy where truth is given.

    Args:
        votes: who said what.
        rule: one of `RULES`.
        tie: "negative": a tie is the negative label; "undecided" and "split": a tie has no
            label; "split" scores it, in the accuracy and in each label's figures, as equal shares
            of its labels. `accuracy.scored` names the items and `accuracy.n_scored` counts them.
        negative: the negative label; None where one of two labels is a word of `NEGATIVES`.
        truth: true label by item; items without a vote are counted and left out.
        similar_from: of the rule "median", whose labels are grades: an even number of votes is
            tied only if its two middle grades lie on either side of this one; if None, wherever
            they differ. Its tie "negative" is the lower of the two.

    Raises:
        AggregateError: an unknown rule or tie, or no votes; ties are to be negative and nobody
            says which label is, or no vote has it; labels that are no grades have no median.

    >>> from lookalike.agreement.votes import make_votes
    >>> votes = make_votes([("a", "w1", "yes"), ("a", "w2", "yes"), ("b", "w1", "no")])
    >>> aggregate(votes)["labels"]
    {'a': 'yes', 'b': 'no'}
    """
    for option, value, known in (("rule", rule, RULES), ("tie", tie, TIES)):
        if value not in known:
            raise AggregateError(f"unknown {option} {value!r}; one of {', '.join(known)}")
    if not votes.item_of.size:
        raise AggregateError(NO_VOTES)
    if rule == "median":
        return _medians(votes, tie, similar_from, truth)
    counts = votes.counts()
    table = counts if rule == "majority" else _as_counts(posterior(votes, rule))
    first, is_tied = top_labels(table)
    negative = negative_label(votes.labels, negative)
    if tie == "negative":
        if negative is None and is_tied.any():
            raise AggregateError(
                f"which of the labels {', '.join(map(repr, votes.labels))} is the negative one, "
                f"that {int(is_tied.sum())} ties become? Say it by --negative LABEL, or give ties "
                "no label by --tie undecided."
            )
        labels = [
            negative if tied else votes.labels[best]
            for best, tied in zip(first, is_tied, strict=True)
        ]
    else:
        labels = [
            None if tied else votes.labels[best] for best, tied in zip(first, is_tied, strict=True)
        ]
    result: dict[str, Any] = {
        "rule": rule,
        "tie": tie,
        "n_items": len(votes.items),
        "n_workers": len(votes.workers),
        "n_votes": len(votes.item_of),
        "negative_label": negative,
        "n_ties": int(is_tied.sum()),
        "labels": dict(zip(votes.items, labels, strict=True)),
        "agreement": _agreement(votes),
    }
    if truth is not None:
        result["accuracy"] = _accuracy(votes, table, labels, tie, truth)
    return result


def _medians(
    votes: Votes, tie: str, similar_from: int | None, truth: dict[str, str] | None
) -> dict[str, Any]:
    """Return the median grade of each item."""
    if tie == "split":
        raise AggregateError(
            "a median is not split: say --tie negative, the lower one, or undecided"
        )
    counts = grade_counts(votes)
    lower, upper = median_grades(counts)
    is_tied = lower != upper
    if similar_from is not None:
        is_tied = (lower >= similar_from) != (upper >= similar_from)
    is_decided = ~is_tied | (tie == "negative")
    labels = [
        str(grade) if known else None
        for grade, known in zip(lower.tolist(), is_decided.tolist(), strict=True)
    ]
    ordinal = ordinal_agreement(counts)
    result: dict[str, Any] = {
        "rule": "median",
        "tie": tie,
        "n_items": len(votes.items),
        "n_workers": len(votes.workers),
        "n_votes": len(votes.item_of),
        "n_ties": int(is_tied.sum()),
        "labels": dict(zip(votes.items, labels, strict=True)),
        "agreement": {
            **_agreement(votes, is_graded=True),
            "ordinal_alpha": _or_null(ordinal.alpha),
            "within_one": _or_null(ordinal.within_one),
        },
    }
    if truth is not None:
        is_median = lower[:, None] == np.array([int(label) for label in votes.labels])
        result["accuracy"] = _accuracy(votes, is_median.astype(np.int64), labels, tie, truth)
    return result


def grade_counts(votes: Votes) -> Ints:
    """Return shape (n_items, n_grades): how many workers gave that grade.

    Raises:
        AggregateError: a label is no whole number from 0 to 99.

    >>> from lookalike.agreement.votes import make_votes
    >>> grade_counts(make_votes([("a", "w1", "0"), ("a", "w2", "2")])).tolist()
    [[1, 0, 1]]
    """
    odd = [label for label in votes.labels if not (label.isascii() and label.isdigit())]
    odd += [label for label in votes.labels if label not in odd and str(int(label)) != label]
    if odd or any(len(label) > LONGEST_GRADE for label in votes.labels):
        worst = odd[0] if odd else max(votes.labels, key=len)
        raise AggregateError(f"the label {worst!r} is no grade: a whole number from 0 to 99")
    grades = np.array([int(label) for label in votes.labels])[votes.label_of]
    n_items, n_grades = len(votes.items), max(2, int(grades.max(initial=0)) + 1)
    flat = np.bincount(votes.item_of * n_grades + grades, minlength=n_items * n_grades)
    return flat.reshape(n_items, n_grades)


def vote_intervals(votes: Votes, *, is_graded: bool) -> dict[str, CoefficientIntervals]:
    """Return the intervals of the coefficients that `measure_agreement` and graded votes have.

    Args:
        votes: who said what.
        is_graded: whether labels are grades, which have ordinal coefficients as well.

    Raises:
        AggregateError: as `grade_counts`.
    """
    found = agreement_intervals(votes)
    del found["within_one"], found["ordinal_alpha"]
    if is_graded:
        n_grades = grade_counts(votes).shape[1]
        grades = np.array([int(label) for label in votes.labels])[votes.label_of]
        in_order = replace(votes, labels=list(map(str, range(n_grades))), label_of=grades)
        of_grades = agreement_intervals(in_order)
        found |= {name: of_grades[name] for name in ("within_one", "ordinal_alpha")}
    return found


def measure_agreement(votes: Votes) -> Agreement:
    """Return percent agreement, alpha, AC1, Fleiss' kappa and prevalence of votes.

    One label alone still leaves two possible answers.

    Raises:
        AggregateError: there are no votes.

    >>> from lookalike.agreement.votes import make_votes
    >>> votes = make_votes([("a", "w1", "yes"), ("a", "w2", "yes"), ("b", "w1", "no"),
    ...                   ("b", "w2", "yes")])
    >>> measured = measure_agreement(votes)
    >>> measured.percent, measured.alpha, measured.prevalence
    (0.5, 0.0, [0.25, 0.75])
    """
    if not votes.item_of.size:
        raise AggregateError(NO_VOTES)
    counts = votes.counts()
    return agreement(counts if counts.shape[1] > 1 else np.pad(counts, ((0, 0), (0, 1))))


def negative_label(labels: Sequence[str], named: str | None = None) -> str | None:
    """Return the negative label: the one named, else the one of two that is a known word.

    Raises:
        AggregateError: no vote has the label that is named.
    """
    if named is not None and named not in labels:
        known = ", ".join(map(repr, labels))
        raise AggregateError(f"no vote says {named!r}; the labels are {known}")
    words = [label for label in labels if label.lower() in NEGATIVES]
    return named or (words[0] if len(words) == 1 and len(labels) <= 2 else None)


def _as_counts(chances: NDArray[np.float64]) -> Ints:
    """Turn posteriors into whole numbers in which equal chances are equal."""
    table: Ints = np.rint(chances / SAME_CHANCE).astype(np.int64)
    return table


def _agreement(votes: Votes, *, is_graded: bool = False) -> dict[str, Any]:
    figures = asdict(measure_agreement(votes))
    prevalence = figures.pop("prevalence")
    figures["n_items"] = figures.pop("n_questions")
    shares = dict(zip(votes.labels, prevalence, strict=False))
    intervals = vote_intervals(votes, is_graded=is_graded)
    return {name: _or_null(value) for name, value in figures.items()} | {
        "prevalence": shares,
        "level": LEVEL,
        "intervals": {name: of.as_json() for name, of in intervals.items()},
    }


def _accuracy(
    votes: Votes, table: Ints, labels: list[str | None], tie: str, truth: dict[str, str]
) -> dict[str, Any]:
    """Compare with the truth over the items that have both votes and a truth.

    Where labels are rare, always saying the common one is right often: so each label's precision,
    recall and F1 stand next to the accuracy, and their mean recall (balanced accuracy). All of
    these are over the same `n_scored` items, which `scored` names; what ties could have made of
    the accuracy is over all `n_items`.
    """
    code_of = {label: code for code, label in enumerate(votes.labels)}
    kept = np.array([item in truth for item in votes.items])
    true_labels = [truth[item] for item in votes.items if item in truth]
    codes = np.array([code_of.get(label, -1) for label in true_labels], dtype=np.int64)
    if not codes.size:
        raise AggregateError("No item of the truth has a vote.")
    counts = table[kept]
    worst, best = accuracy_range(counts, codes)
    sides = accuracy_by_tie_side(counts, codes) if len(votes.labels) == 2 else []
    labelled = [label for label, keep in zip(labels, kept, strict=True) if keep]
    shares = split_ties(counts) if tie == "split" else _one_hot(labelled, code_of)
    is_scored = shares.sum(axis=1) > 0
    is_true = codes[:, None] == np.arange(len(votes.labels))
    by_label = label_accuracies(shares, votes.labels, true_labels)
    recalls = [of["recall"] for of in by_label.values() if of["n_true"]]
    n_scored = int(is_scored.sum())
    return {
        "n_items": int(codes.size),
        "n_truth_without_votes": len(set(truth) - set(votes.items)),
        "scored": SCORED[tie],
        "n_scored": n_scored,
        "value": float(shares[is_true].sum()) / n_scored if n_scored else None,
        "n_decided": sum(label is not None for label in labelled),
        "balanced": _or_null(sum(recalls) / len(recalls) if recalls else math.nan),
        "by_label": {
            label: {name: _or_null(value) for name, value in of.items()}
            for label, of in by_label.items()
        },
        "ties_split": accuracy_with_split_ties(counts, codes),
        "ties_worst": worst,
        "ties_best": best,
        "by_tie_side": dict(zip(votes.labels, sides, strict=False)),
    }


def _one_hot(labels: Sequence[str | None], code_of: Mapping[str, int]) -> Floats:
    """Return shape (n_items, n_labels): 1 for an item's label, zeros for an item without one."""
    shares = np.zeros((len(labels), len(code_of)))
    for row, label in enumerate(labels):
        if label is not None:
            shares[row, code_of[label]] = 1.0
    return shares


def _or_null(value: float) -> float | None:
    return None if math.isnan(value) else value
