"""Write pairs with every answer as tasks of Label Studio, to be labelled there or read again.

A task is a pair, an annotation one judge's answer. The control `similarity` has the choice, the
control `comment` what the judge wrote. What Label Studio has no field for stands in the `meta` of
the first result, which it keeps.

Source: labelstud.io/guide/task_format and labelstud.io/tags/choices.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import groupby
from operator import attrgetter
from typing import Any
from urllib.parse import quote

from lookalike.io.label_studio import COMMENT
from lookalike.io.label_studio_tasks import DETAILS_KEY, JUDGE_DOMAIN
from lookalike.io.pair_answers import (
    CANT_TELL,
    SKIP,
    AnswerKind,
    PairAnswer,
    PairAnswers,
    details_of,
)

LOCAL_FILES = "/data/local-files/?d="
CHOICE_OF = {CANT_TELL: "can't tell"}  # others are called as they are
RULING = "ruling"  # stands for the judge of a ruling
CONFIG = """<View>
  <View style="display: flex; gap: 1em">
    <Image name="query" value="$query"/><Image name="candidate" value="$candidate"/>
  </View>
  <Choices name="similarity" toName="query" choice="single-radio" required="true">
    <Choice value="similar" hotkey="f"/><Choice value="different" hotkey="j"/>
    <Choice value="can't tell"/>
  </Choices>
  <TextArea name="comment" toName="query" placeholder="Comment"/>
</View>
"""


def label_studio_pieces(answers: PairAnswers) -> Iterator[str]:
    """Yield pairs as tasks, one a line, for CONFIG; images from local file storage.

    Args:
        answers: those of one pair stand next to each other.
    """
    judges = sorted({one.judge for one in answers.answers if one.judge})
    id_of = {judge: number for number, judge in enumerate(judges, 1)}
    before = "[\n"
    for number, (pair, group) in enumerate(
        groupby(answers.answers, key=attrgetter("query", "candidate")), 1
    ):
        query, candidate = map(_address, pair)
        names = {query: pair[0], candidate: pair[1]}
        task = {
            "id": number,
            "data": {
                "query": query,
                "candidate": candidate,
                DETAILS_KEY: {**answers.rules(), "names": names},
            },
            "annotations": [_annotation(one, id_of.get(one.judge, 0)) for one in group],
        }
        yield before + json.dumps(task, ensure_ascii=False)
        before = ",\n"
    yield "[]\n" if before == "[\n" else "\n]\n"


def _annotation(answer: PairAnswer, judge_id: int) -> dict[str, Any]:
    choices = [] if answer.answer == SKIP else [CHOICE_OF.get(answer.answer, answer.answer)]
    results = [
        {
            "from_name": "similarity",
            "to_name": "query",
            "type": "choices",
            "value": {"choices": choices},
            "meta": {DETAILS_KEY: details_of(answer)},
        }
    ]
    if answer.comments:
        text = {"text": list(answer.comments)}
        named = {"from_name": COMMENT, "to_name": "query", "type": "textarea"}
        results.append({**named, "value": text})
    annotation: dict[str, Any] = {
        "result": results,
        "was_cancelled": answer.answer == SKIP,
        "ground_truth": answer.kind is AnswerKind.RULING,
    }
    judge = RULING if answer.kind is AnswerKind.RULING else answer.judge
    if judge:
        annotation["completed_by"] = {
            "id": judge_id,
            "email": judge if "@" in judge else f"{judge}{JUDGE_DOMAIN}",
            "first_name": judge,
            "last_name": "",
        }
    if answer.decided_at:
        annotation |= {"created_at": answer.decided_at, "updated_at": answer.decided_at}
    if answer.visible_ms:
        annotation["lead_time"] = answer.visible_ms / 1000
    return annotation


def _address(path: str) -> str:
    return LOCAL_FILES + quote(path)
