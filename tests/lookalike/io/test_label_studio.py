"""Label Studio's JSON as pairs, labels and triplets, there and back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.conditional.formats.triplet_files import read_triplets
from lookalike.io.errors import FormatError
from lookalike.io.image_spellings import normal_path
from lookalike.io.label_studio_export import CONFIG, LOCAL_FILES, label_studio_pieces
from lookalike.io.labels import read_qrels
from lookalike.io.pair_answers import VOTES, PairAnswer, PairAnswers
from lookalike.io.repeats import Repeats
from lookalike.io.vote_options import VoteOptions
from tests.paths import ROOT

CASES = ROOT.parent / "shared/data/field_cases"
names = st.text(st.characters(blacklist_categories=("Cs", "Cc")), min_size=1, max_size=8).map(
    lambda text: normal_path(f"a/{text}.jpg")
)


def choice(word: str, **more: Any) -> dict[str, Any]:
    value = {"choices": [word]}
    result = {"id": "x", "from_name": "s", "to_name": "a", "type": "choices", "value": value}
    return {"id": 1, "completed_by": 10, "was_cancelled": False, "result": [result], **more}


def written(path: Path, tasks: list[dict[str, Any]]) -> Path:
    path.write_text(json.dumps(tasks))
    return path


def votes_on(labels: list[tuple[str, str, int]]) -> PairAnswers:
    """Return one judge's votes that give these labels."""
    return PairAnswers([PairAnswer(q, c, "a01", VOTES[label]) for q, c, label in labels])


def test_the_majority_of_the_annotations_is_the_label(tmp_path: Path) -> None:
    tasks = [
        {
            "id": 1,
            "data": {"query": "q.jpg", "candidate": "a.jpg"},
            "predictions": [],
            "annotations": [
                choice("Similar"),
                choice("Yes", completed_by=2),
                choice("different", completed_by=3),
            ],
        },
        {
            "id": 2,
            "data": {
                "note": "first",
                "query": "/data/local-files/?d=shop%2Fq%20.png",
                "image": "s3://bucket/b.jpg",
            },
            "annotations": [choice("No"), choice("similar", was_cancelled=True)],
        },
        {
            "id": 3,
            "data": {"query": "q.jpg", "candidate": "c.jpg"},
            "annotations": [choice("Can’t tell")],
        },
        {
            "id": 4,
            "data": {"query": "q.jpg", "candidate": "d.jpg"},
            "annotations": [choice("same"), choice("dissimilar", completed_by=2)],
        },
        {"id": 5, "data": {"query": "q.jpg", "candidate": "e.jpg"}, "annotations": []},
    ]
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
    path.write_text("".join(label_studio_pieces(votes_on(labels))))
    assert sorted(read_qrels(path)) == sorted(labels)
    assert json.loads("".join(label_studio_pieces(votes_on([])))) == []


@pytest.mark.parametrize(
    ("task", "reason"),
    [
        (
            {"data": {"query": "q.jpg", "candidate": "a.jpg"}, "annotations": [choice("blue")]},
            "line 1: the choice 'blue' is neither similar nor different",
        ),
        (
            {"data": {"first": "q.jpg", "second": "a.jpg"}, "annotations": [choice("yes")]},
            "line 1: which image is the query and the candidate",
        ),
        ({"data": {"query": "q.jpg", "candidate": "a.jpg"}, "annotations": []}, "no pairs"),
    ],
)
def test_a_task_that_is_no_pair_is_named(task: dict[str, Any], reason: str, tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=reason):
        read_qrels(written(tmp_path / "x.json", [task]))


