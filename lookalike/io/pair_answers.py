"""Every answer that judges gave about pairs, as files of other tools carry it there and back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from enum import StrEnum
from pathlib import Path
from typing import Any

from lookalike.io.errors import FormatError
from lookalike.io.label_words import DIFFERENT_VOTE, SIMILAR_VOTE
from lookalike.io.repeats import Repeats, without_repeats
from lookalike.io.tables import Row

VOTES = (DIFFERENT_VOTE, SIMILAR_VOTE)  # by their label, 0 and 1
CANT_TELL = "cant_tell"
SKIP = "skip"
UNDECIDED = "undecided"  # the rule by which a tie has no label


class AnswerKind(StrEnum):
    """Why a pair was asked."""

    PAIR = "pair"  # the panel's own question, which votes
    REPEAT = "repeat"  # asked once more, without the judge's knowledge
    MIRROR = "mirror"  # the same, with the images swapped
    RULING = "ruling"  # an admin's decision, which is the label whatever the votes


@dataclass(frozen=True)
class PairAnswer:
    """One answer of one judge about one pair.

    Attributes:
        query: name of the image.
        candidate: name of the image.
        judge: name or pseudonym; "" where the file does not say, and of a ruling.
        answer: "similar", "different", "cant_tell" or "skip".
        kind: why the pair was asked.
        grade: where pairs are graded, else None.
        reason: of a skip, such as "bad_image".
        is_counted: whether it is a vote that counts: neither surplus nor excluded.
        decided_at: time in ISO 8601, "" where unknown.
        visible_ms: time for which the pair was on screen, in ms; 0 where unknown.
        guideline_version: that the judge had read; None where unknown.
        comments: texts by the judge about the pair.
        line: of the task or sample in its file, from 1.
    """

    query: str
    candidate: str
    judge: str
    answer: str
    kind: AnswerKind = AnswerKind.PAIR
    grade: int | None = None
    reason: str = ""
    is_counted: bool = True
    decided_at: str = ""
    visible_ms: int = 0
    guideline_version: int | None = None
    comments: tuple[str, ...] = ()
    line: int = field(default=0, compare=False)

    @property
    def label(self) -> int | None:
        """1 for similar, 0 for different, else None."""
        return VOTES.index(self.answer) if self.answer in VOTES else None

    @property
    def is_vote(self) -> bool:
        """Whether it counts for the label of its pair."""
        return self.kind is AnswerKind.PAIR and self.is_counted and self.label is not None


@dataclass(frozen=True)
class PairAnswers:
    """The answers of a campaign or file, with the rules that make labels of them.

    Attributes:
        answers: in the order of the file.
        tie_rule: "undecided" leaves a tie without a label; "negative" makes it different.
        grades: words of the grades from 0; empty where pairs are similar or different.
        similar_from: the least grade that counts as similar.
        notes: a sentence for each kind of answer that was left out.
    """

    answers: Sequence[PairAnswer]
    tie_rule: str = "negative"
    grades: tuple[str, ...] = ()
    similar_from: int = 1
    notes: tuple[str, ...] = field(default=(), compare=False)

    def rules(self) -> dict[str, Any]:
        """Return the rules as JSON, for `rules_from`."""
        rules: dict[str, Any] = {"tie_rule": self.tie_rule}
        if self.grades:
            rules |= {"grades": list(self.grades), "similar_from": self.similar_from}
        return rules


# Fields that Label Studio and FiftyOne have no place for; both keep them as further JSON.
DETAILS = (
    *("kind", "reason", "is_counted", "decided_at", "visible_ms", "guideline_version"),
    "grade",
)
_DEFAULTS = {one.name: one.default for one in fields(PairAnswer) if one.name in DETAILS}


def one_answer_each(
    path: Path, answers: Sequence[PairAnswer], repeats: Repeats | None, unit: str = "line"
) -> tuple[list[PairAnswer], list[str]]:
    """Return at most one answer of each judge about each pair, and notes on those left out.

    A repeat or mirrored pair is a question of its own. A skip is left out if its judge answered
    the pair as well.

    Args:
        path: of the file, for messages.
        answers: in the order in which they were given.
        repeats: which of several answers counts; None: several are an error.
        unit: the word for a row of the file.

    Raises:
        FormatError: a judge answered one pair twice, and no rule says which answer counts.
    """

    def refuse(first: PairAnswer, second: PairAnswer) -> FormatError:
        reason = f"user {second.judge!r} answered this pair before, in {unit} {first.line}"
        reason += "; say which counts (--repeats)"
        return FormatError(path, second.line, reason, unit=unit)

    rule = repeats or Repeats.ERROR
    counted, n_repeated = without_repeats(answers, _vote_question, rule, refuse)
    answered = {key for one in counted if (key := _vote_question(one))}
    kept: list[PairAnswer] = []
    for one in counted:
        if one.answer == SKIP and (key := _question(one)):
            if key in answered:
                continue
            answered.add(key)
        kept.append(one)
    notes = []
    if n_repeated:
        notes.append(f"left out: {n_repeated:,} repeated answers; the {rule} one counts")
    if n_idle := len(counted) - len(kept):
        notes.append(f"left out: {n_idle:,} skips of judges who answered or skipped the same pair")
    return kept, notes


def _question(answer: PairAnswer) -> tuple[str, ...] | None:
    """Return the key under which answers repeat each other; None if the judge is unknown."""
    known = answer.judge or answer.kind is AnswerKind.RULING
    return (answer.kind, answer.judge, answer.query, answer.candidate) if known else None


def _vote_question(answer: PairAnswer) -> tuple[str, ...] | None:
    return None if answer.answer == SKIP else _question(answer)


def details_of(answer: PairAnswer) -> dict[str, Any]:
    """Return the fields that other tools lack as JSON, without default values."""
    return {
        name: value
        for name, default in _DEFAULTS.items()
        if (value := getattr(answer, name)) != default
    }


def details_from(path: Path, line: int, held: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of `PairAnswer` that `details_of` wrote.

    Raises:
        FormatError: a detail of another type, or an unknown kind.
    """
    details = {name: held[name] for name in DETAILS if name in held}
    for name, value in details.items():
        wanted = int if name in ("grade", "visible_ms", "guideline_version") else str
        is_right = isinstance(value, bool if name == "is_counted" else wanted)
        if name == "kind" and value not in set(AnswerKind):
            is_right = False
        if not is_right or (wanted is int and isinstance(value, bool)):
            raise FormatError(path, line, f"an answer's {name} is {value!r}")
    if "kind" in details:
        details["kind"] = AnswerKind(details["kind"])
    return details


