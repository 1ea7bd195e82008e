"""`--unit` in every command with intervals: the unit is named, counted and used."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lookalike as lk
from lookalike.cli.main import main
from lookalike.io.labels import read_image_column
from lookalike.release.errors import ReleaseError
from tests.lookalike.release.derived import current_release

OPTIONS = ["--queries", "40", "--images", "20", "--models", "2", "--depth", "5", "--seed", "2"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a campaign of 40 queries: 20 products of two, 8 series of five."""
    folder = tmp_path_factory.mktemp("unit") / "campaign"
    assert main(["simulate", str(folder), *OPTIONS]) == 0
    rows = [(f"q{q + 1:05d}", f"p{q // 2}", f"s{q // 5}") for q in range(40)]
    rows += [(f"{q}-c{c + 1:05d}", "", "") for q, _, _ in rows for c in range(20)]
    with (folder / "metadata.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("path", "product_id", "series"), *rows])
    entries = [{"path": path, "id": p, "series": s} for path, p, s in rows]
    (folder / "metadata.json").write_text(json.dumps({"images": entries}))
    return folder


def files(folder: Path, *labels: str) -> list[str]:
    runs = [word for m in (1, 2) for word in ("--run", str(folder / f"runs/model-{m}.csv"))]
    return ["--proposals", str(folder / "proposals.csv"), *runs, *labels]


def found(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    capsys.readouterr()
    assert main([*map(str, words), "--json"]) == 0
    return dict(json.loads(capsys.readouterr().out))


def widths(report: dict[str, Any], measure: str = "P@5") -> list[float]:
    rows = report["measures"]
    return [
        (row["high"] - row["low"]) if row["low"] is not None else float("nan")
        for row in rows
        if row["measure"] == measure
    ]


UNITS = [
    ((), "query", 40),
    (("--metadata", "metadata.csv"), "product", 20),
    (("--metadata", "metadata.csv", "--unit", "product"), "product", 20),
    (("--metadata", "metadata.csv", "--unit", "query"), "query", 40),
    (("--metadata", "metadata.csv", "--unit", "series"), "series", 8),
    (("--metadata", "metadata.json", "--unit", "series"), "series", 8),
    (("--unit", "query"), "query", 40),
]


@pytest.mark.parametrize("case", UNITS)
@pytest.mark.parametrize("command", ["rounds", "plan"])
def test_rounds_and_plans_name_the_unit_and_count_it(folder, capsys, command, case):
    options, unit, n_units = case
    given = [str(folder / word) if "." in word else word for word in options]
    words = ["rounds", "estimate", "--qrels"] if command == "rounds" else ["plan", "--votes"]
    table = "qrels.csv" if command == "rounds" else "votes.csv"
    report = found(capsys, *words, str(folder / table), *files(folder), *given)
    assert (report["unit"], report["n_units"]) == (unit, n_units)


def test_fewer_units_widen_intervals_and_too_few_leave_them_blank(folder, capsys):
    metadata = ["--metadata", str(folder / "metadata.csv")]
    words = ["rounds", "estimate", "--qrels", str(folder / "qrels.csv"), *files(folder)]
    by_query = widths(found(capsys, *words))
    assert np.isnan(widths(found(capsys, *words, *metadata, "--unit", "series"))).all()
    by_product = widths(found(capsys, *words, *metadata))
    assert by_product != by_query
    assert not np.isnan(by_product).any()


def test_scores_get_intervals_over_the_unit_that_is_asked_for(folder, capsys):
    words = ["score", "--qrels", str(folder / "qrels.csv"), *files(folder)[2:4]]
    words += ["--measures", "P@5,AP'"]
    metadata = ["--metadata", str(folder / "metadata.csv")]
    plain = found(capsys, *words)["runs"][0]["measures"]["P@5"]
    assert "low" not in plain
    by_query = found(capsys, *words, "--unit", "query")["runs"][0]["measures"]["P@5"]
    by_product = found(capsys, *words, *metadata, "--unit", "product")["runs"][0]["measures"]
    few = found(capsys, *words, *metadata, "--unit", "series")["runs"][0]["measures"]["P@5"]
    assert by_query["low"] < plain["value"] < by_query["high"]
    assert by_product["P@5"]["low"] != by_query["low"]
    assert few["low"] is None
    assert few["no_interval"]


def test_bias_names_the_unit_that_is_asked_for(folder, capsys):
    words = ["bias", "--qrels", str(folder / "qrels.csv"), *files(folder), "--bootstraps", "50"]
    words += ["--permutations", "50", "--metadata", str(folder / "metadata.csv")]
    for options, unit, n_units in (
        ((), "product", 20), (("--unit", "query"), "query", 40), (("--unit", "series"), "series", 8)
    ):  # fmt: skip
        report = found(capsys, *words, *options)
        assert (report["units"], report["n_units"]) == (unit, n_units)


@pytest.mark.parametrize(
    "options",
    [
        ("--unit", "series"),
        ("--unit", "product"),
        ("--unit", "colour", "--metadata", "metadata.csv"),
        ("--unit", "series", "--metadata", "strangers.csv"),
        ("--metadata", "strangers.csv"),
    ],
)
@pytest.mark.parametrize("command", ["rounds", "score"])
def test_a_unit_that_nothing_tells_is_an_error(folder, capsys, command, options):
    (folder / "strangers.csv").write_text("path,product_id,series\nx.jpg,p,s\n")
    given = [str(folder / word) if "." in word else word for word in options]
    words = ["rounds", "estimate", *files(folder)]
    if command == "score":
        words = ["score", *files(folder)[2:4]]
    assert main([*words, "--qrels", str(folder / "qrels.csv"), *given]) == 2
    message = capsys.readouterr().err
    assert any(word in message for word in ("--metadata", "strangers.csv", "metadata.csv"))


def test_a_column_needs_no_products_beside_it(folder, capsys):
    lines = (folder / "metadata.csv").read_text().splitlines()
    cells = [line.split(",") for line in lines]
    (folder / "series.csv").write_text("\n".join(f"{c[0]},{c[2]}" for c in cells) + "\n")
    words = ["score", "--qrels", str(folder / "qrels.csv"), *files(folder)[2:4]]
    words += ["--metadata", str(folder / "series.csv"), "--unit", "series", "--measures", "P@5"]
    assert found(capsys, *words)["runs"][0]["measures"]["P@5"]["low"] is None


def test_photos_are_found_over_a_column(tmp_path, capsys):
    rng = np.random.default_rng(1)
    names = [f"{i}.jpg" for i in range(48)]
    np.savez(tmp_path / "v.npz", ids=np.array(names), vectors=rng.normal(size=(48, 8)))
    rows = [(name, f"p{i // 2}", f"s{i // 12}") for i, name in enumerate(names)]
    with (tmp_path / "m.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("path", "product_id", "series"), *rows])
    words = ["identity", str(tmp_path / "v.npz"), "--metadata", str(tmp_path / "m.csv")]
    by_product, by_series = (
        found(capsys, *words, *more)["rows"][0]["measures"]["vsd_hr@5"]["interval"]
        for more in ((), ("--unit", "series"))
    )
    assert by_product["low"] is not None
    assert by_series["low"] is None  # 4 series


def test_a_release_compares_over_an_attribute_of_its_images(tmp_path, capsys):
    place = current_release(tmp_path / "small")
    with lk.open_release(place) as release:
        models = [model["id"] for model in release.scored][:2]
    words = ["compare", "--release", str(place), "--measures", "AP'"]
    words += [word for model in models for word in ("--run", model)]
    usual, by_query, by_kind = (
        found(capsys, *words, *more)
        for more in ((), ("--unit", "query"), ("--unit", "kind"))
    )  # fmt: skip
    assert (usual["unit"], by_query["unit"], by_kind["unit"]) == ("product", "query", "kind")
    n = [report["differences"][0]["n_units"] for report in (usual, by_query, by_kind)]
    assert n[2] < n[0] < n[1]
    assert by_kind["differences"][0]["low"] is None  # 3 kinds
    score = ["score", "--release", str(place), "--measures", "AP'"]
    scored = found(
        capsys, *score, "--run", str(place / f"runs/{models[0]}.parquet"), "--unit", "kind"
    )
    assert scored["unit"] == "kind"
    with pytest.raises(ReleaseError, match="colour"):
        lk.compare(place, models, unit="color")


def test_metadata_of_a_release_says_any_of_its_columns(tmp_path):
    path = tmp_path / "images.csv"
    path.write_text("image_id,path,kind\na,a.jpg,x\nb,b.jpg,\n")
    assert read_image_column(path, "kind") == {"a": "x", "a.jpg": "x", "b": "", "b.jpg": ""}
