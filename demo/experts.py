"""Simulated experts: they judge pairs of the demo's catalog from its known attributes.

Nobody looked at these pictures. A rule over attributes stands in for the truth, and each expert
departs from it at rates stated here. Every place that shows such judgements must say that they
are simulated.

**How truth is defined.** Two products are similar if and only if their attributes agree in at
least `THRESHOLD` of 100 points. `WEIGHTS` says how many points each attribute is worth:

- equal values earn all the points of the attribute;
- colours that are kindred (`KINDRED`, such as navy and blue) earn half of them, other unequal
  values none;
- the second colour counts as equal when neither product shows it (plain, with tonal trim).

Products of different categories reach 60 points at most, so they are never similar. What belongs
to the picture and not to the product (view, background, pose, light) counts for nothing. The
rule is symmetric.

**How experts differ from it.** Each pair is first either answered or not ("can't tell"). Given
an answer, it is wrong at the expert's false-positive rate when the pair is different, and at the
false-negative rate when it is similar; a personal bias raises one of the two on the pairs it
names. On pairs of different categories all rates shrink by `FAR_FACTOR`: nobody takes a shoe for
a chair as often as one shirt for another.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

Attributes = Mapping[str, str]
Answer = Literal["similar", "different", "cant_tell"]

WEIGHTS: Final[Mapping[str, int]] = {
    "category": 40,
    "colour": 16,
    "texture": 15,
    "cut": 9,
    "detail": 6,
    "pattern_scale": 4,
    "material": 4,
    "second_colour": 3,
    "trim": 3,
}
THRESHOLD: Final = 70

KINDRED: Final = frozenset(
    frozenset(pair)
    for pair in (
        ("navy", "blue"),
        ("navy", "black"),
        ("black", "gray"),
        ("gray", "silver"),
        ("silver", "white"),
        ("maroon", "red"),
        ("maroon", "purple"),
        ("red", "orange"),
        ("orange", "yellow"),
        ("fuchsia", "purple"),
        ("green", "lime"),
        ("green", "olive"),
        ("green", "teal"),
        ("teal", "aqua"),
        ("aqua", "blue"),
    )
)

FAR_FACTOR: Final = 0.1
CLOSE_CALL: Final = 8  # points around the threshold within which an expert hesitates
HESITATION: Final = 1.35
BAFFLEMENT: Final = 1.5
SHORTEST_MS, LONGEST_MS = 500, 60_000


def _check_rate(field: str, rate: float) -> None:
    if not 0.0 <= rate < 0.5:
        raise ValueError(f"{field} must be in [0, 0.5), not {rate}")


@dataclass(frozen=True)
class Bias:
    """An expert's weak spot: on some pairs, one kind of error is more frequent.

    Attributes:
        attribute: the attribute that misleads.
        when: whether it misleads where it is "equal" or where it is "unequal".
        error: which error is meant.
        rate: the rate of that error on such pairs, instead of the expert's usual one.
    """

    attribute: str
    when: Literal["equal", "unequal"]
    error: Literal["false_positive", "false_negative"]
    rate: float

    def __post_init__(self) -> None:
        _check_rate("bias.rate", self.rate)
        if self.attribute not in WEIGHTS:
            raise ValueError(f"bias.attribute {self.attribute!r} is not one of {list(WEIGHTS)}")


@dataclass(frozen=True)
class Expert:
    """A simulated expert, with all its rates.

    Attributes:
        name: says that it is simulated.
        false_positive_rate: P(answers "similar" | answers, the pair is different).
        false_negative_rate: P(answers "different" | answers, the pair is similar).
        cant_tell_rate: P("can't tell").
        bias: where one of its error rates is higher.
        median_ms: median time to an answer on a clear pair, milliseconds.
        spread: standard deviation of the logarithm of that time.
    """

    name: str
    false_positive_rate: float
    false_negative_rate: float
    cant_tell_rate: float
    bias: Bias
    median_ms: int
    spread: float

    def __post_init__(self) -> None:
        for field in ("false_positive_rate", "false_negative_rate", "cant_tell_rate"):
            _check_rate(field, getattr(self, field))


@dataclass(frozen=True)
class SimulatedAnswer:
    """What a simulated expert answered, and how long it pretends to have thought."""

    answer: Answer
    think_ms: int


EXPERTS: Final = (
    Expert(
        name="Simulated expert A",
        false_positive_rate=0.03,
        false_negative_rate=0.05,
        cant_tell_rate=0.02,
        bias=Bias("cut", "unequal", "false_negative", 0.15),
        median_ms=5200,
        spread=0.45,
    ),
    Expert(
        name="Simulated expert B",
        false_positive_rate=0.06,
        false_negative_rate=0.06,
        cant_tell_rate=0.01,
        bias=Bias("colour", "equal", "false_positive", 0.18),
        median_ms=2900,
        spread=0.40,
    ),
    Expert(
        name="Simulated expert C",
        false_positive_rate=0.09,
        false_negative_rate=0.03,
        cant_tell_rate=0.04,
        bias=Bias("texture", "equal", "false_positive", 0.20),
        median_ms=3800,
        spread=0.55,
    ),
)


def similarity(query: Attributes, candidate: Attributes) -> int:
    """Count the points in which two products agree, as the module says.

    Args:
        query: attributes of the one picture; all names of `WEIGHTS`.
        candidate: attributes of the other one.

    Returns:
        0 to 100; the same when the two are exchanged.

    Raises:
        ValueError: if an attribute is missing, named in the message.
    """
    for role, attributes in (("query", query), ("candidate", candidate)):
        missing = [name for name in WEIGHTS if name not in attributes]
        if missing:
            raise ValueError(f"the {role} has no attribute {', '.join(missing)}")
    return sum(points * _agreement(name, query, candidate) // 2 for name, points in WEIGHTS.items())


def _agreement(name: str, query: Attributes, candidate: Attributes) -> int:
    """Halves of an attribute's points that a pair earns: 0, 1 or 2."""
    if query[name] == candidate[name]:
        return 2
    if name == "colour" and frozenset((query[name], candidate[name])) in KINDRED:
        return 1
    if name == "second_colour" and not (_shows_second(query) or _shows_second(candidate)):
        return 2
    return 0