def rules_from(path: Path, line: int, held: object) -> dict[str, Any]:
    """Return the arguments of `PairAnswers` that `rules` wrote; none of a file of another tool.

    Raises:
        FormatError: they are no such rules.
    """
    if not isinstance(held, Mapping):
        return {}
    grades, least = held.get("grades", []), held.get("similar_from", 1)
    is_right = isinstance(grades, list) and all(isinstance(word, str) for word in grades)
    if not is_right or not isinstance(least, int) or not isinstance(held.get("tie_rule", ""), str):
        raise FormatError(path, line, f"the rules of the answers are {dict(held)!r}")
    return {
        "tie_rule": held.get("tie_rule", "negative"),
        "grades": tuple(grades),
        "similar_from": least,
    }


def votes_of(answers: PairAnswers, notes: list[str]) -> list[PairAnswer]:
    """Return the answers that are votes, and note how many are none and why.

    Args:
        answers: of a file.
        notes: receives a sentence for each kind of answer that is no vote, and those of the file.
    """
    notes.extend(answers.notes)
    others = Counter(_why_no_vote(one) for one in answers.answers if not one.is_vote)
    notes.extend(f"left out: {n:,} {why}" for why, n in others.items() if why)
    return [one for one in answers.answers if one.is_vote]


def _why_no_vote(answer: PairAnswer) -> str:
    if answer.kind in (AnswerKind.REPEAT, AnswerKind.MIRROR):
        return "answers to pairs that were asked again to check the judge"
    if answer.kind is AnswerKind.RULING:
        return ""
    if answer.answer == SKIP:
        return "skipped annotations"
    if answer.answer == CANT_TELL:
        return "answers that are no vote (can't tell)"
    return "votes that do not count (surplus or excluded)"


def label_rows(answers: PairAnswers, notes: list[str]) -> Iterator[Row]:
    """Yield each pair that has a label: its ruling, or the majority of its votes.

    A tie is different, or has no label where the rule says so.

    Args:
        answers: of a file.
        notes: receives a sentence for each kind of answer that is left out, and about ties.
    """
    votes = votes_of(answers, notes)
    counts: dict[tuple[str, str], Counter[int]] = {}
    ruled: dict[tuple[str, str], int] = {}
    line_of: dict[tuple[str, str], int] = {}
    rulings = [one for one in answers.answers if one.kind is AnswerKind.RULING]
    for one in (*votes, *rulings):
        if one.label is not None:
            pair = one.query, one.candidate
            line_of.setdefault(pair, one.line)
            if one.kind is AnswerKind.RULING:
                ruled[pair] = one.label
            else:
                counts.setdefault(pair, Counter())[one.label] += 1
    is_undecided = answers.tie_rule == UNDECIDED
    ties = {pair for pair, votes in counts.items() if votes[0] == votes[1]} - ruled.keys()
    if ties:
        outcome = "have no label" if is_undecided else "are different"
        notes.append(f"{len(ties):,} pairs with a tie {outcome}")
    for pair, line in line_of.items():
        if pair in ruled:
            yield Row(line, *pair, ruled[pair])
        elif pair not in ties or not is_undecided:
            yield Row(line, *pair, int(counts[pair][1] > counts[pair][0]))
