"""Label Studio: pairs answered by choices, and pairwise tasks of an anchor and two candidates.

Source: the task format of Label Studio (labelstud.io/guide/task_format). Its tag Pairwise says
which of two images is the better; whether two are similar is asked by Choices.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import NamedTuple
from urllib.parse import quote

from lookalike.io.errors import FormatError
from lookalike.io.image_spellings import plain_name
from lookalike.io.json_text import JsonText
from lookalike.io.label_studio_images import ImageKeys
from lookalike.io.label_studio_tasks import (
    Answer,
    LeftOut,
    answers_of_control,
    read_answers,
)
from lookalike.io.label_words import DIFFERENT, NO_VOTE, SIMILAR, label_of, plain_word
from lookalike.io.named_images import NameOf
from lookalike.io.repeats import Repeats, without_repeats
from lookalike.io.tables import Row
from lookalike.io.vote_options import VoteOptions

LOCAL_FILES = "/data/local-files/?d="
SIDES = frozenset({"left", "right"})
LABELS = ("different", "similar")
CONFIG = """<View>
  <View style="display: flex; gap: 1em">
    <Image name="query" value="$query"/><Image name="candidate" value="$candidate"/>
  </View>
  <Choices name="similarity" toName="query" choice="single-radio" required="true">
    <Choice value="similar" hotkey="f"/><Choice value="different" hotkey="j"/>
    <Choice value="can't tell"/>
  </Choices>
