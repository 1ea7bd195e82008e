"""Label Studio: pairs answered by choices, and pairwise tasks of an anchor and two candidates.

Source: the task format of Label Studio (labelstud.io/guide/task_format). Its tag Pairwise says
which of two images is the better; whether two are similar is asked by Choices.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple
from urllib.parse import parse_qs, quote, urlsplit

from lookalike.io.errors import FormatError
from lookalike.io.json_text import JsonText
from lookalike.io.tables import Row

LOCAL_FILES = "/data/local-files/?d="
SIMILAR = frozenset({"similar", "same", "yes", "match", "1", "true"})
DIFFERENT = frozenset({"different", "dissimilar", "not similar", "no", "no match", "0", "false"})
NO_VOTE = frozenset({"can't tell", "cant tell", "cannot tell", "cant_tell", "unsure", "skip"})
LABELS = ("different", "similar")
PICTURES = (".jpg", ".jpeg", ".png", ".webp")
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


def is_label_studio(file: JsonText) -> bool:
    """Whether JSON is a list of tasks of Label Studio."""
    value = file.value
    return isinstance(value, list) and bool(value) and _is_task(value[0])


def label_studio_rows(file: JsonText) -> Iterator[Row]:
    """Yield the pairs that have an answer, with the majority of them; a tie is different.

    The images are `query` and `candidate` of a task's data, else the two texts that name pictures,
    the first being the query. Cancelled annotations, predictions and "can't tell" are no votes.

    Raises:
        FormatError: no task, a task without two images, or a choice that is neither similar nor
            different.
    """
    for number, (line, task) in enumerate(file.entries(), 1):
        if not _is_task(task):
            raise FormatError(file.path, line, f'task {number} lacks "data" or "annotations"')
        query, candidate = _images(file, line, task["data"], ("query", "candidate"))  # type: ignore[index]
        votes = Counter(
            vote
            for annotation in _annotations(task)
            for choice in _values(annotation, "choices")
            if (vote := _vote(file, line, choice)) is not None
        )
        if votes:
            yield Row(line, query, candidate, int(votes[1] > votes[0]))


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


def pairwise_answers(file: JsonText) -> Iterator[PairwiseAnswer]:
    """Yield the answers to pairwise tasks: which of two candidates is closer to the anchor.

    The images are `anchor`, `left` and `right` of a task's data, else the three texts that name
    pictures, in that order.

    Raises:
        FormatError: no task, or one without three images.
    """
    for number, (line, task) in enumerate(file.entries(), 1):
        if not _is_task(task):
            raise FormatError(file.path, line, f'task {number} lacks "data" or "annotations"')
        data = task["data"]  # type: ignore[index]
        anchor, left, right = _images(file, line, data, ("anchor", "left", "right"))
        condition = str(data.get("condition") or "")
        for annotation in _annotations(task):
            worker = annotation.get("completed_by", "")
            if isinstance(worker, dict):
                worker = worker.get("email") or worker.get("id", "")
            for selected in _values(annotation, "selected"):
                if selected not in ("left", "right"):
                    reason = f"{selected!r} is neither left nor right"
                    yield PairwiseAnswer(line, (), reason=reason)
                    continue
                chosen = (left, right) if selected == "left" else (right, left)
                yield PairwiseAnswer(line, (anchor, *chosen), condition, str(worker))


def _is_task(task: object) -> bool:
    return (
        isinstance(task, dict)
        and isinstance(task.get("data"), dict)
        and isinstance(task.get("annotations"), list)
    )


def _annotations(task: object) -> Iterator[dict[str, object]]:
    for annotation in task["annotations"]:  # type: ignore[index]
        if isinstance(annotation, dict) and not annotation.get("was_cancelled"):
            yield annotation


def _values(annotation: dict[str, object], key: str) -> Iterator[str]:
    results = annotation.get("result")
    for result in results if isinstance(results, list) else []:
        value = result.get("value") if isinstance(result, dict) else None
        found = value.get(key) if isinstance(value, dict) else None
        for text in found if isinstance(found, list) else [found]:
            if text is not None:
                yield str(text)


def _vote(file: JsonText, line: int, choice: str) -> int | None:
    word = choice.strip().casefold().replace("’", "'")
    if word in SIMILAR:
        return 1
    if word in DIFFERENT:
        return 0
    if word in NO_VOTE:
        return None
    reason = f"the choice {choice!r} is neither similar nor different"
    raise FormatError(file.path, line, reason)


def _images(
    file: JsonText, line: int, data: dict[str, object], names: tuple[str, ...]
) -> list[str]:
    """Return the images of a task, by the names of their keys or else by their endings."""
    values: list[object] = [data.get(name) for name in names]
    if not all(isinstance(value, str) and value for value in values):
        values = [value for value in data.values() if _names_picture(value)]
    if len(values) != len(names):
        reason = f"{len(values)} images in its data where {len(names)} belong; "
        raise FormatError(file.path, line, f"{reason}name them {', '.join(names)}")
    return [_path(str(value)) for value in values]


def _names_picture(value: object) -> bool:
    return isinstance(value, str) and _path(value).lower().endswith(PICTURES)


def _path(address: str) -> str:
    """Return the path behind an address of local file storage; any other as it is."""
    if address.startswith(LOCAL_FILES[:-2]):
        return parse_qs(urlsplit(address).query).get("d", [address])[0]
    return address


def _address(path: str) -> str:
    return LOCAL_FILES + quote(path)
