"""Triplet files: CSV and the integer files of UT-Zappos."""

import json

import pytest

from lookalike.conditional.formats.triplet_files import (
    read_integer_triplets,
    read_names,
    read_triplets,
    write_triplets,
)
from lookalike.conditional.triplets import TripletTable, group_questions
from lookalike.conditional.types import Triplet
from lookalike.io.errors import FormatError

NAMES = ["zero.jpg", "one.jpg", "two.jpg", "three.jpg"]


def test_the_alien_eggs_are_read_whole(shared_data):
    found = read_triplets(shared_data / "triplets_alien_eggs/responses_n30.csv")
    assert (len(found.triplets), found.malformed) == (20_086, ())
    assert found.triplets[0] == Triplet("i0050", "i0114", "i0254", "", "w000")
    random = read_triplets(
        shared_data / "triplets_alien_eggs/responses_n30.csv", where={"sampler": "RandomSampling"}
    )
    assert len(random.triplets) == 4_092


def test_columns_stand_in_any_order_and_come_back(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("Worker,farther,anchor,note,closer,condition\nw1,c,a,x,b,color\n")
    found = read_triplets(path)
    assert found.triplets == (Triplet("a", "b", "c", "color", "w1"),)
    odd = [*found.triplets, Triplet("=1+1", "b,c", 'd"e', "", "")]
    write_triplets(path, odd)
    assert read_triplets(path).triplets == tuple(odd)


def test_bad_rows_are_listed_with_place_and_line_and_the_rest_is_read(tmp_path):
    path = tmp_path / "t.csv"
    rows = ["a,b,c,color", "a,a,c,color", "a,b,b,color", "a,,c,color", "a,b,c", "a,b,z,color"]
    path.write_text("\n".join(["anchor,closer,farther,condition", *rows, "a,b,c,shape"]))
    found = read_triplets(path, known_images=set("abc"), conditions=["color", "size"])
    assert found.triplets == (Triplet("a", "b", "c", "color"),)
    assert [(one.index, one.code, one.reason) for one in found.malformed] == [
        (1, "anchor_is_candidate", "line 3: the anchor 'a' is also a candidate"),
        (2, "one_candidate", "line 4: both candidates are 'b'"),
        (3, "malformed", "line 5: closer is empty"),
        (4, "malformed", "line 6: 3 cells where the header names 4"),
        (5, "unknown_image", "line 7: farther: no image 'z'"),
        (6, "unknown_condition", "line 8: the condition 'shape' is not known"),
        (7, "condition_without_triplets", "no triplet has the condition 'size'"),
    ]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("anchor,near,far\na,b,c\n", "line 1: the columns are 'anchor,near,far'"),
        ("anchor,closer,farther,closer\n", "needed: anchor,closer,farther"),
        ("anchor,closer,farther\n", "no usable triplet"),
        ("anchor,closer,farther\na,a,b\n", "the first: line 2: the anchor"),
        ("", "line 1"),
    ],
)
def test_a_file_without_triplets_is_refused(tmp_path, text, reason):
    path = tmp_path / "t.csv"
    path.write_text(text)
    with pytest.raises(FormatError, match=reason):
        read_triplets(path)


def test_integer_files_name_the_dissimilar_image_second(tmp_path):
    first = tmp_path / "closure_tripletlist_test.txt"
    second = tmp_path / "heel_test_half_reverse.txt"
    first.write_text("0 1 2\n3 2 1\n")
    second.write_text("0 1 2 1\n0 1 2 0\n")
    found = read_integer_triplets([first, second], NAMES)
    assert found.triplets == (
        Triplet("zero.jpg", "two.jpg", "one.jpg", "closure"),
        Triplet("three.jpg", "one.jpg", "two.jpg", "closure"),
        Triplet("zero.jpg", "two.jpg", "one.jpg", "heel"),
        Triplet("zero.jpg", "one.jpg", "two.jpg", "heel"),  # given the wrong way round
    )
    assert found.swapped == (False, False, False, True)


def test_without_names_the_integers_are_the_ids(tmp_path):
    path = tmp_path / "Eyeglasses_val.txt"
    path.write_text("000001 000002 000003\n")
    found = read_integer_triplets([path])
    assert found.triplets == (Triplet("000001", "000003", "000002", "Eyeglasses"),)


def test_bad_lines_of_integer_files_are_counted_through_all_files(tmp_path):
    first, second = tmp_path / "a_test.txt", tmp_path / "b_test.txt"
    first.write_text("0 1 2\n0 1\n")
    second.write_text("0 1 9\n0 1 2 7\n\n1 2 3\n-1 2 3\n1 1 2\n")
    found = read_integer_triplets([first, second], NAMES)
    assert len(found.triplets) == 2
    assert [(one.index, one.reason) for one in found.malformed] == [
        (1, "a_test.txt, line 2: 2 fields where there are 3 or 4"),
        (2, "b_test.txt, line 1: '9' is no position in a list of 4 names"),
        (3, "b_test.txt, line 2: the fourth field is '7', not 0 or 1"),
        (5, "b_test.txt, line 5: '-1' is no position in a list of 4 names"),
        (6, "b_test.txt, line 6: the anchor 'one.jpg' is also a candidate"),
    ]


def test_names_are_json_or_lines(tmp_path):
    path = tmp_path / "filenames.json"
    path.write_text(json.dumps(NAMES))
    assert read_names(path) == NAMES
    path.write_text("\n".join(NAMES) + "\n")
    assert read_names(path) == NAMES
    path.write_text("a\n\nb\n")
    with pytest.raises(FormatError, match="name 1 is empty"):
        read_names(path)


def test_both_answers_belong_to_one_question():
    first, second = Triplet("a", "b", "c", "x"), Triplet("a", "c", "b", "x")
    questions = group_questions(TripletTable.of([first, second]))
    assert (questions.n_first.tolist(), questions.n_second.tolist()) == ([1], [1])
