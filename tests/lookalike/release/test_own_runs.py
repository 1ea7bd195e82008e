"""A release scores files, runs and vectors by one path, and knows its own files."""

import csv
import json
import math
from pathlib import Path

import numpy as np
import pytest

import lookalike as lk
from lookalike.cli.main import main
from tests.paths import ROOT

GOLDEN = ROOT / "tests/golden/releases/small-5.0.0.zip"


@pytest.fixture(scope="module")
def release():
    with lk.open_release(GOLDEN) as opened:
        yield opened


def part_of(run: lk.Run, n: int) -> lk.Run:
    """Return the first candidates of every list alone."""
    heads = {q: sorted(row.items(), key=lambda at: -at[1])[:n] for q, row in run.by_query().items()}
    return lk.Run.of("part", [(q, c, s) for q, head in heads.items() for c, s in head])


def write(run: lk.Run, path: Path) -> Path:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("query", "candidate", "score"))
        writer.writerows((q, c, s) for q, row in run.by_query().items() for c, s in row.items())
    return path


def test_a_run_without_scores_is_refused_as_its_file_is(release, tmp_path):
    run = part_of(release.run(release.scored[0]["id"]), 6)
    file = write(run, tmp_path / "part.csv")
    for given in (run, file, [run], [file]):
        with pytest.raises(lk.InputError, match="no score for"):
            release.score(given)
    [by_run], [by_file] = (release.score(given, missing="worst") for given in (run, file))
    for name, outcome in by_run.outcomes.items():
        same = by_file.outcomes[name].value
        assert outcome.value == same or (math.isnan(outcome.value) and math.isnan(same))


def test_every_own_run_file_is_scored_as_the_board_says(release, capsys):
    board = {model["id"]: model["measures"] for model in release.json("results.json")["models"]}
    for model in release.scored:
        for name in (f"trec/runs/{model['id']}.txt", f"runs/{model['id']}.parquet"):
            path = str(release.path / name)
            assert main(["score", "--release", str(GOLDEN), "--run", path, "--json"]) == 0
            [found] = json.loads(capsys.readouterr().out)["runs"]
            for measure, outcome in found["measures"].items():
                expected = board[model["id"]][measure]
                if outcome["n_defined"] == expected["n_queries"] and expected["value"] is not None:
                    assert outcome["value"] == pytest.approx(expected["value"], abs=1e-9)


def test_deep_measures_of_an_old_releases_runs_are_undefined_unless_lists_are_whole(release):
    run = release.run(next(m["id"] for m in release.scored if m["kind"] == "embeddings"))
    assert run.depth >= 50
    [scored] = release.score(run, ["R@1000", "P@5"])
    shortest = min(len(row) for row in run.by_query().values())
    assert math.isnan(scored.outcomes["R@1000"].value) == (shortest >= run.depth)
    assert not math.isnan(scored.outcomes["P@5"].value)


def ranked_by_chance(release, seed: int = 3) -> dict[str, list[tuple[str, float]]]:
    """Return whole lists of a release's candidates, best first."""
    rng = np.random.default_rng(seed)
    images = [i for i, is_ranked in release.rows("images", "image_id", "is_candidate") if is_ranked]
    scores = {query: rng.normal(size=len(images)).tolist() for query in release.judged.queries}
    return {
        query: sorted(zip(images, of, strict=True), key=lambda one: -one[1])
        for query, of in scores.items()
    }


def trec_file(path: Path, lists: dict[str, list[tuple[str, float]]]) -> Path:
    lines = [f"{q} Q0 {c} {rank} {score!r} chance" for q, of in lists.items()
             for rank, (c, score) in enumerate(of, 1)]  # fmt: skip
    path.write_text("\n".join(lines) + "\n")
    return path


def test_a_text_run_that_is_cut_has_no_deep_measures_though_judged_pairs_are_added(
    release, tmp_path
):
    lists = ranked_by_chance(release)
    judged = {(query, image) for query, image, _ in release.judged.pairs}
    measures = ["P@5", "R@10", "R@30", "AP"]
    [whole] = release.score(trec_file(tmp_path / "whole.txt", lists), measures)
    assert whole.depth is None
    cut = {query: of[:20] for query, of in lists.items()}
    added = {
        query: of[:20] + [one for one in of[20:] if (query, one[0]) in judged]
        for query, of in lists.items()
    }
    for name, given in (("cut", cut), ("added", added)):
        path = trec_file(tmp_path / f"{name}.txt", given)
        [found] = release.score(path, measures, missing="worst")
        assert found.depth == 20
        for measure in ("P@5", "R@10"):
            assert found.outcomes[measure].value == whole.outcomes[measure].value
        for measure in ("R@30", "AP"):
            assert math.isnan(found.outcomes[measure].value)
            assert "complete down to" in found.outcomes[measure].reason
    one_is_short = cut | {next(iter(cut)): cut[next(iter(cut))][:7]}
    path = trec_file(tmp_path / "short.txt", one_is_short)
    [found] = release.score(path, ["P@5", "R@10"], missing="worst")
    assert not math.isnan(found.outcomes["R@10"].value)
