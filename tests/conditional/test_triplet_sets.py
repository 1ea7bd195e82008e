"""Triplets of others are stored, described and scored."""

import csv
import re

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from conditional.models import TripletScore, TripletSet
from tests.catalogs import catalog_of, embedding_set_of
from tests.pooling.run_command import printed

pytestmark = pytest.mark.django_db


@pytest.fixture
def made(db, tmp_path, settings):
    settings.DATA_DIR = tmp_path / "data"
    return catalog_of("abcd")


@pytest.fixture
def write(tmp_path):
    def write(text, name="t.csv"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


ROWS = "anchor,closer,farther,worker\na,b,c,w1\na,b,c,w2\na,c,b,w3\nb,c,d,w1\n"


def test_votes_majorities_and_the_scale_are_counted(made, write):
    scale = write("image,value\na,0\nb,1\nc,3\nd,4\n", "scale.csv")
    result = printed("import_triplets", "Small", write(ROWS), "--catalog", "eggs", "--scale", scale)
    assert [result[name] for name in ("n_triplets", "n_questions", "n_workers")] == [4, 2, 3]
    assert result["ceiling"] == 0.75
    assert result["scale"]["all_votes"]["accuracy"] == 0.75
    assert (result["scale"]["majority"]["accuracy"], result["scale"]["n_questions"]) == (1.0, 1)
    stored = TripletSet.objects.get(slug="small")
    assert stored.triplets.count() == 4
    assert stored.triplets.all()[0].worker == "w1"


def test_defects_are_listed_and_the_good_kept_on_demand(made, write):
    path = write(ROWS + "a,a,b,w\na,b,x,w\na,b\n")
    with pytest.raises(CommandError, match="3 of 7 entries cannot go in") as caught:
        call_command("import_triplets", "Bad", path, "--catalog", "eggs")
    for reason in (
        "4: line 6: the anchor 'a' is also a candidate",
        "5: 'x' is no image",
        "6: line 8",
    ):
        assert reason in str(caught.value)
    assert not TripletSet.objects.exists()
    result = printed("import_triplets", "Bad", path, "--catalog", "eggs", "--keep-good")
    assert (result["n_triplets"], result["n_left_out"]) == (4, 3)


def test_one_image_under_two_names_is_found_out(made, write):
    path = write(ROWS + "a,b,b.png,w\n")
    with pytest.raises(CommandError, match="4: two names are one image here"):
        call_command("import_triplets", "Two", path, "--catalog", "eggs")


def test_integer_files_name_positions_of_a_list(made, write):
    names = write("a\nb\nc\nd\n", "names.txt")
    path = write("0 1 2\n1 3 2\n", "closure_tripletlist_test.txt")
    result = printed("import_triplets", "Z", path, "--catalog", "eggs", "--names", names)
    assert result["conditions"] == {"closure": 2}
    first = TripletSet.objects.get().triplets.select_related("closer")[0]
    assert first.closer.source_files.get().path == "c.png"


def test_embedding_sets_are_scored_and_scored_again(made, write):
    call_command("import_triplets", "Small", write(ROWS), "--catalog", "eggs", "--json")
    line = np.array([[1, 0], [0.9, 0.1], [0.5, 0.5], [0, 1]], np.float32)
    embedding_set_of(made, line)
    for _ in range(2):
        result = printed("score_triplets", "small")
    [score] = result["scores"]
    assert (score["votes"]["accuracy"], score["majority"]["accuracy"]) == (0.75, 1.0)
    assert TripletScore.objects.count() == 1
    printed("score_triplets", "small", "--metric", "euclidean")
    assert TripletScore.objects.count() == 2


def test_what_cannot_be_scored_is_said(made, write):
    call_command("import_triplets", "Small", write(ROWS), "--catalog", "eggs", "--json")
    with pytest.raises(CommandError, match="there are: none"):
        call_command("score_triplets", "small")
    with pytest.raises(CommandError, match="there are no triplets “other”"):
        call_command("score_triplets", "other")
    embedding_set_of(made, np.zeros((4, 2), np.float32))
    with pytest.raises(CommandError, match="length 0"):
        call_command("score_triplets", "small")


def test_figures_of_the_alien_eggs_are_reproduced(shared_data, tmp_path, settings):
    settings.DATA_DIR = tmp_path / "data"
    folder = shared_data / "triplets_alien_eggs"
    names = sorted(path.stem for path in (folder / "images30").iterdir())
    catalog_of(names)
    with (tmp_path / "scale.csv").open("w", newline="") as file:
        values = [(name, int(re.sub(r"\D", "", name))) for name in names]
        csv.writer(file).writerows([("image", "value"), *values])
    result = printed(
        "import_triplets", "Eggs", folder / "responses_n30.csv", "--catalog", "eggs", "--scale",
        tmp_path / "scale.csv",
    )  # fmt: skip
    assert result["n_triplets"] == 20_086
    assert result["scale"]["n_questions"] == 2_471
    assert round(result["scale"]["single_votes"]["accuracy"], 3) == 0.770
    assert round(result["scale"]["majority"]["accuracy"], 3) == 0.881
    assert round(result["scale"]["all_votes"]["accuracy"], 3) == 0.797
