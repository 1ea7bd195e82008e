import uuid

import pytest

from annotation.answering.submissions import (
    MAX_BATCH,
    MalformedError,
    RejectedError,
    Submission,
    read_batch,
    read_submission,
)


def raw(**changes: object) -> dict[str, object]:
    return {
        "uuid": str(uuid.uuid4()),
        "question": str(uuid.uuid4()),
        "answer": "similar",
        "reason": "",
        "mode": "pair",
        "device": "keyboard",
        "guideline_version": 1,
        "shown_at": "2026-11-21T10:00:00.000Z",
        "decided_at": "2026-11-21T10:00:02.500Z",
        "visible_ms": 2500,
        "load_ms": 0,
        "undoes": None,
    } | changes


def test_a_good_answer_is_read_whole():
    given = raw(answer="skip", reason="bad_image", mode="sheet", device="touch")
    read = read_submission(given)
    assert (read.answer, read.reason, read.mode, read.device) == (
        "skip",
        "bad_image",
        "sheet",
        "touch",
    )
    assert str(read.uuid) == given["uuid"]
    assert (read.decided_at - read.shown_at).total_seconds() == 2.5


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"answer": "maybe"}, "bad_value"),
        ({"answer": 1}, "bad_value"),
        ({"answer": None}, "bad_value"),
        ({"answer": ["similar"]}, "bad_value"),
        ({"question": "1"}, "bad_value"),
        ({"question": 7}, "bad_value"),
        ({"mode": "import"}, "bad_value"),
        ({"device": ""}, "bad_value"),
        ({"guideline_version": 0}, "bad_value"),
        ({"guideline_version": True}, "bad_value"),
        ({"guideline_version": 1.0}, "bad_value"),
        ({"visible_ms": -1}, "bad_value"),
        ({"load_ms": -5}, "bad_value"),
        ({"visible_ms": 10**12}, "bad_value"),
        ({"visible_ms": float("nan")}, "bad_value"),
        ({"shown_at": "yesterday"}, "bad_value"),
        ({"shown_at": "2026-11-21T10:00:00"}, "bad_value"),
        ({"decided_at": 5}, "bad_value"),
        ({"decided_at": "0001-01-01T00:00:00Z"}, "bad_value"),
        ({"decided_at": "2026-11-21T09:59:59Z"}, "bad_time"),
        ({"answer": "skip"}, "reason_missing"),
        ({"reason": "unsure"}, "reason_unwanted"),
        ({"reason": "because"}, "bad_value"),
        ({"answer": "withdrawn"}, "undo_mismatch"),
        ({"undoes": str(uuid.uuid4())}, "undo_mismatch"),
        ({"answer": "withdrawn", "undoes": "x"}, "bad_value"),
    ],
)
def test_a_bad_field_is_rejected_with_a_code(changes, code):
    with pytest.raises(RejectedError) as problem:
        read_submission(raw(**changes))
    assert problem.value.code == code
    assert problem.value.message


@pytest.mark.parametrize("name", ["mode", "device", "visible_ms", "shown_at", "question", "answer"])
def test_a_missing_field_is_rejected_by_name(name):
    given = raw()
    del given[name]
    with pytest.raises(RejectedError, match=name):
        read_submission(given)


def test_one_bad_answer_does_not_spoil_the_batch():
    good, bad = raw(), raw(answer="maybe")
    [(_, first), (key, second)] = read_batch({"answers": [good, bad]})
    assert isinstance(first, Submission)
    assert isinstance(second, RejectedError)
    assert str(key) == bad["uuid"]


@pytest.mark.parametrize(
    "body",
    [
        None,
        [],
        "answers",
        {},
        {"answers": {}},
        {"answers": []},
        {"answers": [1]},
        {"answers": [{}]},
        {"answers": [raw(uuid="123")]},
        {"answers": [raw()] * (MAX_BATCH + 1)},
    ],
)
def test_a_body_that_is_no_list_of_answers_is_malformed(body):
    with pytest.raises(MalformedError):
        read_batch(body)
