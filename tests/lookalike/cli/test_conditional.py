"""`lookalike conditional`, without Django."""

import json
import subprocess
import sys

import numpy as np
import pytest

from lookalike.cli.main import main
from lookalike.conditional.formats.vaw import write_vaw
from tests.lookalike.conditional.cases import cirr_entry, object_entry, vaw_instances


def called(capsys, *arguments):
    status = main(["conditional", *map(str, arguments)])
    streams = capsys.readouterr()
    return status, streams.out, streams.err


@pytest.fixture
def eggs(shared_data, tmp_path):
    """The human triplets, and a file with the known scale of their images."""
    folder = shared_data / "triplets_alien_eggs"
    scale = tmp_path / "scale.csv"
    names = sorted(path.stem for path in (folder / "images30").glob("*.png"))
    scale.write_text("image,value\n" + "".join(f"{n},{int(n[1:])}\n" for n in names))
    return folder / "responses_n30.csv", scale, names


def test_validate_lists_the_defects_of_the_official_file(shared_data, capsys):
    path = shared_data / "genecis_templates" / "focus_object.json"
    status, out, _ = called(capsys, "validate", path)
    lines = out.splitlines()
    assert status == 1
    assert lines[-1] == "1,960 templates: 427 duplicate"
    assert lines[0] == "2\tduplicate\tit has reference, condition and target of template 1"
    assert len(lines) == 428


def test_validate_tells_the_format_by_the_content(tmp_path, capsys):
    templates, cirr = tmp_path / "change_object.json", tmp_path / "cap.json"
    vaw, triplets = tmp_path / "vaw.json", tmp_path / "t.csv"
    templates.write_text(json.dumps([object_entry()]))
    cirr.write_text(json.dumps([cirr_entry()]))
    write_vaw(vaw, vaw_instances(0, 3))
    triplets.write_text("anchor,closer,farther\na,b,c\n")
    for path, report in (
        (templates, "1 templates: no defects\n"),
        (cirr, "1 templates: no defects\n"),
        (vaw, "3 instances: no defects\n"),
        (triplets, "1 triplets: no defects\n"),
    ):
        assert called(capsys, "validate", path) == (0, report, "")


def test_validate_compares_images_and_reports_json(tmp_path, capsys):
    path, images = tmp_path / "mine.json", tmp_path / "images.txt"
    path.write_text(json.dumps([object_entry(), 5, object_entry(condition="")]))
    images.write_text("\n".join(["1", *(str(100 + n) for n in range(14))]))
    options = ["--task", "focus_object", "--images", images, "--json"]
    status, out, _ = called(capsys, "validate", path, *options)
    report = json.loads(out)
    assert status == 1
    assert report["n_entries"] == 3
    assert [(one["index"], one["code"]) for one in report["defects"]] == [
        (0, "unknown_image"),
        (1, "malformed"),
        (2, "empty_condition"),
        (2, "unknown_image"),
    ]


def test_the_known_scale_gives_the_published_figures(eggs, capsys):
    triplets, scale, _ = eggs
    status, out, _ = called(capsys, "score-triplets", triplets, "--scale", scale, "--json")
    report = json.loads(out)
    assert status == 0
    assert (report["n_votes"], report["scale"]["n_questions_with_min_votes"]) == (20_086, 2_471)
    assert round(report["scale"]["all_votes"]["accuracy"], 3) == 0.797
    assert round(report["scale"]["single_votes"]["accuracy"], 3) == 0.770
    assert round(report["scale"]["majority"]["accuracy"], 3) == 0.881
    options = ["--scale", scale, "--where", "sampler=RandomSampling"]
    _, text, _ = called(capsys, "score-triplets", triplets, *options)
    assert "all votes           0.837" in text


def test_an_embedding_is_scored_as_text_and_as_json(eggs, tmp_path, capsys):
    triplets, _, names = eggs
    vectors = np.array([[float(name[1:]), 1.0] for name in names], np.float32)
    np.savez(tmp_path / "line.npz", ids=np.array(names), vectors=vectors)
    options = ["--embeddings", tmp_path / "line.npz", "--metric", "euclidean"]
    _, out, _ = called(capsys, "score-triplets", triplets, *options, "--json")
    found = json.loads(out)["embedding"]
    assert found["votes"]["n"] == 20_086
    assert found["votes"]["n_ties"] == 56
    assert round(found["votes"]["without_ties"], 3) == 0.797
    _, text, _ = called(capsys, "score-triplets", triplets, *options)
    assert "(euclidean)" in text


def test_conditions_are_shown_apart(tmp_path, capsys):
    path = tmp_path / "t.csv"
    path.write_text("anchor,closer,farther,condition\na,b,c,color\na,c,b,shape\n")
    np.savez(tmp_path / "v.npz", ids=np.array(list("abc")), vectors=np.array([[1.0], [2], [4]]))
    options = ["--embeddings", tmp_path / "v.npz", "--metric", "euclidean"]
    _, out, _ = called(capsys, "score-triplets", path, *options)
    assert "color, votes        1.000" in out
    assert "shape, votes        0.000" in out
    assert "mean of conditions  0.500" in out


