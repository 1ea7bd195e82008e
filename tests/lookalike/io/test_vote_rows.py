"""Votes of every schema, for every command that reads them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lookalike.agreement.aggregate import measure_agreement
from lookalike.agreement.votes import read_votes
from lookalike.bias.evidence.files import read_votes as read_pair_votes
from lookalike.cli.main import main
from lookalike.io.errors import FormatError, InputError
from lookalike.io.labels import read_qrels
from lookalike.io.repeats import Repeats
from lookalike.io.vote_options import VoteOptions
from tests.paths import ROOT

CASE = ROOT.parent / "shared/data/field_cases/HAND_votes_float/mix.csv"
PAIR_FILES = {
    "pairs.csv": "query,candidate,annotator,value\nq,a,w1,1\nq,a,w2,1.0\nq,b,w1,0\n",
    "items.csv": "item,worker,label\nq a,w1,similar\nq a,w2,similar\nq b,w1,different\n",
    "german.csv": "query;candidate;annotator;value\nq;a;w1;1\nq;a;w2; 1\nq;b;w1;0.0\n",
    "tasks.json": json.dumps(
        [
            {
                "data": {"query": "q", "candidate": candidate},
                "annotations": [
                    {
                        "completed_by": user,
                        "result": [{"from_name": "s", "value": {"choices": [word]}}],
                    }
                    for user in users
                ],
            }
            for candidate, word, users in (("a", "similar", "12"), ("b", "different", "1"))
        ]
    ),
}


def written(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


@pytest.mark.parametrize("name", PAIR_FILES)
def test_agreement_and_bias_read_the_same_files(name: str, tmp_path: Path):
    path = written(tmp_path / name, PAIR_FILES[name])
    votes = read_votes(path)
    assert (votes.items, len(votes.workers), len(votes.labels)) == (["q a", "q b"], 2, 2)
    rows = [(q, c, a, value) for q, c, a, value in read_pair_votes(path).rows]
    assert rows == [("q", "a", 0, 1), ("q", "a", 1, 1), ("q", "b", 0, 0)]


@pytest.mark.parametrize(
    "rows", ["a,w1,1\na,w2,1.0\nb,w1,0\nb,w2,0.0\n", "a,w1,yes\na,w2,yes \nb ,w1,no\nb, w2,no\n"]
)
def test_equal_values_are_one_label_and_full_agreement(rows: str, tmp_path: Path):
    votes = read_votes(written(tmp_path / "v.csv", "item,worker,label\n" + rows))
    assert (len(votes.items), len(votes.workers), len(votes.labels)) == (2, 2, 2)
    assert measure_agreement(votes).alpha == 1


@pytest.mark.parametrize(
    "labels", ["Yes,yes", "a,nan", "a,#N/A", "1,01", "1,1E+05x 1e+05X".replace(" ", ""), '"0,5",1']
)
def test_labels_that_a_spreadsheet_split_or_merged_are_refused(labels: str, tmp_path: Path):
    first, second = labels.rsplit(",", 1)
    text = f"item,worker,label\na,w1,{first}\na,w2,{second}\n"
    if "x" in second:
        text = "item,worker,label\na,w1,colour  red\na,w2,colour red\n"
    with pytest.raises(FormatError) as refused:
        read_votes(written(tmp_path / "v.csv", text))
    assert refused.value.line in (2, 3)


@pytest.mark.parametrize("read", [read_votes, read_pair_votes])
def test_a_repeated_vote_is_an_error_or_the_named_one_counts(read, tmp_path: Path):
    text = "query,candidate,annotator,value\nq,a,w,1\nq,a,v,1\nq,a,w,0\n"
    path = written(tmp_path / "v.csv", text)
    for options in (None, VoteOptions(repeats=Repeats.ERROR)):
        with pytest.raises(InputError):
            read(path, options)
    for repeats, expected in ((Repeats.FIRST, [1, 1]), (Repeats.LAST, [0, 1])):
        options = VoteOptions(repeats=repeats)
        found = read(path, options)
        if read is read_votes:
            labels = [int(found.labels[code]) for code in found.label_of]
        else:
            labels = [value for *_, value in found.rows]
        assert labels == expected
        assert len(options.notes) == 1


def test_the_table_of_aggregate_is_a_file_of_labels(tmp_path: Path):
    path = written(tmp_path / "v.csv", PAIR_FILES["pairs.csv"])
    labels = tmp_path / "labels.csv"
    assert main(["aggregate", str(path), "--out", str(labels)]) == 0
    assert sorted(read_qrels(labels)) == [("q", "a", 1), ("q", "b", 0)]


@pytest.mark.skipif(not CASE.exists(), reason="the cases of the field are not here")
def test_the_case_of_floats_agrees_in_full():
    votes = read_votes(CASE)
    assert (votes.labels, measure_agreement(votes).alpha) == (["0", "1"], 1)
