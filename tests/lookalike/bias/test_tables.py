"""Files of proposals, votes, families and attributes: what is read, what is refused and where."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lookalike.bias.evidence.files import (
    read_attribute,
    read_families,
    read_proposals,
    read_votes,
)
from lookalike.io.errors import FormatError
from lookalike.io.numbered_rows import TableError


def written(tmp_path, text, name="file.csv"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def test_proposals_are_read_with_generators_in_order_of_appearance(tmp_path):
    path = written(
        tmp_path,
        "note,query,candidate,model,rank\nx,q2,b,late,2\nx,q1,c,late,1\nx,q1,b,early,1.0\n",
    )
    found = read_proposals(path)
    assert found.query_ids == ("q1", "q2")
    assert found.candidate_ids == ("b", "c")
    assert found.generators == ("late", "early")
    assert found.queries.tolist() == [1, 0, 0]
    assert found.candidates.tolist() == [0, 1, 0]
    assert found.models.tolist() == [0, 0, 1]
    assert found.ranks.tolist() == [2, 1, 1]


def test_parquet_proposals_equal_those_of_a_csv(tmp_path):
    columns = {"query": ["q", "q"], "candidate": ["a", "b"], "model": ["m", "m"], "rank": [1, 2]}
    path = tmp_path / "file.parquet"
    pq.write_table(pa.table(columns), path)
    text = written(tmp_path, "query,candidate,model,rank\nq,a,m,1\nq,b,m,2\n")
    first, second = read_proposals(path), read_proposals(text)
    assert (first.ranks == second.ranks).all()
    assert first.candidate_ids == second.candidate_ids


@pytest.mark.parametrize(
    ("body", "line", "reason"),
    [
        ("q,a,m,0", 2, "rank '0' is not a whole number from 1"),
        ("q,a,m,1.5", 2, "not a whole number"),
        ("q,a,m,1_0", 2, "not a whole number"),
        ("q,a,m,nan", 2, "not a whole number"),
        ("q,a,m,first", 2, "not a whole number"),
        ("q,a,m,1\nq,a,m,2", 3, "the same proposal stands in line 2"),
        ("q,a,m,1\nq,b,m,1", 3, "'m' has another candidate at rank 1 in line 2"),
        ("q,q,m,1", 2, "'q' is proposed as its own candidate"),
        ("q,,m,1", 2, "the candidate is empty"),
        ("q,a,m", 2, "3 cells where the header names 4"),
        ("", None, "holds no proposals"),
    ],
)
def test_bad_proposals_are_refused_with_their_line(tmp_path, body, line, reason):
    path = written(tmp_path, f"query,candidate,model,rank\n{body}\n")
    with pytest.raises(FormatError, match=reason) as caught:
        read_proposals(path)
    assert caught.value.line == line
    assert str(path) in str(caught.value)


def test_a_missing_column_and_a_broken_parquet_are_refused(tmp_path):
    with pytest.raises(FormatError, match="needed once each"):
        read_proposals(written(tmp_path, "query,candidate,model\nq,a,m\n"))
    with pytest.raises(FormatError, match="not readable as parquet"):
        read_proposals(written(tmp_path, "PAR1 but no more", "file.parquet"))
    empty = tmp_path / "cells.parquet"
    pq.write_table(
        pa.table({"query": ["q"], "candidate": ["a"], "model": [None], "rank": [1]}), empty
    )
    with pytest.raises(FormatError, match=r"row 1: the model is empty"):
        read_proposals(empty)


def test_votes_are_read_with_their_annotators(tmp_path):
    path = written(tmp_path, "query,candidate,annotator,value\nq,a,zoe,1\nq,a,ann,0\n")
    found = read_votes(path)
    assert found.annotators == ("ann", "zoe")
    assert found.rows == (("q", "a", 1, 1), ("q", "a", 0, 0))


@pytest.mark.parametrize(
    ("body", "line", "reason"),
    [
        ("q,a,ann,2", 2, "neither 0 nor 1"),
        ("q,a,ann,1\nq,a,ann,1", 3, "answered this pair before, in row 2"),
        ("", None, "no votes"),
    ],
)
def test_bad_votes_are_refused_with_their_line(tmp_path, body, line, reason):
    path = written(tmp_path, f"query,candidate,annotator,value\n{body}\n")
    with pytest.raises(FormatError, match=reason) as caught:
        read_votes(path)
    assert caught.value.line == line


def test_all_rows_of_votes_with_an_empty_cell_are_named(tmp_path):
    path = written(tmp_path, "query,candidate,annotator,value\nq,a,ann,\nq,b,,1\nq,c,ann,1\n")
    with pytest.raises(TableError) as caught:
        read_votes(path)
    assert [problem.partition(":")[0] for problem in caught.value.problems] == ["row 2", "row 3"]


def test_families_and_attributes_are_mappings(tmp_path):
    path = written(tmp_path, "model,family\na,x\nb,x\na,x\n")
    assert read_families(path) == {"a": "x", "b": "x"}
    images = written(tmp_path, "path,colour\n1.jpg,red\n2.jpg,\n", "images.csv")
    assert read_attribute(images, "colour") == {"1.jpg": "red", "2.jpg": ""}


def test_contradictions_are_refused(tmp_path):
    with pytest.raises(FormatError, match="'a' has family 'y' here and 'x' before"):
        read_families(written(tmp_path, "model,family\na,x\na,y\n"))
    with pytest.raises(FormatError, match="colour 'red' here and 'blue' before"):
        read_attribute(written(tmp_path, "path,colour\n1,blue\n1,red\n"), "colour")
    with pytest.raises(FormatError, match="the family is empty"):
        read_families(written(tmp_path, "model,family\na,\n"))
