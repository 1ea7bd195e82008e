"""Tasks of Label Studio as answers, each with the control and the user that gave it.

Source: the formats JSON and JSON-MIN of Label Studio (labelstud.io/guide/export) and its tags
Choices and Pairwise (labelstud.io/tags).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from lookalike.io.errors import FormatError
from lookalike.io.image_spellings import PICTURE, plain_name
from lookalike.io.json_text import JsonText
from lookalike.io.label_words import plain_word

JUDGE_DOMAIN = "@lookalike.invalid"  # of the addresses that stand for pseudonyms
DETAILS_KEY = "lookalike"  # in the data of a task and the meta of a result: what we alone write
MIN_KEYS = frozenset(
    {"id", "annotator", "annotation_id", "created_at", "updated_at", "lead_time", "inner_id"}
)
_ANY = frozenset({"yes", "no", "true", "false", "0", "1"})  # which any question may have


class Answer(NamedTuple):
    """One user's answer with one control.

    Attributes:
        line: of the task.
        task: its number, from 1.
        data: of the task.
        control: name of the control.
        objects: names of the objects that the control labels (`to_name`).
        words: the selected choices.
        worker: who answered, "" where the file does not say.
        time: when it was last changed, "" where unknown.
        annotation: the whole annotation; empty in JSON-MIN.
    """

    line: int
    task: int
    data: Mapping[str, Any]
    control: str
    objects: tuple[str, ...]
    words: tuple[str, ...]
    worker: str
    time: str
    annotation: Mapping[str, Any] = {}


@dataclass
class LeftOut:
    """Content of an export other than the answers that are read.

    Attributes:
        skipped: annotations that were skipped (cancelled), without words.
        predictions: of models.
        drafts: not submitted.
        unanswered: tasks without an annotation.
        controls: {control: answers given with it that are not read}.
    """

    skipped: list[Answer] = field(default_factory=list)
    predictions: int = 0
    drafts: int = 0
    unanswered: int = 0
    controls: Counter[str] = field(default_factory=Counter)

    def notes(self) -> list[str]:
        """Return a sentence for each kind that there is."""
        counts = {
            "skipped annotations": len(self.skipped),
            "predictions": self.predictions,
            "drafts": self.drafts,
            "tasks without an annotation": self.unanswered,
        }
        notes = [f"left out: {n:,} {what}" for what, n in counts.items() if n]
        return notes + [
            f"left out: {n:,} answers of the control {name!r}" for name, n in self.controls.items()
        ]


def is_label_studio(file: JsonText) -> bool:
    """Whether JSON is a list of tasks of Label Studio, in full or as JSON-MIN."""
    value = file.value
    return isinstance(value, list) and bool(value) and (_is_task(value[0]) or _is_min(value[0]))


def read_answers(file: JsonText) -> tuple[list[Answer], LeftOut]:
    """Return all answers of an export in the order of the file, and what else it holds.

    Raises:
        FormatError: an entry that is no task.
    """
    left_out = LeftOut()
    answers: list[Answer] = []
    for number, (line, task) in enumerate(file.entries(), 1):
        if _is_task(task):
            answers += _task_answers(line, number, task, left_out)  # type: ignore[arg-type]
        elif _is_min(task):
            answers += _min_answers(line, number, task)  # type: ignore[arg-type]
        else:
            reason = f'task {number} lacks "data" or "annotations"'
            raise FormatError(file.path, line, reason)
    return answers, left_out


def answers_of_control(
    path: Path, answers: Sequence[Answer], words: frozenset[str], wanted: str, left_out: LeftOut
) -> list[Answer]:
    """Return the answers of the named control, or of the only one that uses certain words.

    Args:
        path: of the file, for messages.
        answers: of all controls.
        words: those that make a control fit, in small letters.
        wanted: name of the control; "": the one that fits.
        left_out: receives the counts of the other controls.

    Raises:
        FormatError: there is no such control, or several fit.
    """
    used: dict[str, set[str]] = {}
    for answer in answers:
        if not answer.words[0].startswith("<"):
            used.setdefault(answer.control, set()).update(map(plain_word, answer.words))
    names = ", ".join(map(repr, sorted(used))) or "none"
    if wanted and wanted not in used:
        reason = f"no control with choices is called {wanted!r}; there are: {names}"
        raise FormatError(path, None, reason)
    fitting = [wanted] if wanted else [name for name, said in used.items() if said & words]
    if not fitting and len(used) == 1:
        fitting = list(used)
    is_sure = bool(wanted) or len(used) < 2 or any(used[name] & words - _ANY for name in fitting)
    if len(fitting) > 1 or (fitting and not is_sure):
        reason = f"which control has the answers? There are {names}; name one (--control)"
        raise FormatError(path, None, reason)
    if used and not fitting:
        reason = f"none of the controls {names} has the answers {', '.join(sorted(words))}"
        raise FormatError(path, None, f"{reason}; name one (--control)")
    for answer in answers:
        if answer.control not in fitting:
            left_out.controls[answer.control] += 1
    return [answer for answer in answers if answer.control in fitting]


def _is_task(task: object) -> bool:
    return (
        isinstance(task, dict)
        and isinstance(task.get("data"), dict)
        and isinstance(task.get("annotations", task.get("completions")), list)
    )


def _is_min(task: object) -> bool:
    return isinstance(task, dict) and {"annotation_id", "annotator"} <= task.keys()


def _task_answers(
    line: int, number: int, task: Mapping[str, Any], left_out: LeftOut
) -> Iterator[Answer]:
    annotations = task.get("annotations", task.get("completions"))
    left_out.predictions += len(task.get("predictions") or ())
    left_out.drafts += len(task.get("drafts") or ())
    left_out.unanswered += not annotations
    for annotation in annotations or ():
        if not isinstance(annotation, dict):
            continue
        worker = _worker(annotation.get("completed_by"))
        time = str(annotation.get("updated_at") or annotation.get("created_at") or "")
        blank = Answer(line, number, task["data"], "", (), (), worker, time, annotation)
        if annotation.get("was_cancelled") or annotation.get("skipped"):
            left_out.skipped.append(blank)
            continue
        for control, objects, words in _results(annotation.get("result")):
            yield blank._replace(control=control, objects=objects, words=words)


def _results(results: object) -> Iterator[tuple[str, tuple[str, ...], tuple[str, ...]]]:
    """Yield control, objects and words of an annotation; all choices of a control are one."""
    said: dict[str, tuple[tuple[str, ...], list[str]]] = {}
    for result in results if isinstance(results, list) else []:
        value = result.get("value") if isinstance(result, dict) else None
        if not isinstance(value, dict):
            continue
        objects = tuple(part.strip() for part in str(result.get("to_name") or "").split(","))
        words = said.setdefault(str(result.get("from_name") or ""), (objects, []))[1]
        words += _words(value)
    for control, (objects, words) in said.items():
        if words:
            yield control, objects, tuple(dict.fromkeys(words))


def _words(value: Mapping[str, Any]) -> list[str]:
    """Return the selected choices of a value, or a marker for other kinds of control."""
    for key in ("choices", "selected"):
        held = value.get(key)
        if isinstance(held, list):
            return [str(one) for one in held]
        if held is not None:
            return [str(held)]
    return [f"<{next(iter(value), 'nothing')}>"]


def _min_answers(line: int, number: int, task: Mapping[str, Any]) -> Iterator[Answer]:
    """Yield the answers of a row of JSON-MIN, where each key may be of a control or of the data."""
    data = {key: value for key, value in task.items() if key not in MIN_KEYS}
    answers = {key: value for key, value in data.items() if key != DETAILS_KEY}
    time = str(task.get("updated_at") or task.get("created_at") or "")
    for key, value in answers.items():
        if isinstance(value, dict):
            words = _words(value)
        elif isinstance(value, str) and not names_picture(value):
            words = [value]
        else:
            continue
        worker = _worker(task.get("annotator"))
        yield Answer(line, number, data, key, (), tuple(words), worker, time)


def _worker(held: object) -> str:
    if isinstance(held, dict):
        held = held.get("email") or held.get("username") or held.get("id")
    return "" if held is None else str(held).removesuffix(JUDGE_DOMAIN)


def names_picture(value: object) -> bool:
    return (
        isinstance(value, str) and PICTURE.search(plain_name(value).partition("?")[0]) is not None
    )