def test_pairwise_tasks_of_an_anchor_are_triplets(tmp_path: Path) -> None:
    def task(selected: str, **data: str) -> dict[str, Any]:
        result = {"type": "pairwise", "from_name": "pw", "to_name": "l,r"}
        answer = {
            "completed_by": {"email": "a@b.c"},
            "result": [result | {"value": {"selected": selected}}],
        }
        return {"data": data, "annotations": [answer]}

    names = {"anchor": "a.jpg", "left": "l.jpg", "right": "r.jpg"}
    tasks = [
        task("left", **names, condition="colour"),
        task("right", right="r.jpg", reference="a.jpg", left="l.jpg"),
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


def answered(
    *words: str,
    control: str = "similarity",
    user: int | None = 1,
    to_name: str = "query",
    kind: str = "choices",
    key: str = "choices",
    **more: Any,
) -> dict[str, Any]:
    value = {key: words[0] if key == "selected" else list(words)}
    result = {"from_name": control, "to_name": to_name, "type": kind, "value": value}
    who = {} if user is None else {"completed_by": user}
    return {"result": [result], "was_cancelled": False, **who, **more}


def pair(*annotations: dict[str, Any], candidate: str = "a.jpg", **more: Any) -> dict[str, Any]:
    data = {"query": "q.jpg", "candidate": candidate}
    return {"data": data, "annotations": list(annotations), **more}


def with_controls(**words: str) -> dict[str, Any]:
    results = [answered(word, control=name)["result"][0] for name, word in words.items()]
    return {"completed_by": 1, "was_cancelled": False, "result": results}


def test_answers_of_other_controls_are_no_votes_of_the_question(tmp_path: Path) -> None:
    path = written(
        tmp_path / "x.json",
        [
            pair(with_controls(similarity="similar", same_brand="no", same_colour="no")),
            pair(with_controls(same_brand="no", similarity="different"), candidate="b.jpg"),
        ],
    )
    with pytest.raises(FormatError) as refused:
        read_qrels(path)
    assert all(name in refused.value.reason for name in ("similarity", "same_brand", "--control"))
    options = VoteOptions(control="similarity")
    assert list(read_qrels(path, options=options)) == [("q.jpg", "a.jpg", 1), ("q.jpg", "b.jpg", 0)]
    assert sorted(options.notes) == [
        "left out: 1 answers of the control 'same_colour'",
        "left out: 2 answers of the control 'same_brand'",
    ]
    with pytest.raises(FormatError, match="similarity"):
        read_qrels(path, options=VoteOptions(control="sameness"))


@pytest.mark.parametrize(
    ("controls", "expected"),
    [
        ({"similarity": "similar", "quality": "sharp"}, 1),
        ({"a_first": "red", "similarity": "different"}, 0),
        ({"same_brand": "yes", "similarity": "identical"}, None),  # yes may answer anything
        ({"one": "similar", "two": "different"}, None),
    ],
)
def test_the_only_control_that_fits_is_read(
    controls: dict[str, str], expected: int | None, tmp_path: Path
) -> None:
    path = written(tmp_path / "x.json", [pair(with_controls(**controls))])
    if expected is None:
        with pytest.raises(FormatError, match="--control"):
            read_qrels(path)
    else:
        assert [label for *_, label in read_qrels(path)] == [expected]


def test_ratings_texts_drafts_predictions_and_skipped_tasks_are_no_votes(tmp_path: Path) -> None:
    rating = {"from_name": "stars", "to_name": "query", "type": "rating", "value": {"rating": 1}}
    text = {"from_name": "why", "to_name": "query", "type": "textarea", "value": {"text": ["no"]}}
    answer = answered("similar")
    answer["result"] += [rating, text]
    tasks = [
        pair(
            answer,
            answered("different", user=2, was_cancelled=True),
            predictions=[{"result": answered("different")["result"]}],
            drafts=[{"result": answered("different")["result"]}],
        ),
        pair(candidate="b.jpg"),
    ]
    options = VoteOptions()
    assert [
        label for *_, label in read_qrels(written(tmp_path / "x.json", tasks), options=options)
    ] == [1]
    assert sorted(options.notes) == [
        "left out: 1 answers of the control 'stars'",
        "left out: 1 answers of the control 'why'",
        "left out: 1 drafts",
        "left out: 1 predictions",
        "left out: 1 skipped annotations",
        "left out: 1 tasks without an annotation",
    ]


def test_choices_of_one_control_say_the_same_or_are_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "x.json", [pair(answered("similar", "same"))])
    assert [label for *_, label in read_qrels(path)] == [1]
    regions = answered("similar")
    regions["result"] += answered("different")["result"]
    for task in (pair(answered("similar", "different")), pair(regions)):
        with pytest.raises(FormatError, match="line 1: the choices 'similar', 'different'"):
            read_qrels(written(tmp_path / "x.json", [task]))