def test_bad_rows_are_named_and_can_be_left_out(tmp_path, capsys):
    path, scale = tmp_path / "t.csv", tmp_path / "s.csv"
    path.write_text("anchor,closer,farther\na,b,c\na,a,b\n")
    scale.write_text("image,value\na,0\nb,1\nc,3\n")
    status, _, err = called(capsys, "score-triplets", path, "--scale", scale)
    assert status == 2
    assert "row 1, line 3: the anchor 'a' is also a candidate. --skip-bad leaves them out" in err
    options = ["--scale", scale, "--skip-bad", "--json"]
    status, out, _ = called(capsys, "score-triplets", path, *options)
    assert (status, json.loads(out)["n_bad_rows"]) == (0, 1)
    assert json.loads(out)["scale"]["single_votes"]["accuracy"] is None  # one vote, fewer than 3


MATRIX = "condition,a,b,c\nx,.9,.6,.5\ny,.8,.7,.55\nz,.85,.65,.6\n"
TEST = "condition,c,a,b\nz,.95,.6,.55\nx,.6,.5,.9\ny,.7,.4,.8\n"


def test_alignment_is_fitted_on_one_matrix_and_scored_on_another_in_any_order(tmp_path, capsys):
    first, second = tmp_path / "val.csv", tmp_path / "test.csv"
    first.write_text(MATRIX)
    second.write_text(TEST)
    _, out, _ = called(capsys, "alignment", first, "--json")
    report = json.loads(out)
    assert report["ot_accuracy"] == pytest.approx(0.733333, abs=1e-6)
    assert report["greedy_accuracy"] == pytest.approx(0.85)
    _, out, _ = called(capsys, "alignment", first, "--test", second, "--json")
    report = json.loads(out)
    assert report["ot_accuracy"] == pytest.approx(0.75)
    assert report["greedy_accuracy"] == pytest.approx(0.5)
    assert report["greedy_accuracy_chosen_on_test"] == pytest.approx(0.883333, abs=1e-6)
    assert [one["embedding"] for one in report["conditions"].values()] == ["a", "b", "c"]


def test_alignment_names_the_failure_of_sinkhorn(tmp_path, capsys):
    path = tmp_path / "m.csv"
    path.write_text("condition,a,b\nx,.9,.05\ny,.1,.02\n")
    _, out, _ = called(capsys, "alignment", path)
    assert "OT accuracy      0.460000" in out
    assert "1.000000  for comparison only  FAILED: underflow" in out


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["validate", "absent.json"], "No such file"),
        (["validate", "other.json"], "neither GeneCIS, CIRR nor VAW"),
        (["score-triplets", "t.csv"], "give --vectors, --scale, or both"),
        (["score-triplets", "t.csv", "--scale", "s.csv", "--where", "x"], "form COLUMN=VALUE"),
        (["score-triplets", "t.csv", "--scale", "s.csv", "--where", "x=1"], "no one column 'x'"),
        (["score-triplets", "t.csv", "--scale", "s.csv", "--min-votes", "0"], "at least 1"),
        (["score-triplets", "t.csv", "--scale", "s.csv"], "no value for 2 images"),
        (["alignment", "m.csv", "--test", "s.csv"], "s.csv, line 1"),
        (["alignment", "m.csv", "--test", "n.csv"], "has other conditions than"),
        (["alignment", "m.csv", "--sinkhorn", "0"], "not above 0"),
    ],
)
def test_bad_input_ends_with_status_2_and_the_reason(
    tmp_path, monkeypatch, capsys, arguments, reason
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "other.json").write_text('[{"a": 1}]')
    (tmp_path / "t.csv").write_text("anchor,closer,farther\na,b,c\n")
    (tmp_path / "s.csv").write_text("image,value\na,1\n")
    (tmp_path / "m.csv").write_text("condition,a\nx,1\n")
    (tmp_path / "n.csv").write_text("condition,a\ny,1\n")
    status, out, err = called(capsys, *arguments)
    assert (status, out) == (2, "")
    assert err.startswith("error: ")
    assert reason in err


def test_the_commands_load_neither_django_nor_torch(tmp_path):
    path = tmp_path / "m.csv"
    path.write_text("condition,a,b\nx,.9,.6\n")  # rectangular, so that POT is loaded too
    code = (
        "import sys; from lookalike.cli.main import main; "
        f"status = main(['conditional', 'alignment', {str(path)!r}]); "
        "heavy = [n for n in ('django', 'torch', 'jax') if n in sys.modules]; "
        "print(heavy, status, 'ot' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[] 0 True"
