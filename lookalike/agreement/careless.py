"""Signs that a judge may not have looked, each with its threshold and what was found. Pure.

None of them proves anything: they say whose answers an admin should read. Thresholds are far from
what people do who look at both pictures; a quick expert passes all of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from lookalike.agreement.judge_statistics import SequenceEffect, Share
from lookalike.core.arrays import Bools, Ints

LEAST = 20  # answers, before any share is told
PAIR_MS = 500  # to take in two pictures and press a key ...
PICTURE_MS = 75  # ... and each further one: who has found what is asked looks no further
UNSEEN_MS = 150  # nobody reacts to a picture in less
SHEET_MS = 600  # to take in a sheet at all ...
CELL_MS = 150  # ... and each picture of it
FAST_SHARE = 0.1
UNSEEN_SHARE = 0.02
ONE_SIDED = 0.95
ONE_SIDED_LEAD = 0.1
LEAST_CHECKS = 5
CHECKS_SHARE = 0.7
ORDER_P = 0.001
LEAST_ORDER = 100
LEAST_STOPS = 3


@dataclass(frozen=True)
class Answers:
    """What one judge answered here, in the order of answering; imported answers have no times.

    Attributes:
        visible_ms: shape (n,), how long each pair was looked at.
        in_sheet: shape (n,), whether it was answered on a sheet.
        shown_ms: shape (n,), when it was shown; one act on a sheet has one time for all its pairs.
        is_vote: shape (n,).
        n_pictures: how many a question shows at least.
        places: shape (m,), where pictures that were picked stood, from 0; the order
            is drawn by lot.
    """

    visible_ms: Ints
    in_sheet: Bools
    shown_ms: Ints
    is_vote: Bools
    n_pictures: int = 2
    places: Ints = field(default_factory=lambda: np.empty(0, np.int64))


@dataclass(frozen=True)
class Flag:
    """One sign: what it is, what would be usual, and what was found."""

    name: str
    title: str
    threshold: str
    evidence: str


def careless_flags(
    answers: Answers,
    *,
    n_similar: int,
    n_different: int,
    others: Share,
    checks: Share,
    sequence: SequenceEffect,
    n_stops: int,
) -> list[Flag]:
    """Return the signs of careless work of one judge.

    Args:
        answers: with their times.
        n_similar: the judge's votes.
        n_different: the same.
        others: the share of “similar” among the votes of all others on the same pairs.
        checks: silent gold and repeats answered as expected.
        sequence: whether answers lean on the one before.
        n_stops: how often the page has stopped a held key.
    """
    found = [
        *_pace(answers),
        *_sheets(answers),
        *_unseen(answers),
        *_one_sided(n_similar, n_different, others),
        *_one_place(answers.places),
    ]
    if checks.n >= LEAST_CHECKS and checks.value < CHECKS_SHARE:
        found.append(
            Flag("checks", "Missed checks", f"{_percent(CHECKS_SHARE)} of {LEAST_CHECKS} or more",
                 f"{checks.n_hits} of {checks.n} silent checks as expected")
        )  # fmt: skip
    if sequence.n >= LEAST_ORDER and sequence.p < ORDER_P:
        does = "follow" if sequence.z < 0 else "turn from"
        found.append(
            Flag("order", "Order effect", f"p of {ORDER_P} or more over {LEAST_ORDER} answers",
                 f"answers {does} the one before: similar after similar "
                 f"{_percent(sequence.after_similar)}, after different "
                 f"{_percent(sequence.after_different)} (z {sequence.z:.1f})")
        )  # fmt: skip
    if n_stops >= LEAST_STOPS:
        found.append(
            Flag("held", "Held a key", f"fewer than {LEAST_STOPS} times",
                 f"the page has stopped a held or hammered key {n_stops} times")
        )  # fmt: skip
    return found


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _pace(answers: Answers) -> Iterator[Flag]:
    times = answers.visible_ms[~answers.in_sheet & answers.is_vote]
    least = PAIR_MS + PICTURE_MS * (answers.n_pictures - 2)
    n_fast = int((times < least).sum())
    if times.size >= LEAST and n_fast > FAST_SHARE * times.size:
        yield Flag(
            "pace", "Pace",
            f"{least / 1000:g} s or more for 9 of 10 votes, {answers.n_pictures} pictures each",
            f"{n_fast} of {times.size} votes in less; median {np.median(times) / 1000:.2f} s",
        )  # fmt: skip


def _sheets(answers: Answers) -> Iterator[Flag]:
    """Look at acts that answered several pairs of a sheet at once, by how many."""
    on_sheet = answers.in_sheet & answers.is_vote
    acts, act_of, sizes = np.unique(
        answers.shown_ms[on_sheet], return_inverse=True, return_counts=True
    )
    if not acts.size:
        return
    spent = np.bincount(act_of, weights=answers.visible_ms[on_sheet], minlength=acts.size)
    is_single = sizes == 1
    least = np.where(is_single, PAIR_MS / 2, SHEET_MS + CELL_MS * sizes)
    n_pairs = int(sizes[spent < least].sum())
    if on_sheet.sum() >= LEAST and n_pairs > FAST_SHARE * on_sheet.sum():
        size = int(np.median(sizes[spent < least]))
        yield Flag(
            "sheets", "Pace of sheets",
            f"{SHEET_MS / 1000} s a sheet and {CELL_MS / 1000} s for each of its pairs",
            f"{n_pairs} of {int(on_sheet.sum())} votes in less, {size} at once in the median",
        )  # fmt: skip


def _unseen(answers: Answers) -> Iterator[Flag]:
    times = answers.visible_ms[~answers.in_sheet & answers.is_vote]
    n_unseen = int((times < UNSEEN_MS).sum())
    if times.size >= LEAST and n_unseen > UNSEEN_SHARE * times.size:
        yield Flag(
            "unseen", "Answered before the pictures could be seen",
            f"{UNSEEN_MS / 1000} s or more for 98 of 100 votes",
            f"{n_unseen} of {times.size} votes in less",
        )  # fmt: skip


def _one_sided(n_similar: int, n_different: int, others: Share) -> Iterator[Flag]:
    n = n_similar + n_different
    if n < LEAST:
        return
    word = "similar" if n_similar > n_different else "different"
    share = max(n_similar, n_different) / n
    usual = others.value if word == "similar" else 1 - others.value
    if share >= ONE_SIDED and not usual > share - ONE_SIDED_LEAD:
        told = (
            "nobody else judged them"
            if others.n == 0
            else f"others {_percent(usual)} on the same pairs"
        )
        yield Flag(
            "one_sided", "One-sided",
            f"less than {_percent(ONE_SIDED)} one answer, "
            f"or others within {_percent(ONE_SIDED_LEAD)}",
            f"{max(n_similar, n_different)} of {n} votes “{word}” ({_percent(share)}); {told}",
        )  # fmt: skip


def _one_place(places: Ints) -> Iterator[Flag]:
    """Look at where picked pictures stood: by lot they stand everywhere equally often."""
    if places.size < LEAST:
        return
    counts = np.bincount(places)
    place, n_there = int(counts.argmax()), int(counts.max())
    if n_there >= ONE_SIDED * places.size:
        yield Flag(
            "one_place", "One place",
            f"less than {_percent(ONE_SIDED)} of picks at one place; pictures are put there by lot",
            f"{n_there} of the latest {places.size} picks at place {place + 1}",
        )  # fmt: skip