@pytest.mark.parametrize("is_one_task", [True, False])
def test_two_annotations_of_one_user_are_one_vote_by_the_rule(
    is_one_task: bool, tmp_path: Path
) -> None:
    both = answered("similar"), answered("different")
    tasks = [pair(*both)] if is_one_task else [pair(both[0]), pair(both[1])]
    path = written(tmp_path / "x.json", tasks)
    with pytest.raises(FormatError, match="--repeats"):
        read_qrels(path)
    for repeats, label in ((Repeats.FIRST, 1), (Repeats.LAST, 0)):
        options = VoteOptions(repeats=repeats)
        assert [one for *_, one in read_qrels(path, options=options)] == [label]
        assert options.notes == [f"left out: 1 repeated answers; the {repeats} one counts"]


def test_first_and_last_go_by_the_time_of_annotations_where_they_have_one(tmp_path: Path) -> None:
    late = answered("similar", updated_at="2026-02-01T10:00:00Z")
    early = answered("different", updated_at="2026-01-01T10:00:00Z")
    path = written(tmp_path / "x.json", [pair(late, early)])
    options = VoteOptions(repeats=Repeats.LAST)
    assert [label for *_, label in read_qrels(path, options=options)] == [1]


def test_annotations_of_nobody_known_are_votes_of_several(tmp_path: Path) -> None:
    votes = [answered(word, user=None) for word in ("similar", "different", "similar")]
    path = written(tmp_path / "x.json", [pair(*votes)])
    assert [label for *_, label in read_qrels(path)] == [1]


def test_the_order_of_keys_never_says_which_image_is_which(tmp_path: Path) -> None:
    data = {"image1": "c.jpg", "image2": "q.jpg"}
    path = written(tmp_path / "x.json", [{"data": data, "annotations": [answered("similar")]}])
    with pytest.raises(FormatError, match="image1, image2"):
        read_qrels(path)
    config = tmp_path / "config.xml"
    config.write_text(
        '<View><Image name="candidate" value="$image1"/>'
        '<Image value="$image2" name="query"/></View>'
    )
    for options in (VoteOptions(config=config), VoteOptions(keys={"query": "image2"})):
        assert list(read_qrels(path, options=options)) == [("q.jpg", "c.jpg", 1)]


@pytest.mark.parametrize(
    ("to_name", "data"),
    [
        ("left,right", {"right": "r.jpg", "left": "l.jpg", "anchor": "a.jpg"}),
        ("one,two", {"two": "r.jpg", "anchor": "a.jpg", "one": "l.jpg"}),
        ("right,left", {"left": "r.jpg", "right": "l.jpg", "anchor": "a.jpg"}),
        ("x,y", {"ref": "a.jpg", "right": "r.jpg", "left": "l.jpg"}),
    ],
)
def test_left_and_right_are_what_the_control_names(
    to_name: str, data: dict[str, str], tmp_path: Path
) -> None:
    answer = answered("right", to_name=to_name, kind="pairwise", key="selected")
    path = written(tmp_path / "x.json", [{"data": data, "annotations": [answer]}])
    [triplet] = read_triplets(path).triplets
    assert triplet[:3] == ("a.jpg", "r.jpg", "l.jpg")


def test_a_configuration_says_which_key_is_left(tmp_path: Path) -> None:
    data = {"left": "r.jpg", "right": "l.jpg", "third": "a.jpg"}
    config = tmp_path / "config.xml"
    config.write_text(
        '<View><Image name="L" value="$right"/><Image name="R" value="$left"/>'
        '<Pairwise name="p" toName="L,R"/></View>'
    )
    answer = answered("left", to_name="L,R", kind="pairwise", key="selected")
    path = written(tmp_path / "x.json", [{"data": data, "annotations": [answer]}])
    [triplet] = read_triplets(path, options=VoteOptions(config=config)).triplets
    assert triplet[:3] == ("a.jpg", "l.jpg", "r.jpg")


