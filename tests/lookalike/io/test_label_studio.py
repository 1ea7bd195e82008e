"""Label Studio's JSON as pairs, labels and triplets, there and back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lookalike.conditional.formats.triplet_files import read_triplets
from lookalike.io.errors import FormatError
from lookalike.io.label_studio import CONFIG, label_studio_pieces
from lookalike.io.labels import read_qrels
from tests.paths import ROOT


def choice(word: str, **more: Any) -> dict[str, Any]:
    value = {"choices": [word]}
    result = {"id": "x", "from_name": "s", "to_name": "a", "type": "choices", "value": value}
    return {"id": 1, "completed_by": 10, "was_cancelled": False, "result": [result], **more}


def written(path: Path, tasks: list[dict[str, Any]]) -> Path:
    path.write_text(json.dumps(tasks))
    return path


def test_the_majority_of_the_annotations_is_the_label(tmp_path: Path) -> None:
    tasks = [
        {"id": 1, "data": {"query": "q.jpg", "candidate": "a.jpg"}, "predictions": [],
         "annotations": [choice("Similar"), choice("Yes"), choice("different")]},
        {"id": 2, "data": {"note": "first", "image1": "/data/local-files/?d=shop%2Fq%20.png",
                           "image2": "s3://bucket/b.jpg"},
         "annotations": [choice("No"), choice("similar", was_cancelled=True)]},
        {"id": 3, "data": {"query": "q.jpg", "candidate": "c.jpg"},
         "annotations": [choice("Can’t tell")]},
        {"id": 4, "data": {"query": "q.jpg", "candidate": "d.jpg"},
         "annotations": [choice("same"), choice("dissimilar")]},
        {"id": 5, "data": {"query": "q.jpg", "candidate": "e.jpg"}, "annotations": []},
    ]  # fmt: skip
    found = {(q, c): label for q, c, label in read_qrels(written(tmp_path / "x.json", tasks))}
    assert found == {
        ("q.jpg", "a.jpg"): 1,
        ("shop/q .png", "s3://bucket/b.jpg"): 0,
        ("q.jpg", "d.jpg"): 0,
    }


def test_the_document_shows_the_interface_that_the_tasks_are_for() -> None:
    assert CONFIG in (ROOT / "docs/formats.md").read_text()


def test_labels_there_and_back_are_the_same(tmp_path: Path) -> None:
    labels = [("shop/é 1.jpg", "b&c=d.png", 1), ("shop/é 1.jpg", "x.jpg", 0)]
    path = tmp_path / "tasks.json"
    path.write_text("".join(label_studio_pieces(labels)))
    assert sorted(read_qrels(path)) == sorted(labels)
    assert json.loads("".join(label_studio_pieces([]))) == []
    with pytest.raises(ValueError, match="neither 0 nor 1"):
        list(label_studio_pieces([("q", "a", 2)]))


@pytest.mark.parametrize(
    ("task", "reason"),
    [
        ({"data": {"query": "q.jpg", "candidate": "a.jpg"}, "annotations": [choice("blue")]},
         "line 1: the choice 'blue' is neither similar nor different"),
        ({"data": {"image": "q.jpg"}, "annotations": [choice("yes")]},
         "line 1: 1 images in its data where 2 belong; name them query, candidate"),
        ({"data": {"query": "q.jpg", "candidate": "a.jpg"}, "annotations": []}, "no pairs"),
    ],
)  # fmt: skip
def test_a_task_that_is_no_pair_is_named(task: dict[str, Any], reason: str, tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=reason):
        read_qrels(written(tmp_path / "x.json", [task]))


def test_pairwise_tasks_of_an_anchor_are_triplets(tmp_path: Path) -> None:
    def task(selected: str, **data: str) -> dict[str, Any]:
        result = {"type": "pairwise", "from_name": "pw", "to_name": "l,r"}
        answer = {"completed_by": {"email": "a@b.c"}, "result": [result | {"value":
                  {"selected": selected}}]}  # fmt: skip
        return {"data": data, "annotations": [answer]}

    names = {"anchor": "a.jpg", "left": "l.jpg", "right": "r.jpg"}
    tasks = [
        task("left", **names, condition="colour"),
        task("right", one="a.jpg", two="l.jpg", three="r.jpg"),
        task("both", **names),
    ]
    found = read_triplets(written(tmp_path / "x.json", tasks))
    assert [tuple(one[:4]) for one in found.triplets] == [
        ("a.jpg", "l.jpg", "r.jpg", "colour"),
        ("a.jpg", "r.jpg", "l.jpg", ""),
    ]
    assert [defect.reason for defect in found.malformed] == [
        "line 1: 'both' is neither left nor right"
    ]
