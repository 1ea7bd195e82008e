"""What all sub-commands of `lookalike` have in common."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from lookalike import __version__
from lookalike.cli.main import COMMANDS, CONDITIONAL, GROUPS, main
from tests.paths import GOLDEN_RELEASES, ROOT

EVERY = [[name] for name in COMMANDS if name not in GROUPS]
EVERY += [[group, name] for group, names in GROUPS.items() for name in names]
LABELS = "q1 0 a 1\nq1 0 b 0\nq2 0 a 0\nq2 0 b 1\n"
RUN = "query,candidate,score\nq1,a,2\nq1,b,1\nq2,a,2\nq2,b,1\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "labels.txt").write_text(LABELS)
    (tmp_path / "beit.csv").write_text(RUN)
    (tmp_path / "beit.csv.gz").write_bytes(gzip.compress(RUN.encode()))
    (tmp_path / "votes.csv").write_text("item,worker,label\na,1,yes\na,2,yes\nb,1,no\nb,2,yes\n")
    return tmp_path


SCORE = ["score", "--qrels", "labels.txt", "--run", "beit.csv", "--measures", "P@1,macro_roc_auc",
         "--complete"]  # fmt: skip


def process(folder: Path, text: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command in a folder with a text on stdin."""
    return subprocess.run(
        [sys.executable, "-m", "lookalike", *arguments],
        cwd=folder, env=os.environ | {"PYTHONPATH": str(ROOT)}, input=text,
        capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.parametrize("words", EVERY, ids=" ".join)
def test_help_describes_the_command_and_shows_an_example(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        main([*words, "--help"])
    out = capsys.readouterr().out
    assert end.value.code == 0
    assert out.startswith(f"usage: lookalike {' '.join(words)} ")
    assert f"example:\n  lookalike {' '.join(words)} " in out
    assert "--json" in out
    assert "--out" in out


@pytest.mark.parametrize("words", [[], ["--help"], ["conditional"], ["conditional", "-h"]])
def test_without_a_command_all_of_them_are_listed(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        main(words)
    out = capsys.readouterr().out
    assert end.value.code == 0
    names = CONDITIONAL if words[:1] == ["conditional"] else COMMANDS
    assert [line.split()[0] for line in out.splitlines() if line.startswith("  ")] == list(names)


def test_the_version_is_that_of_the_package(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["--version"])
    assert end.value.code == 0
    assert capsys.readouterr().out == f"lookalike {__version__}\n"


def test_listing_the_commands_loads_none_of_them() -> None:
    code = (
        "import sys; from lookalike.cli.main import main\n"
        "try: main(['--help'])\n"
        "except SystemExit: pass\n"
        "print({'torch', 'scipy', 'pyarrow', 'sklearn'} & sys.modules.keys())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "set()"


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["scor"], "lookalike has no command 'scor'. Did you mean score?"),
        (["conditional", "align"], "no command 'align'. Did you mean alignment?"),
        (["score", "--qrels"], "argument --qrels: expected one argument"),
        ([*SCORE, "--out", "report.pdf"], "does not end in .json, .csv, .md, .tex, .html"),
    ],
)
def test_a_command_line_that_cannot_be_understood_is_refused(
    words: list[str], reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        main(words)
    out, err = capsys.readouterr()
    assert (end.value.code, out) == (2, "")
    assert err.startswith("error: ")
    assert reason in err


def test_a_report_goes_into_a_file_by_its_ending(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*SCORE, "--json"]) == 0
    printed = capsys.readouterr().out
    for ending in ("json", "csv", "md", "html"):
        assert main([*SCORE, "--out", f"report.{ending}"]) == 0
    assert capsys.readouterr() == ("", "")
    assert (folder / "report.json").read_text() == printed
    rows = list(csv.DictReader(io.StringIO((folder / "report.csv").read_text())))
    assert rows[0] == {"measure": "P@1", "queries": "2", "beit": "0.5"}
    assert "| P@1 | 2 | 0.5000 |" in (folder / "report.md").read_text()
    assert "<td>P@1</td><td>2</td><td>0.5000</td>" in (folder / "report.html").read_text()


def test_values_by_query_are_rows_of_the_csv(folder: Path) -> None:
    assert main([*SCORE, "--by-query", "--out", "report.csv"]) == 0
    rows = list(csv.reader(io.StringIO((folder / "report.csv").read_text())))
    assert rows[:4] == [
        ["measure", "query", "queries", "beit"],
        ["P@1", "", "2", "0.5"],
        ["P@1", "q1", "", "1.0"],
        ["P@1", "q2", "", "0.0"],
    ]


def test_text_in_a_document_is_escaped(folder: Path) -> None:
    (folder / "votes.csv").write_text("item,worker,label\n<b>|x,1,=yes\n<b>|x,2,=yes\n")
    for ending in ("csv", "md", "html"):
        assert main(["aggregate", "votes.csv", "--out", f"labels.{ending}"]) == 0
    assert (folder / "labels.csv").read_text() == "item,label\n<b>|x,'=yes\n"
    assert "| &lt;b>\\|x | =yes |" in (folder / "labels.md").read_text()
    assert "<td>&lt;b&gt;|x</td>" in (folder / "labels.html").read_text()


def test_a_compressed_run_is_read_and_named_as_the_plain_one(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main([*SCORE, "--json"])
    plain = json.loads(capsys.readouterr().out)["runs"][0]
    packed = [word.replace("beit.csv", "beit.csv.gz") for word in SCORE]
    assert main([*packed, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["runs"][0] == plain | {"file": "beit.csv.gz"}


def test_a_damaged_file_is_named_as_it_was_given(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "labels.txt.gz").write_bytes(gzip.compress(b"q1 0 a\n"))
    assert main(["score", "--qrels", "labels.txt.gz", "--run", "beit.csv"]) == 2
    err = capsys.readouterr().err
    assert err.startswith("error: labels.txt.gz, line 1: 3 fields")
    whole = (folder / "beit.csv.gz").read_bytes()
    for content in (b"no gzip", whole[:-12]):
        (folder / "beit.csv.gz").write_bytes(content)
        assert main(["score", "--qrels", "labels.txt", "--run", "beit.csv.gz"]) == 2
        err = capsys.readouterr().err
        assert err.startswith("error: beit.csv.gz is not readable as gzip")


def test_a_run_is_read_from_stdin_and_its_mistakes_are_named(folder: Path) -> None:
    arguments = ["score", "--qrels", "labels.txt", "--run", "-", "--measures", "P@1", "--json",
                 "--complete"]  # fmt: skip
    done = process(folder, RUN, *arguments)
    assert (done.returncode, done.stderr) == (0, "")
    run = json.loads(done.stdout)["runs"][0]
    assert (run["name"], run["file"]) == ("stdin", "stdin")
    assert run["measures"]["P@1"]["value"] == 0.5
    done = process(folder, "query,candidate,score\nq1,a,x\n", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: stdin, line 2: ")


def test_a_pipe_is_read_like_a_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo(folder / "pipe")
    writer = threading.Thread(target=(folder / "pipe").write_text, args=(RUN,))
    writer.start()
    assert main([word.replace("beit.csv", "pipe") for word in SCORE]) == 0
    writer.join()
    assert "0.5000" in capsys.readouterr().out


def test_a_closed_pipe_is_no_error(folder: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [sys.executable, "-m", "lookalike", "aggregate", "votes.csv"],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=write,
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(write)
    assert (done.returncode, done.stderr) == (141, b"")


def test_agreement_is_that_of_aggregate(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["agreement", "votes.csv", "--json"]) == 0
    agreement = json.loads(capsys.readouterr().out)
    assert main(["aggregate", "votes.csv", "--tie", "split"]) == 0
    expected = json.loads(capsys.readouterr().out)["agreement"]
    notes = agreement.pop("notes")
    assert notes[0].startswith("Intervals over items tell")
    assert [note.partition(": ")[0] for note in notes[1:]] == ["percent, ac1", "alpha, fleiss"]
    assert agreement == expected | {"n_workers": 2}
    assert agreement["percent"] == 0.5
    assert main(["agreement", "votes.csv"]) == 0
    assert "prevalence of yes   0.7500" in capsys.readouterr().out


def test_a_search_is_a_run_that_can_be_scored(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    vectors = np.array([[1, 0], [0.9, 0.1], [0, 1], [0.1, 1]], np.float32)
    np.savez("catalog.npz", ids=np.array(["q1", "a", "q2", "b"]), vectors=vectors)
    np.savez("queries.npz", ids=np.array(["q1", "q2"]), vectors=vectors[[0, 2]])
    search = ["search", "--catalog", "catalog.npz", "--queries", "queries.npz", "-k", "1"]
    assert main(search) == 0
    printed = capsys.readouterr().out
    rows = list(csv.DictReader(io.StringIO(printed)))
    assert [(row["query"], row["candidate"], row["rank"]) for row in rows] == [
        ("q1", "a", "1"),
        ("q2", "b", "1"),
    ]
    assert float(rows[0]["score"]) == pytest.approx(0.9 / np.hypot(0.9, 0.1))
    assert main([*search, "--out", "found.csv"]) == 0
    assert main(["score", "--qrels", "labels.txt", "--run", "found.csv", "--measures", "P@1"]) == 0
    assert "P@1            2  1.0000" in capsys.readouterr().out
    assert main([*search[:-1], "0"]) == 2
    assert "error: k is 0" in capsys.readouterr().err


def test_images_are_embedded_and_those_that_cannot_be_read_are_named(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from PIL import Image

    (folder / "photos" / "red").mkdir(parents=True)
    Image.new("RGB", (40, 30), "red").save("photos/red/1.png")
    Image.new("RGB", (40, 30), "blue").save("photos/2.png")
    embed = ["embed", "photos", "--model", "descriptor:colour-layout"]
    assert main([*embed, "--out", "v.npz"]) == 0
    assert "2 vectors of 96 dimensions" in capsys.readouterr().out
    (folder / "photos" / "3.png").write_bytes(b"\x89PNG\r\n\x1a\nno picture")
    assert main([*embed, "--out", "v.parquet", "--json"]) == 1
    out, err = capsys.readouterr()
    assert json.loads(out)["not_read"][0]["image"] == "3.png"
    assert err.startswith("note: 3.png: The PNG picture is broken")
    for name in ("v.npz", "v.parquet"):
        assert main(["search", "--catalog", name, "-k", "1", "--json"]) == 0
        nearest = json.loads(capsys.readouterr().out)["nearest"]
        assert [row["query"] for row in nearest] == ["2.png", "red/1.png"]
    assert main([*embed[:-1], "descriptor:colours", "--out", "v.npz"]) == 2
    assert "error: " in capsys.readouterr().err


def test_what_was_checked_and_found_wanting_ends_with_1(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    release = str(GOLDEN_RELEASES / "small-1.0.0.zip")
    assert main(["verify", release, "--out", "check.md"]) == 0
    (folder / "answers.csv").write_text("anchor,closer,farther\na,b,c\na,a,b\n")
    assert main(["conditional", "validate", "answers.csv"]) == 1
    assert main(["verify", str(folder)]) == 2
    assert "error: " in capsys.readouterr().err