def _shows_second(attributes: Attributes) -> bool:
    return attributes["texture"] != "plain" or attributes["trim"] != "tonal"


def is_similar(query: Attributes, candidate: Attributes) -> bool:
    """Say whether a pair is similar by the rule that the experts try to follow."""
    return similarity(query, candidate) >= THRESHOLD


def error_rate(query: Attributes, candidate: Attributes, expert: Expert) -> float:
    """The stated probability that the expert's answer on this pair, if it gives one, is wrong."""
    truly = is_similar(query, candidate)
    rate = expert.false_negative_rate if truly else expert.false_positive_rate
    bias = expert.bias
    matches = query[bias.attribute] == candidate[bias.attribute]
    if (bias.error == "false_negative") == truly and (bias.when == "equal") == matches:
        rate = bias.rate
    return rate * _nearness(query, candidate)


def cant_tell_rate(query: Attributes, candidate: Attributes, expert: Expert) -> float:
    """The stated probability that the expert answers "can't tell" on this pair."""
    return expert.cant_tell_rate * _nearness(query, candidate)


def _nearness(query: Attributes, candidate: Attributes) -> float:
    return 1.0 if query["category"] == candidate["category"] else FAR_FACTOR


def pair_rng(
    seed: int, expert: Expert, query_id: str | int, candidate_id: str | int
) -> np.random.Generator:
    """The random stream of one expert on one pair.

    It depends on these four alone, so answers are the same in whatever order pairs are judged,
    and judging more pairs changes no earlier answer.
    """
    key = repr((seed, expert.name, str(query_id), str(candidate_id))).encode()
    return np.random.default_rng(int.from_bytes(hashlib.sha256(key).digest()[:16]))


def judge_pair(
    query_attributes: Attributes,
    candidate_attributes: Attributes,
    expert: Expert,
    rng: np.random.Generator,
) -> SimulatedAnswer:
    """Let a simulated expert judge a pair.

    Args:
        query_attributes: all names of `WEIGHTS`; others are ignored.
        candidate_attributes: likewise.
        expert: whose rates apply.
        rng: the stream of this expert on this pair, from `pair_rng`; three numbers are drawn.

    Returns:
        The answer, and a think time in [500, 60000] ms: log-normal around the expert's median,
        a third longer near the threshold, half as long again before "can't tell".

    Raises:
        ValueError: if an attribute is missing.
    """
    gives_up, errs = rng.random(2)
    points = similarity(query_attributes, candidate_attributes)
    pace = float(np.exp(expert.spread * rng.standard_normal()))
    if abs(points - THRESHOLD) <= CLOSE_CALL:
        pace *= HESITATION
    says_similar = is_similar(query_attributes, candidate_attributes)
    answer: Answer
    if gives_up < cant_tell_rate(query_attributes, candidate_attributes, expert):
        answer = "cant_tell"
        pace *= BAFFLEMENT
    else:
        if errs < error_rate(query_attributes, candidate_attributes, expert):
            says_similar = not says_similar
        answer = "similar" if says_similar else "different"
    think_ms = round(min(max(expert.median_ms * pace, SHORTEST_MS), LONGEST_MS))
    return SimulatedAnswer(answer, think_ms)
