"""`lookalike bias`: golden files in, report out; each bad input refused."""

import json
import subprocess
import sys

import pytest

from lookalike.cli.main import main
from tests.lookalike.bias.cases import g5_qrels, g5_rows, g5_runs


@pytest.fixture
def files(tmp_path):
    """The golden pool as files, and the arguments that name them."""

    def write(name, header, rows):
        lines = [header, *(",".join(str(cell) for cell in row) for row in rows)]
        (tmp_path / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
        return str(tmp_path / name)

    arguments = [
        "--qrels",
        write("labels.csv", "query,candidate,label", g5_qrels()),
        "--proposals",
        write("proposals.csv", "query,candidate,model,rank", g5_rows()),
    ]
    for run in g5_runs():
        rows = [(q, c, s) for q, of in run.by_query().items() for c, s in of.items()]
        arguments += ["--run", write(f"{run.name}.csv", "query,candidate,score", rows)]
    return tmp_path, arguments, write


QUICK = ["--bootstraps", "20", "--permutations", "50", "--k", "2"]


def run(capsys, *arguments):
    status = main(["bias", *arguments])
    out, err = capsys.readouterr()
    return status, out, err


def test_the_golden_files_give_the_golden_numbers_as_json(files, capsys):
    _, arguments, _ = files
    status, out, err = run(capsys, *arguments, *QUICK, "--candidates", "8", "--json")
    assert (status, err) == (0, "")
    report = json.loads(out)
    assert report["inputs"]["seed"] == 0
    assert report["pool"]["saving"] == pytest.approx(1.6)
    rows = {row["name"]: row for row in report["model_rows"]}
    assert rows["B"]["macro_auc"]["value"] == pytest.approx(0.833333, abs=1e-6)
    assert rows["A"]["equal_outsider_auc"]["value"] == pytest.approx(0.875)
    without_a = next(e for e in report["leave_out"] if (e["kind"], e["name"]) == ("uniques", "A"))
    assert without_a["means"]["micro_auc"] == pytest.approx([0.8, 0.833333, 0.5], abs=1e-6)
    assert report["discovery"]["next_model"]["unseen"] == 4


def test_it_prints_text_for_a_person_and_the_same_twice(files, capsys):
    _, arguments, _ = files
    first = run(capsys, *arguments, *QUICK)
    assert first == run(capsys, *arguments, *QUICK)
    assert first[0] == 0
    assert first[1].startswith("Pool of 3 models to depth 2: 10 pairs of 2 queries; judged 10")
    other = run(capsys, *arguments, *QUICK, "--seed", "1")
    assert other[0] == 0


def test_every_further_file_has_its_part(files, capsys):
    _, arguments, write = files
    more = [
        "--families",
        write("families.csv", "model,family", [("A", "x"), ("B", "x")]),
        "--votes",
        write("votes.csv", "query,candidate,annotator,value", [("q1", "a", "ann", 1)]),
        "--attributes",
        write("images.csv", "path,colour", [("q1", "red"), ("a", "red")]),
        "--attribute",
        "colour",
        "--negatives",
        write("negatives.csv", "query,candidate,label", [("q1", "h", 0), ("q2", "g", 0)]),
        "--contamination",
        "0.1",
    ]
    status, out, _ = run(capsys, *arguments, *QUICK, *more, "--json")
    report = json.loads(out)
    assert status == 0
    assert [e["name"] for e in report["leave_out"] if e["kind"] == "family"] == ["x", "C"]
    assert report["panels"]["rows"][0]["annotators"] == ["ann"]
    assert report["attributes"][0]["name"] == "colour"
    assert report["model_rows"][0]["random_negative_corrected"] is not None


def test_runs_that_are_no_generators_are_told_apart_on_stderr(files, capsys):
    tmp_path, arguments, write = files
    outsider = write("new.csv", "query,candidate,score", [(*p[:2], 0.5) for p in g5_qrels()])
    only_new = [*arguments[:4], "--run", outsider]
    status, _, err = run(capsys, *only_new, *QUICK)
    assert status == 0
    assert err.startswith("note: no run is named like a model of the proposals (A, B, C)")
    status, _, err = run(capsys, *only_new, "--run", str(tmp_path / "A.csv"), *QUICK)
    assert (status, err) == (0, "note: no run of B, C, which built the pool\n")


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--k", "0"], "--k '0' is not a whole number from 1"),
        (["--k", "two"], "--k 'two'"),
        (["--bootstraps", "-1"], "--bootstraps -1 is below 0"),
        (["--permutations", "0"], "--permutations 0 is below 1"),
        (["--candidates", "0"], "--candidates 0 is below 1"),
        (["--contamination", "1"], "--contamination 1.0 is not in"),
        (["--attribute", "colour"], "--attribute needs the file"),
        (["--families", "missing.csv"], "missing.csv"),
    ],
)
def test_bad_options_are_refused_with_a_reason(files, capsys, options, reason):
    _, arguments, _ = files
    status, out, err = run(capsys, *arguments, *options)
    assert (status, out) == (2, "")
    assert err.startswith("error: ")
    assert reason in err


def test_bad_files_are_refused_with_file_and_line(files, capsys):
    _, arguments, write = files
    bad = write("bad.csv", "query,candidate,model,rank", [("q1", "a", "A", 0)])
    status, _, err = run(capsys, *arguments[:2], "--proposals", bad, *arguments[4:])
    assert status == 2
    assert f"{bad}, line 2: rank '0' is not a whole number from 1" in err
    wrong = write("wrong.csv", "query,candidate,label", [("q1", "h", 1)])
    status, _, err = run(capsys, *arguments, "--negatives", wrong)
    assert status == 2
    assert "one is 1" in err


def test_it_needs_neither_django_nor_torch(files):
    _, arguments, _ = files
    code = (
        "import sys; from lookalike.cli.main import main; "
        f"status = main({['bias', *arguments, *QUICK]!r}); "
        "assert not {'django', 'torch'} & sys.modules.keys(); sys.exit(status)"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert (found.returncode, found.stderr) == (0, "")
