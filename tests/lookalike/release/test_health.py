"""How a benchmark wears: ties at the top, holes, labels that changed from version to version."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lookalike as lk
from lookalike.cli.main import main
from lookalike.metrics.leaderboard import Entrant
from lookalike.release.derive import derive
from lookalike.release.format.folder import write_json
from lookalike.release.health import rivals_of, versions_health
from lookalike.release.leaderboard import ReleaseScores, release_leaderboard
from tests.lookalike.release.derived import derive_again, seal
from tests.paths import GOLDEN_RELEASES

OTHER_WAY = {"similar": "different", "different": "similar"}
OUTSIDER = "descriptor:lbp-texture"


@pytest.fixture(scope="module")
def versions(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return a release and a next version, in which judges changed their minds on a query."""
    root = tmp_path_factory.mktemp("versions")
    first = derive_again(root / "first")
    second = root / "second"
    shutil.copytree(first, second)
    table = pq.read_table(second / "data/judgements.parquet")
    changed = sorted(set(table["query_id"].to_pylist()))[0]
    answers = [
        OTHER_WAY.get(answer, answer) if query == changed else answer
        for query, answer in zip(
            table["query_id"].to_pylist(), table["answer"].to_pylist(), strict=True
        )
    ]
    place = table.column_names.index("answer")
    field = table.schema.field("answer")
    answered = pa.array(answers, pa.string()).cast(field.type)
    pq.write_table(table.set_column(place, field, answered), second / "data/judgements.parquet")
    info = json.loads((second / "release.json").read_bytes())
    write_json(second / "release.json", info | {"version": "1.1.0"})
    derive(second)
    seal(second)
    return first, second


def labels_in(folder: Path) -> dict[tuple[str, str], int]:
    rows = pq.read_table(folder / "data/labels.parquet").to_pylist()
    return {(r["query_id"], r["image_id"]): r["label"] for r in rows if r["label"] is not None}


def test_labels_that_changed_are_counted_each_way(versions):
    before, after = versions_health([lk.open_release(one) for one in versions])
    assert before.drift is None
    old, new = (labels_in(folder) for folder in versions)
    changes = [new[pair] - old[pair] for pair in old.keys() & new.keys()]
    drift = after.drift
    assert drift is not None
    assert (drift.n_to_similar, drift.n_to_different) == (changes.count(1), changes.count(-1))
    assert drift.n_shared == len(changes) > drift.n_to_similar + drift.n_to_different > 0
    assert drift.interval.low < drift.share < drift.interval.high
    assert after.title == "small 1.1.0"
    assert (before.n_labels, after.n_similar) == (len(old), sum(new.values()))


def test_of_a_model_from_outside_it_is_told_how_much_nobody_has_judged(versions):
    release = lk.open_release(versions[0])
    results = json.loads((versions[0] / "results.json").read_bytes())["models"]
    wanted = next(m for m in results if m["id"] == OUTSIDER.replace(":", "-"))
    [one] = versions_health([release])
    [hole] = one.holes
    assert (hole.model, hole.is_new) == (OUTSIDER, False)
    assert hole.share == pytest.approx(wanted["measures"]["hole@5"]["value"])
    assert [group.n_models for group in one.rivals] == [2, 1]


def test_models_that_no_test_tells_apart_are_tied_at_the_top():
    rng = np.random.default_rng(0)
    scores = []
    for name, share in (("good", 0.9), ("as good", 0.9), ("poor", 0.3)):
        values = rng.binomial(10, share, 40) / 10
        by_query = {"macro_roc_auc": values}
        value = {"macro_roc_auc": float(values.mean())}
        scores.append(
            ReleaseScores(Entrant(name, "pooled"), value, {"macro_roc_auc": 40}, by_query=by_query)
        )
    columns = [("macro_roc_auc", "AUC")]
    [section] = release_leaderboard(scores, columns, "macro_roc_auc", depth=5).sections
    found = rivals_of(section)
    assert (found.whom, found.n_models, found.n_tied) == ("pooled models", 3, 2)
    assert found.power == pytest.approx(2 / 3)
    few = [
        ReleaseScores(one.model, one.values, one.n_queries, by_query={
            "macro_roc_auc": one.by_query["macro_roc_auc"][:9]
        })
        for one in scores
    ]  # fmt: skip
    [section] = release_leaderboard(few, columns, "macro_roc_auc", depth=5).sections
    assert rivals_of(section).n_tied is None
    assert np.isnan(rivals_of(section).power)


def test_the_command_says_it_and_refuses_what_are_no_versions(versions, capsys):
    first, second = map(str, versions)
    assert main(["health", first, second]) == 0
    said = capsys.readouterr().out
    assert "comparable with pooled models" in said
    assert f"{OUTSIDER}: nobody has judged" in said
    assert "labels that the version before had, too:" in said
    assert main(["health", first, second, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [one["title"] for one in found["versions"]] == ["small 1.0.0", "small 1.1.0"]
    other = str(GOLDEN_RELEASES / "small-1.0.0.zip")
    for words, reason in (
        ([first, other], "shares no label with the version before"),
        ([first, "--measure", "P@99"], "it has no P@99; it has"),
        ([first, "--measure", "fame"], "fame"),
        ([first, "--k", "0"], "--k 0"),
    ):
        assert main(["health", *words]) == 2
        assert reason in capsys.readouterr().err