def test_repeated_answers_to_a_triplet_are_counted_and_one_of_them_can_be_taken(
    tmp_path: Path,
) -> None:
    data = {"anchor": "a.jpg", "left": "l.jpg", "right": "r.jpg"}
    answers = [
        answered(side, kind="pairwise", key="selected", to_name="left,right")
        for side in ("left", "right", "left")
    ]
    path = written(tmp_path / "x.json", [{"data": data, "annotations": answers}])
    options = VoteOptions()
    assert len(read_triplets(path, options=options).triplets) == 3
    assert "2 answers repeat" in options.notes[0]
    for repeats, closer in ((Repeats.FIRST, "l.jpg"), (Repeats.LAST, "l.jpg")):
        found = read_triplets(path, options=VoteOptions(repeats=repeats))
        assert [one.closer for one in found.triplets] == [closer]
        assert [one.code for one in found.malformed] == ["repeated", "repeated"]
    with pytest.raises(FormatError, match="row 2"):
        read_triplets(path, options=VoteOptions(repeats=Repeats.ERROR))


def test_json_min_is_read_as_the_same_answers(tmp_path: Path) -> None:
    def row(word: object, annotator: int, **more: object) -> dict[str, Any]:
        return {
            "id": 1,
            "annotation_id": annotator,
            "annotator": annotator,
            "lead_time": 1.5,
            "query": f"{LOCAL_FILES}q%201.jpg",
            "candidate": "a.jpg",
            "similarity": word,
            "created_at": "2026-01-01",
            "updated_at": "2026-01-01",
            **more,
        }

    path = written(
        tmp_path / "x.json",
        [row("similar", 1), row("different", 2), row({"choices": ["similar", "same"]}, 3)],
    )
    assert list(read_qrels(path)) == [("q 1.jpg", "a.jpg", 1)]
    path = written(tmp_path / "x.json", [row("no", 1, same_brand="yes")])
    with pytest.raises(FormatError, match="--control"):
        read_qrels(path)
    assert [label for *_, label in read_qrels(path, options=VoteOptions(control="similarity"))] == [
        0
    ]
    pairwise = {
        "id": 1,
        "annotator": 1,
        "annotation_id": 1,
        "left": "l.jpg",
        "anchor": "a.jpg",
        "right": "r.jpg",
        "pick": "right",
    }
    [triplet] = read_triplets(written(tmp_path / "x.json", [pairwise])).triplets
    assert triplet[:3] == ("a.jpg", "r.jpg", "l.jpg")


@given(st.lists(st.tuples(names, names, st.integers(0, 1)), max_size=8, unique_by=lambda x: x[:2]))
def test_labels_of_any_names_come_back_as_they_were(
    tmp_path_factory: pytest.TempPathFactory, labels: list[tuple[str, str, int]]
) -> None:
    if labels:
        path = tmp_path_factory.mktemp("ls") / "tasks.json"
        path.write_text("".join(label_studio_pieces(votes_on(labels))))
        assert sorted(read_qrels(path)) == sorted(labels)


needs_cases = pytest.mark.skipif(not CASES.exists(), reason="the cases of the field are not here")


@needs_cases
def test_the_case_of_three_controls_is_refused_or_read_by_the_named_one() -> None:
    path = CASES / "HAND_ls_controls/multi.json"
    with pytest.raises(FormatError, match="--control"):
        read_qrels(path)
    labels = read_qrels(path, options=VoteOptions(control="similarity"))
    assert (len(labels), labels.labels.sum()) == (37, 37)


@needs_cases
def test_the_case_of_raw_names_names_every_picture() -> None:
    labels = read_qrels(CASES / "HAND_ls_raw_names/raw.json")
    known = {
        "plain.jpg",
        "crème brûlée.jpg",
        "Ünder.jpg",
        "b;c.jpg",
        "cat+dog.jpg",
        "H&M 1.jpg",
        "naïve shoe.jpg",
        "x y z.jpg",
        "a#1.jpg",
        "o'neill.jpg",
        "100% wool.jpg",
    }
    assert {*labels.query_ids, *labels.candidate_ids} == known
    assert len(labels) == 37
