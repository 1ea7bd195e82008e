"""Every answer of every judge leaves for Label Studio and FiftyOne and comes back as it was."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.agreement.votes import read_votes
from lookalike.io.answer_files import answers_in
from lookalike.io.errors import FormatError
from lookalike.io.fiftyone import fiftyone_pieces
from lookalike.io.json_text import read_json
from lookalike.io.label_studio_export import label_studio_pieces
from lookalike.io.labels import read_qrels
from lookalike.io.pair_answers import AnswerKind, PairAnswer, PairAnswers
from lookalike.io.repeats import Repeats
from lookalike.io.vote_options import VoteOptions

Pieces = Callable[[PairAnswers], Iterator[str]]
WRITERS = {"label-studio": label_studio_pieces, "fiftyone": fiftyone_pieces}
both = pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)
HARD_NAMES = [
    "H&M/a.jpg",
    "a#1.jpg",
    "what?.jpg",
    "what?d=other.jpg",
    "data/local-files/?d=x&y=1.jpg",
    "a%5Cb.jpg",
    "a\\b.jpg",
    "100% wool.jpg",
    "a+b.jpg",
    " spaced .jpg",
    "./dot/../x.jpg",
    "line\nbreak\u2028.jpg",
    unicodedata.normalize("NFC", "crème/Ünder.jpg"),
    unicodedata.normalize("NFD", "crème/Ünder.jpg"),
    "写真/靴.jpg",
    "http://host/a.jpg?x=1",
    "'=1+1.jpg",
]
names = st.one_of(
    st.sampled_from(HARD_NAMES),
    st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1),
)
texts = st.text(st.characters(codec="utf-8"), min_size=1, max_size=20)
judges = st.one_of(st.sampled_from(["a01", "a02", "ruling", "10", "jane@museum.org"]), texts)


@st.composite
def answer_lists(draw: st.DrawFn) -> PairAnswers:
    pairs = draw(st.lists(st.tuples(names, names), max_size=4, unique=True))
    answers = []
    for query, candidate in pairs:
        for judge in draw(st.lists(judges, max_size=4, unique=True)):
            word = draw(st.sampled_from(["similar", "different", "cant_tell", "skip"]))
            is_vote = word in ("similar", "different")
            for kind in draw(
                st.sets(st.sampled_from([AnswerKind.PAIR, AnswerKind.REPEAT, AnswerKind.MIRROR]))
            ):
                answers.append(
                    PairAnswer(
                        query,
                        candidate,
                        judge,
                        word,
                        kind=kind,
                        grade=draw(st.none() | st.integers(0, 4)) if is_vote else None,
                        reason=draw(st.sampled_from(["", "bad_image"])),
                        is_counted=is_vote and draw(st.booleans()),
                        decided_at=draw(st.sampled_from(["", "2026-01-02T03:00Z", "2026-01-02"])),
                        visible_ms=draw(st.sampled_from([0, 100, 12300])),
                        guideline_version=draw(st.none() | st.integers(1, 9)),
                        comments=tuple(draw(st.lists(texts, max_size=2))),
                    )
                )
        if draw(st.booleans()):
            answers.append(
                PairAnswer(query, candidate, "", "different", kind=AnswerKind.RULING, grade=0)
            )
    return PairAnswers(
        answers,
        tie_rule=draw(st.sampled_from(["negative", "undecided"])) if answers else "negative",
        grades=("No", "A little", "Très; “so”") if answers else (),
        similar_from=2 if answers else 1,
    )


def there_and_back(write: Pieces, answers: PairAnswers, path: Path) -> PairAnswers | None:
    path.write_bytes("".join(write(answers)).encode())
    return answers_in(read_json(path), VoteOptions())


def by_key(answers: PairAnswers) -> list[PairAnswer]:
    return sorted(answers.answers, key=lambda a: (a.query, a.candidate, a.judge, a.kind))


@both
@given(answers=answer_lists())
@settings(max_examples=60, deadline=None)
def test_every_answer_comes_back_field_by_field(
    tmp_path_factory: pytest.TempPathFactory, write: Pieces, answers: PairAnswers
) -> None:
    path = tmp_path_factory.mktemp("answers") / "samples.json"
    back = there_and_back(write, answers, path)
    if not answers.answers:
        return
    assert back is not None
    assert by_key(back) == by_key(answers)
    assert back.rules() == answers.rules()
    assert back.notes == ()


def votes(*said: tuple[str, str], candidate: str = "a.jpg", **more: Any) -> list[PairAnswer]:
    return [PairAnswer("q.jpg", candidate, judge, word, **more) for judge, word in said]


@both
@pytest.mark.parametrize(("rule", "n_labels"), [("negative", 3), ("undecided", 2)])
def test_labels_follow_votes_rulings_and_the_rule_for_ties(
    write: Pieces, rule: str, n_labels: int, tmp_path: Path
) -> None:
    tie = votes(("a01", "similar"), ("a02", "different"))
    uncounted = [
        *votes(("a01", "similar"), candidate="b.jpg"),
        *votes(("a02", "different"), ("a03", "different"), candidate="b.jpg", is_counted=False),
        *votes(("a01", "different"), candidate="b.jpg", kind=AnswerKind.REPEAT),
        *votes(("a04", "cant_tell"), ("a05", "skip"), candidate="b.jpg", is_counted=False),
    ]
    ruled = [
        *votes(("a01", "similar"), ("a02", "similar"), candidate="c.jpg"),
        *votes(("", "different"), candidate="c.jpg", kind=AnswerKind.RULING),
    ]
    path = tmp_path / "x.json"
    path.write_text("".join(write(PairAnswers([*tie, *uncounted, *ruled], tie_rule=rule))))
    options = VoteOptions()
    found = {candidate: label for _, candidate, label in read_qrels(path, options=options)}
    assert len(found) == n_labels
    assert (found.get("a.jpg", 0), found["b.jpg"], found["c.jpg"]) == (0, 1, 0)
    assert len(options.notes) == 5
    counted = read_votes(path)
    assert (len(counted.items), len(counted.label_of), counted.workers) == (3, 5, ["a01", "a02"])


@both
def test_two_answers_of_one_judge_are_an_error_or_one_by_the_rule(
    write: Pieces, tmp_path: Path
) -> None:
    twice = votes(("a01", "similar"), ("a01", "different"))
    path = tmp_path / "x.json"
    path.write_text("".join(write(PairAnswers(twice))))
    with pytest.raises(FormatError, match="--repeats"):
        answers_in(read_json(path), VoteOptions())
    for repeats, word in ((Repeats.FIRST, "similar"), (Repeats.LAST, "different")):
        back = answers_in(read_json(path), VoteOptions(repeats=repeats))
        assert back is not None
        assert [one.answer for one in back.answers] == [word]


@both
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("kind", "gold"),
        ("is_counted", "yes"),
        ("grade", 1.5),
        ("grade", True),
        ("visible_ms", "12"),
        ("decided_at", 7),
    ],
)
def test_a_detail_of_another_type_is_refused_with_its_line(
    write: Pieces, name: str, value: object, tmp_path: Path
) -> None:
    path = tmp_path / "x.json"
    answer = votes(("a01", "similar"), reason="policy")
    text = "".join(write(PairAnswers(answer)))
    path.write_text(text.replace('"reason": "policy"', f'"{name}": {json.dumps(value)}'))
    with pytest.raises(FormatError, match="line 2") as refused:
        answers_in(read_json(path), VoteOptions())
    assert name in refused.value.reason


def test_what_label_studio_knows_of_an_annotation_is_kept(tmp_path: Path) -> None:
    def annotation(word: str | None, who: object, **more: Any) -> dict[str, Any]:
        choice = {"from_name": "s", "to_name": "query", "value": {"choices": [word]}}
        result = [] if word is None else [choice]
        return {"completed_by": who, "result": result, **more}

    text = {"from_name": "comment", "to_name": "query", "value": {"text": ["“odd”\n"]}}
    first = annotation("similar", 7, lead_time=1.25, updated_at="2026-05-04T03:02:01.5Z")
    first["result"].append(text)
    task = {
        "data": {"query": "q.jpg", "candidate": "c.jpg"},
        "annotations": [
            first,
            annotation(None, {"email": "b@c.d"}, was_cancelled=True),
            annotation("Can’t tell", {"id": 9}),
            annotation(None, 7, was_cancelled=True),
        ],
    }
    path = tmp_path / "x.json"
    path.write_text(json.dumps([task]))
    back = answers_in(read_json(path), VoteOptions())
    assert back is not None
    similar, unsure, skip = back.answers
    assert (similar.judge, similar.visible_ms, similar.decided_at, similar.comments) == (
        "7",
        1250,
        "2026-05-04T03:02:01.5Z",
        ("“odd”\n",),
    )
    assert (skip.judge, skip.answer, skip.is_counted) == ("b@c.d", "skip", False)
    assert (unsure.judge, unsure.answer, unsure.is_counted) == ("9", "cant_tell", False)
    assert len(back.notes) == 1  # user 7 answered and skipped


def test_samples_that_fiftyone_exports_again_are_the_same_answers(tmp_path: Path) -> None:
    """FiftyOne copies pictures to data/, adds ids, and fills fields that others have with null."""
    answers = PairAnswers(votes(("a01", "similar"), ("a02", "skip"), is_counted=False))
    written = json.loads("".join(fiftyone_pieces(answers)))
    [sample] = written["samples"]
    sample |= {"_id": {"$oid": "1"}, "filepath": "data/a-2.jpg", "grades": None}
    for vote in sample["votes"]["classifications"]:
        vote |= {"_id": {"$oid": "2"}, "tags": [], "grade": None, "comments": None}
    path = tmp_path / "samples.json"
    path.write_text(json.dumps(written))
    assert answers_in(read_json(path), VoteOptions()) == answers
