"""`lookalike rounds`: a campaign judged in part, from files to a decision."""

from __future__ import annotations

import csv
import json
import re

import pytest

from lookalike.cli.main import main

OPTIONS = ["--queries", "40", "--images", "30", "--models", "3", "--depth", "5", "--seed", "2"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rounds") / "campaign"
    assert main(["simulate", str(folder), *OPTIONS]) == 0
    return folder


def rounds(folder, command, *options):
    runs = [word for m in (1, 2, 3) for word in ("--run", str(folder / f"runs/model-{m}.csv"))]
    files = ["--proposals", str(folder / "proposals.csv"), *runs]
    return main(["rounds", command, *files, *map(str, options)])


def judge(folder, *drawn):
    """Write the labels of what rounds drew."""
    asked = set()
    for path in drawn:
        with path.open() as file:
            asked |= {
                (r["query"], r["candidate"]) for r in csv.DictReader(file) if r["drawn"] == "1"
            }
    lines = (folder / "qrels.csv").read_text().splitlines()
    kept = [line for line in lines[1:] if tuple(line.split(",")[:2]) in asked]
    path = folder / f"judged-{len(drawn)}.csv"
    path.write_text("\n".join([lines[0], *kept]) + "\n")
    return path


def test_two_rounds_are_drawn_judged_and_estimated(folder, capsys):
    first, second = folder / "round-1.csv", folder / "round-2.csv"
    assert rounds(folder, "draw", "--share", 0.3, "--seed", 1, "--to", first) == 0
    so_far = judge(folder, first)
    more = ("--qrels", so_far, "--round", first, "--share", 0.2, "--seed", 2, "--to", second)
    assert rounds(folder, "draw", *more) == 0
    so_far = judge(folder, first, second)
    capsys.readouterr()
    known = ("--qrels", so_far, "--round", first, "--round", second)
    assert rounds(folder, "estimate", *known, "--json") == 0
    report = json.loads(capsys.readouterr().out)
    assert 0.35 < report["judged"] < 0.65
    assert {row["measure"] for row in report["measures"]} >= {"P@5", "micro_roc_auc"}
    shown = [row for row in report["measures"] if row["low"] is not None]
    assert shown
    assert all(0 <= row["low"] <= row["value"] <= row["high"] <= 1 for row in shown)
    assert rounds(folder, "estimate", *known) == 0
    assert "Judged: " in capsys.readouterr().out
    # of more labels than were asked, those of the rounds alone say the same
    extra = folder / "extra.csv"
    asked, rows = so_far.read_text().splitlines(), (folder / "qrels.csv").read_text().splitlines()
    unasked = [row for row in rows if row not in asked]
    extra.write_text("\n".join([*asked, *unasked[:5]]) + "\n")
    more_labels = ("--qrels", extra, "--round", first, "--round", second)
    assert rounds(folder, "estimate", *more_labels) == 2
    assert "leave these labels out" in capsys.readouterr().err
    assert rounds(folder, "estimate", *more_labels, "--drawn-only", "--json") == 0
    cut = json.loads(capsys.readouterr().out)
    assert cut["measures"] == report["measures"]
    assert cut["n_left_out"] == 5
    # a round is a fact: it is not drawn again, and not without the answers to the last
    assert rounds(folder, "draw", *more) == 2
    assert "stays" in capsys.readouterr().err
    unjudged = ("--round", first, "--share", 0.2, "--seed", 3, "--to", folder / "round-3.csv")
    assert rounds(folder, "draw", *unjudged) == 2
    assert "have no label yet" in capsys.readouterr().err


def test_two_rounds_of_one_seed_are_drawn_independently_and_keep_it(folder, tmp_path):
    first, second = tmp_path / "round-1.csv", tmp_path / "round-2.csv"
    same = ("--seed", 1, "--whole-queries", "--to")
    assert rounds(folder, "draw", "--share", 0.3, *same, first) == 0
    known = ("--qrels", folder / "qrels.csv", "--round", first, "--drawn-only")
    # by the first round's numbers, all of which are above .3 where a query is open, none would be
    assert rounds(folder, "draw", *known, "--share", 0.15, *same, second) == 0
    with second.open() as file:
        rows = list(csv.DictReader(file))
    assert any(row["drawn"] == "1" for row in rows)
    assert {(row["seed"], row["guess"]) for row in rows} == {("1", "none")}


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("q00001,nobody,0.5,1", "is no pair of the pool"),
        ("{pair},0,1", "probability '0' is not in"),
        ("{pair},nan,1", "probability 'nan' is not in"),
        ("{pair},0.5,yes", "neither 0 nor 1"),
        ("{pair},0.5,1\n{pair},0.5,1", "line 3: .* twice"),
        ("{pair},0.5", "3 cells"),
        ("", "holds no pair"),
    ],
)
def test_a_damaged_round_is_named_by_line(folder, tmp_path, capsys, row, reason):
    pair = ",".join((folder / "qrels.csv").read_text().splitlines()[1].split(",")[:2])
    path = tmp_path / "bad.csv"
    path.write_text("query,candidate,probability,drawn\n" + row.format(pair=pair) + "\n")
    assert rounds(folder, "estimate", "--qrels", folder / "qrels.csv", "--round", path) == 2
    assert re.search(reason, capsys.readouterr().err)


def test_a_run_of_the_pools_pairs_alone_is_refused(folder, tmp_path, capsys):
    lines = (folder / "qrels.csv").read_text().splitlines()[1:]
    bare = tmp_path / "bare.csv"
    rows = [line.rsplit(",", 1)[0] + ",0.5" for line in lines]
    bare.write_text("\n".join(["query,candidate,score", *rows]) + "\n")
    files = ["--proposals", folder / "proposals.csv", "--qrels", folder / "qrels.csv"]
    status = main(["rounds", "estimate", "--run", str(bare), *map(str, files)])
    assert status == 2
    assert "ranks need its whole lists" in capsys.readouterr().err
