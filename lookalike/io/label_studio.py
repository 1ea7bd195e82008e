"""Label Studio: pairs answered by choices, and pairwise tasks of an anchor and two candidates.

Source: the task format of Label Studio (labelstud.io/guide/task_format). Its tag Pairwise says
which of two images is the better; whether two are similar is asked by Choices.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any, NamedTuple

from lookalike.io.errors import FormatError
from lookalike.io.image_spellings import plain_name
from lookalike.io.json_text import JsonText
from lookalike.io.label_studio_images import ImageKeys
from lookalike.io.label_studio_tasks import (
    DETAILS_KEY,
    Answer,
    answers_of_control,
    read_answers,
)
from lookalike.io.label_words import DIFFERENT, NO_VOTE, SIMILAR, label_of, plain_word
from lookalike.io.named_images import NameOf
from lookalike.io.pair_answers import (
    CANT_TELL,
    SKIP,
    VOTES,
    AnswerKind,
    PairAnswer,
    PairAnswers,
    details_from,
    one_answer_each,
    rules_from,
)
from lookalike.io.vote_options import VoteOptions

SIDES = frozenset({"left", "right"})
COMMENT = "comment"  # the control of texts that judges wrote


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


def label_studio_answers(
    file: JsonText, options: VoteOptions | None = None, name_of: NameOf | None = None
) -> PairAnswers:
    """Return every answer about a pair, with skipped ones and those that are no vote.

    A task's pair is named by the keys `query` and `candidate` of its data, or as the options say.
    If one user has several annotations of one pair, the first or last by their time counts, or
    they are an error. Several choices of one annotation must say the same. A skipped annotation
    is left out if its user answered the pair as well.

    Args:
        file: an export, in full or as JSON-MIN.
        options: control, configuration, and which of a user's answers counts.
        name_of: the name of an image, from its path or address; by default the likeliest path.

    Raises:
        FormatError: no such control or several that fit, a task without its two images, a choice
            that is neither similar nor different, or choices that contradict each other.
    """
    options = options or VoteOptions()
    answers, left_out = read_answers(file)
    words = SIMILAR | DIFFERENT
    answers = answers_of_control(file.path, answers, words, options.control, left_out)
    keys = ImageKeys(file.path, ("query", "candidate"), options)
    answers = sorted([*answers, *left_out.skipped], key=lambda answer: answer.task)
    left_out.skipped.clear()
    read: list[PairAnswer] = []
    for answer in _by_time(answers):
        try:
            images = keys.images(answer)
        except FormatError:
            if answer.words:
                raise
            left_out.skipped.append(answer)  # of a task that is no pair
            continue
        query, candidate = (_name(answer, image, name_of) for image in images)
        read.append(_pair_answer(file, answer, query, candidate))

    counted, notes = one_answer_each(file.path, read, options.repeats)
    left_out.controls.pop(COMMENT, None)  # it is read
    return PairAnswers(counted, **_rules(file), notes=(*left_out.notes(), *notes))


def pairwise_answers(
    file: JsonText, options: VoteOptions | None = None, name_of: NameOf = plain_name
) -> Iterator[PairwiseAnswer]:
    """Yield the answers to pairwise tasks: which of two candidates is closer to the anchor.

    Left and right are the two objects that the control names (`to_name`), the anchor is the
    image `anchor` of the data; or as the options or the keys `left` and `right` say. Without
    `options.repeats` every answer of a user counts.

    Args:
        file: as of `label_studio_answers`.
        options: as of `label_studio_answers`.
        name_of: the name of an image, from its address.

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


def _pair_answer(file: JsonText, answer: Answer, query: str, candidate: str) -> PairAnswer:
    """Return an answer with its details: ours, or what Label Studio knows of any annotation."""
    results = answer.annotation.get("result")
    results = [one for one in results if isinstance(one, dict)] if isinstance(results, list) else []
    word = _answer(file, answer)
    details: dict[str, Any] = {"decided_at": answer.time, "visible_ms": _visible_ms(answer)}
    if (ours := _details(results)) is not None:
        details = details_from(file.path, answer.line, ours)
    elif word in (CANT_TELL, SKIP):
        details["is_counted"] = False
    kind = details.get("kind", AnswerKind.PAIR)
    return PairAnswer(
        query,
        candidate,
        "" if kind is AnswerKind.RULING else answer.worker,
        word,
        comments=_comments(results),
        line=answer.line,
        **details,
    )


def _details(results: list[dict[str, Any]]) -> Mapping[str, Any] | None:
    """Return the details that `label_studio_pieces` wrote; None of an annotation made elsewhere."""
    for result in results:
        meta = result.get("meta")
        if isinstance(meta, dict) and isinstance(meta.get(DETAILS_KEY), dict):
            details: Mapping[str, Any] = meta[DETAILS_KEY]
            return details
    return None


def _comments(results: list[dict[str, Any]]) -> tuple[str, ...]:
    texts: list[str] = []
    for result in results:
        value = result.get("value")
        if result.get("from_name") == COMMENT and isinstance(value, dict):
            text = value.get("text")
            texts += [str(one) for one in (text if isinstance(text, list) else [text]) if one]
    return tuple(texts)


def _visible_ms(answer: Answer) -> int:
    """Return the lead time of an annotation, which is in seconds, in ms; 0 where unknown."""
    seconds = answer.annotation.get("lead_time")
    is_time = isinstance(seconds, (int, float)) and 0 <= seconds < 2_000_000
    return round(seconds * 1000) if is_time and seconds else 0


def _name(answer: Answer, address: str, name_of: NameOf | None) -> str:
    """Return the path that the task states for an address, or that the address means."""
    stated = answer.data.get(DETAILS_KEY)
    names = stated.get("names") if isinstance(stated, dict) else None
    path = names.get(address) if isinstance(names, dict) else None
    if isinstance(path, str) and path:
        return path if name_of is None else name_of(path)
    return (name_of or plain_name)(address)


def _rules(file: JsonText) -> dict[str, Any]:
    """Return the rules that the first task states."""
    for line, task in file.entries():
        data = task.get("data") if isinstance(task, dict) else None
        stated = data.get(DETAILS_KEY) if isinstance(data, dict) else None
        return rules_from(file.path, line, stated)
    return {}


def _answer(file: JsonText, answer: Answer) -> str:
    if not answer.words:
        return SKIP
    said = {_word(file, answer.line, word) for word in answer.words}
    if len(said) != 1:
        shown = ", ".join(map(repr, answer.words))
        raise FormatError(file.path, answer.line, f"the choices {shown} contradict each other")
    return said.pop()


def _word(file: JsonText, line: int, choice: str) -> str:
    label = label_of(choice)
    if label is not None:
        return VOTES[label]
    if plain_word(choice) in NO_VOTE:
        return SKIP if plain_word(choice) == SKIP else CANT_TELL
    reason = f"the choice {choice!r} is neither similar nor different"
    raise FormatError(file.path, line, reason)
