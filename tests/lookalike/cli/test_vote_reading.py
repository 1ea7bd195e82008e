"""Every command that reads votes or labels reads them by the same options, and passes on notes."""

from __future__ import annotations

import argparse
import json
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from lookalike.cli.main import main

READERS = [
    *("score", "bias", "agreement", "aggregate", "machine_judge", "plan", "next_model"),
    *("rounds.draw", "rounds.estimate", "identity", "negatives", "disagreement"),
    *("second_opinion", "label_sensitivity", "conditional.score_triplets"),
]
OPTIONS = {"--repeats", "--control", "--config", "--keys"}


@pytest.mark.parametrize("name", READERS)
def test_each_reader_of_votes_has_the_same_options(name: str) -> None:
    parser = argparse.ArgumentParser()
    parser.register("type", "input", str)
    import_module(f"lookalike.cli.{name}").add_options(parser)
    assert {option for action in parser._actions for option in action.option_strings} >= OPTIONS


@pytest.fixture
def votes(tmp_path: Path) -> Path:
    """Label Studio's JSON: three users on four pairs, two controls; one user answers twice."""

    def annotation(user: int, word: str) -> dict[str, Any]:
        words = {"similarity": word, "same_brand": "no"}
        results = [
            {"from_name": name, "to_name": "query", "value": {"choices": [choice]}}
            for name, choice in words.items()
        ]
        return {"completed_by": user, "result": results}

    tasks: list[dict[str, Any]] = []
    for n in range(4):
        data = {"query": f"/data/local-files/?d=q%20{n // 2}.jpg", "candidate": f"c{n}.jpg"}
        words = ["similar", "different" if n % 2 else "similar", "different"]
        annotations = [annotation(user, word) for user, word in enumerate(words)]
        tasks.append({"data": data, "annotations": annotations})
    tasks[0]["annotations"].append(annotation(0, "different"))
    tasks[1]["annotations"].append({"was_cancelled": True, "completed_by": 9, "result": []})
    path = tmp_path / "votes.json"
    path.write_text(json.dumps(tasks))
    return path


@pytest.fixture
def files(tmp_path: Path, votes: Path) -> dict[str, list[str]]:
    """Arguments of each command beside the options of votes."""
    scores = "".join(f"q%20{q}.jpg,./c{c}.jpg,{(q + c) % 5}\n" for q in range(2) for c in range(8))
    (tmp_path / "m.csv").write_text(f"query,candidate,score\n{scores}")
    pool = "".join(f"q+{n // 2}.jpg,c{n}.jpg,m,{n % 2 + 1}\n" for n in range(4))
    (tmp_path / "pool.csv").write_text(f"query,candidate,model,rank\n{pool}")
    run, proposals = str(tmp_path / "m.csv"), str(tmp_path / "pool.csv")
    given = str(votes)
    return {
        "score": ["--qrels", given, "--run", run, "--missing", "worst"],
        "bias": ["--qrels", given, "--proposals", proposals, "--run", run, "--votes", given,
                 "--bootstraps", "0", "--permutations", "1"],
        "machine-judge": ["--votes", given, "--run", run],
        "negatives": ["--qrels", given, "--reference", run, "--seed", "1",
                      "--out", str(tmp_path / "n.csv")],
        "agreement": [given],
        "aggregate": [given],
    }  # fmt: skip


@pytest.mark.parametrize("name", ["score", "bias", "machine-judge", "negatives", "agreement"])
def test_controls_and_repeats_are_asked_for_and_what_is_left_out_is_said(
    name: str, files: dict[str, list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([name, *files[name]]) == 2
    assert "--control" in capsys.readouterr().err
    assert main([name, *files[name], "--control", "similarity"]) == 2
    assert "--repeats" in capsys.readouterr().err
    assert main([name, *files[name], "--control", "similarity", "--repeats", "first"]) == 0
    said = capsys.readouterr().err
    for words in ("same_brand", "skipped", "repeated"):
        assert words in said, words