</View>
"""


class PairVote(NamedTuple):
    """One user's answer about one pair.

    Attributes:
        line: of the task.
        task: its number, from 1.
        query: name of the image.
        candidate: likewise.
        worker: who answered, "" where the file does not say.
        label: 1 similar, 0 different, None for no vote (can't tell).
    """

    line: int
    task: int
    query: str
    candidate: str
    worker: str
    label: int | None


class PairwiseAnswer(NamedTuple):
    """One answer to a pairwise task, or why it is none.

    Attributes:
        line: of the task.
        images: anchor, the chosen candidate and the other one; empty if it is no answer.
        condition: `condition` of the task's data, "" without one.
        worker: who answered, "" where unknown.
        reason: why it is no answer, else "".
    """

    line: int
    images: tuple[str, ...]
    condition: str = ""
    worker: str = ""
    reason: str = ""


def pair_votes(
    file: JsonText, options: VoteOptions | None = None, name_of: NameOf = plain_name
) -> list[PairVote]:
    """Return what each user said of each pair.

    A task's pair is named by the keys `query` and `candidate` of its data, or as the options say.
    Of a user's several annotations of one pair the first or last by their time counts, or they
    are an error. Several choices of one annotation must say the same.

    Args:
        file: an export, in full or as JSON-MIN.
        options: control, configuration, and which of a user's answers counts.
        name_of: the name of an image, from its address.

    Raises:
        FormatError: no such control or several that fit, a task without its two images, a choice
            that is neither similar nor different, or choices that contradict each other.
    """
    options = options or VoteOptions()
    answers, left_out = read_answers(file)
    words = SIMILAR | DIFFERENT
    answers = answers_of_control(file.path, answers, words, options.control, left_out)
    keys = ImageKeys(file.path, ("query", "candidate"), options)
    votes = []
    for answer in _by_time(answers):
        query, candidate = map(name_of, keys.images(answer))
        label = _label(file, answer)
        votes.append(PairVote(answer.line, answer.task, query, candidate, answer.worker, label))

    def refuse(first: PairVote, second: PairVote) -> FormatError:
        reason = f"user {second.worker!r} answered this pair before, in line {first.line}"
        return FormatError(file.path, second.line, f"{reason}; say which counts (--repeats)")

    repeats = options.repeats or Repeats.ERROR
    counted, n_repeated = without_repeats(votes, _question, repeats, refuse)
    options.notes.extend(_notes(left_out, n_repeated, repeats))
    if n_no_vote := sum(vote.label is None for vote in counted):
        options.notes.append(f"left out: {n_no_vote:,} answers that are no vote (can't tell)")
    return counted


def label_studio_rows(
    file: JsonText, options: VoteOptions | None = None, name_of: NameOf = plain_name
) -> Iterator[Row]:
    """Yield each pair that has a vote with its majority; a tie is different.

    Args:
        file: as of `pair_votes`.
        options: as of `pair_votes`.
        name_of: as of `pair_votes`.

    Raises:
        FormatError: as `pair_votes`.
    """
    options = options or VoteOptions()
    counts: dict[tuple[str, str], Counter[int]] = {}
    line_of: dict[tuple[str, str], int] = {}
    for vote in pair_votes(file, options, name_of):
        if vote.label is not None:
            pair = vote.query, vote.candidate
            counts.setdefault(pair, Counter())[vote.label] += 1
            line_of.setdefault(pair, vote.line)
    if n_ties := sum(count[0] == count[1] for count in counts.values()):
        options.notes.append(f"{n_ties:,} pairs with a tie are different")
    for pair, count in counts.items():
        yield Row(line_of[pair], *pair, int(count[1] > count[0]))


def label_studio_pieces(labels: Iterable[tuple[str, str, int]]) -> Iterator[str]:
    """Yield labelled pairs as tasks, one a line, for CONFIG; images from local file storage.

    Raises:
        ValueError: a label outside {0, 1}.
    """
    before = "[\n"
    for query, candidate, label in labels:
        if label not in (0, 1):
            raise ValueError(f"label {label!r} of {query!r}, {candidate!r} is neither 0 nor 1")
        choice = {
            "from_name": "similarity",
            "to_name": "query",
            "type": "choices",
            "value": {"choices": [LABELS[label]]},
        }
        task = {
            "data": {"query": _address(query), "candidate": _address(candidate)},
            "annotations": [{"result": [choice], "was_cancelled": False}],
        }
        yield before + json.dumps(task, ensure_ascii=False)
        before = ",\n"
    yield "[]\n" if before == "[\n" else "\n]\n"


def pairwise_answers(
    file: JsonText, options: VoteOptions | None = None, name_of: NameOf = plain_name
) -> Iterator[PairwiseAnswer]:
    """Yield the answers to pairwise tasks: which of two candidates is closer to the anchor.

    Left and right are the two objects that the control names (`to_name`), the anchor is the
    image `anchor` of the data; or as the options or the keys `left` and `right` say. Without
    `options.repeats` every answer of a user counts.

    Args:
        file: as of `pair_votes`.
        options: as of `pair_votes`.
        name_of: as of `pair_votes`.

    Raises:
        FormatError: no such control or several that fit, no task, or one without three images.
    """
    options = options or VoteOptions()
    answers, left_out = read_answers(file)
    answers = answers_of_control(file.path, answers, SIDES, options.control, left_out)
    keys = ImageKeys(file.path, ("anchor", "left", "right"), options)
    yield from [_pairwise(answer, keys, name_of) for answer in _by_time(answers)]
    options.notes.extend(left_out.notes())


def _pairwise(answer: Answer, keys: ImageKeys, name_of: NameOf) -> PairwiseAnswer:
    objects = answer.objects
    named = dict(zip(("left", "right"), objects, strict=True)) if len(objects) == 2 else None
    anchor, left, right = map(name_of, keys.images(answer, named))
    selected = {plain_word(word) for word in answer.words}
    if len(selected) != 1 or not selected <= SIDES:
        shown = ", ".join(map(repr, answer.words))
        return PairwiseAnswer(answer.line, (), reason=f"{shown} is neither left nor right")
    chosen = (left, right) if selected == {"left"} else (right, left)
    condition = str(answer.data.get("condition") or "")
    return PairwiseAnswer(answer.line, (anchor, *chosen), condition, answer.worker)


def _by_time(answers: list[Answer]) -> Iterator[Answer]:
    """Yield answers as they stand, those of one task by their time where all have one."""
    for _, group in groupby(answers, key=lambda answer: answer.task):
        same = list(group)
        yield from sorted(same, key=lambda one: one.time) if all(a.time for a in same) else same


def _question(vote: PairVote) -> tuple[str, ...] | None:
    return (vote.worker, vote.query, vote.candidate) if vote.worker else None


def _label(file: JsonText, answer: Answer) -> int | None:
    labels = {_vote(file, answer.line, word) for word in answer.words}
    if len(labels) != 1:
        shown = ", ".join(map(repr, answer.words))
        raise FormatError(file.path, answer.line, f"the choices {shown} contradict each other")
    return labels.pop()


def _notes(left_out: LeftOut, n_repeated: int, repeats: Repeats) -> list[str]:
    notes = left_out.notes()
    if n_repeated:
        notes.append(f"left out: {n_repeated:,} repeated answers; the {repeats} one counts")
    return notes


def _vote(file: JsonText, line: int, choice: str) -> int | None:
    label = label_of(choice)
    if label is not None or plain_word(choice) in NO_VOTE:
        return label
    reason = f"the choice {choice!r} is neither similar nor different"
    raise FormatError(file.path, line, reason)


def _address(path: str) -> str:
    return LOCAL_FILES + quote(path)
