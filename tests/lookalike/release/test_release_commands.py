"""Commands on a release: a newcomer against its pool, agreement of its judges, intervals."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import lookalike as lk
from lookalike.cli.main import main
from lookalike.io.documents import Table, as_latex, as_markdown
from lookalike.release.leaderboard import query_units
from lookalike.stats.intervals import mean_interval
from tests.paths import GOLDEN_RELEASES

RELEASE = GOLDEN_RELEASES / "small-4.0.0.zip"
TEXTURE = "descriptor-lbp-texture"
QUICK = ("--bootstraps", "50", "--permutations", "200")


@pytest.fixture(scope="module")
def newcomer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The scores of a model of the release as somebody's own file."""
    release = lk.open_release(RELEASE)
    path = tmp_path_factory.mktemp("runs") / "mine.parquet"
    path.write_bytes((release.path / f"runs/{TEXTURE}.parquet").read_bytes())
    return path


def printed(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    assert main([str(word) for word in words]) == 0
    return capsys.readouterr().out


def test_a_newcomer_is_held_against_the_pool_as_the_same_model_inside_it_is(
    newcomer: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = json.loads(
        printed(capsys, "bias", "--release", RELEASE, "--run", newcomer, "--json", *QUICK)
    )
    rows = {row["name"]: row for row in found["model_rows"]}
    assert rows["mine"]["badge"] == "outsider"
    assert rows["mine"]["cutoffs"] == rows[TEXTURE]["cutoffs"]
    assert rows["mine"]["equal_outsider_auc"] == rows[TEXTURE]["equal_outsider_auc"]
    assert found["inputs"]["newcomers"] == ["mine"]


def test_a_newcomer_with_the_name_of_a_model_stands_beside_it(
    newcomer: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = tmp_path / f"{TEXTURE}.parquet"
    copy.write_bytes(newcomer.read_bytes())
    found = json.loads(
        printed(capsys, "bias", "--release", RELEASE, "--run", copy, "--json", *QUICK)
    )
    assert {row["name"] for row in found["model_rows"]} >= {TEXTURE, f"{TEXTURE} ({copy})"}


def test_vectors_are_a_newcomer_too(tmp_path: Path) -> None:
    import numpy as np

    release = lk.open_release(RELEASE)
    rng = np.random.default_rng(0)
    path = tmp_path / "vectors.npz"
    ids = np.array(release.image_ids)
    np.savez(path, ids=ids, vectors=rng.normal(size=(ids.size, 8)))
    settings = lk.BiasSettings(n_bootstraps=0, n_permutations=10)
    report = release.bias_report(path, settings=settings)
    [row] = [row for row in report.model_rows if row.name == "vectors"]
    assert row.cutoffs
    assert 0 <= row.cutoffs[0].judged < 1


def test_the_page_fits_100_columns_and_the_whole_report_stands_behind_full(
    newcomer: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["bias", "--release", RELEASE, "--run", newcomer, *QUICK]
    page = printed(capsys, *words).splitlines()
    assert max(map(len, page)) <= 100
    full = printed(capsys, *words, "--full").splitlines()
    assert len(page) < 70 < len(full)


def test_an_option_that_the_release_answers_is_refused(
    newcomer: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bias", "--release", str(RELEASE), "--qrels", str(newcomer)]) == 2
    assert "--qrels" in capsys.readouterr().err


def test_counts_in_documents_are_whole_numbers_and_values_have_four_digits() -> None:
    table = Table(["figure", "value"], [["n_positive", 703.0], ["AUC", 1.0], ["AP", 0.25]])
    for written in (as_latex(table), as_markdown(table)):
        assert "703" in written
        assert "703." not in written
        assert "1.0000" in written
        assert "0.2500" in written


def test_agreement_of_a_release_is_that_of_its_counted_votes(
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = json.loads(printed(capsys, "agreement", "--release", RELEASE, "--json"))
    votes = lk.open_release(RELEASE).votes()
    wanted = lk.measure_agreement(votes)
    assert found["n_items"] == wanted.n_questions
    assert found["alpha"] == pytest.approx(wanted.alpha)
    assert main(["agreement"]) == 2
    assert main(["agreement", "votes.csv", "--release", str(RELEASE)]) == 2


def test_scores_on_a_release_have_intervals_over_products(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    release = lk.open_release(RELEASE)
    units = query_units(release)
    assert units.are_shared
    path = release.path / f"runs/{TEXTURE}.parquet"
    found = json.loads(printed(capsys, "score", "--release", RELEASE, "--run", path, "--json"))
    [scored] = release.score(path)
    assert found["unit"] == "product"
    shown = found["runs"][0]["measures"]["AP'"]
    assert scored.outcomes["AP'"].by_query is not None
    right = mean_interval(scored.outcomes["AP'"].by_query, groups=units.codes)
    assert (shown["low"], shown["high"], shown["no_interval"]) == (None, None, right.reason)
    assert "low" not in found["runs"][0]["measures"]["judged@5"]
