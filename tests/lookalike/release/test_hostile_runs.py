"""A reviewer attacks the numbers of a release: what cannot mislead, or is said to."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lookalike as lk
from lookalike.cli.main import main
from tests.paths import GOLDEN_RELEASES

SOURCE = GOLDEN_RELEASES / "small-4.0.0.zip"
RELEASE = lk.open_release(SOURCE)
RUN = RELEASE.run("descriptor-hog-shape").by_query()
LABELS = RELEASE.labels().by_query()
ASKED: dict[str, set[str]] = {}
for _query, _image in RELEASE.rows("pairs", "query_id", "image_id"):
    ASKED.setdefault(_query, set()).add(_image)
MEASURES = "P@5,MRR@5,AP',macro_roc_auc,micro_roc_auc"
Rows = Iterable[tuple[str, str, object]]


@pytest.fixture
def scored(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    """Score a file on the release: its measures, and what is said beside them."""

    def score(content: Rows | bytes, name: str = "run.csv") -> tuple[dict[str, Any], str]:
        path = tmp_path / name
        if not isinstance(content, bytes):
            lines = ["query,candidate,score", *(",".join(map(str, row)) for row in content)]
            content = "\n".join(lines).encode()
        path.write_bytes(content)
        words = ["score", "--release", SOURCE, "--run", path, "--json", "--measures", MEASURES]
        assert main([str(word) for word in words]) == 0
        printed = capsys.readouterr()
        return json.loads(printed.out)["runs"][0]["measures"], printed.err

    return score


def rows_of(run: dict[str, dict[str, float]]) -> list[tuple[str, str, float]]:
    return [(query, image, score) for query, of in run.items() for image, score in of.items()]


def test_equal_scores_are_worth_chance_and_it_is_said_where_they_decide_a_cut_off(
    scored: Any,
) -> None:
    constant = [(query, image, 0.5) for query, image, _ in rows_of(RUN)]
    found, said = scored(constant)
    assert found["macro_roc_auc"]["value"] == found["micro_roc_auc"]["value"] == 0.5
    chance = [np.mean([*of.values()]) for of in LABELS.values() if any(of.values())]
    assert found["AP'"]["value"] == pytest.approx(np.mean(chance), abs=1e-12)
    assert "the same score for 100% of its queries; names decide there" in said
    signed = [(q, i, "-0.0" if n % 2 else "0") for n, (q, i, _) in enumerate(constant)]
    assert scored(signed) == (found, said)
    beyond = [(query, image, 2**53 + n % 2) for n, (query, image, _) in enumerate(constant)]
    _, said = scored(beyond)  # whole numbers that float64 cannot tell apart
    assert "the same score for 100% of its queries" in said


def test_a_query_in_its_own_list_and_an_image_under_two_names_change_nothing(scored: Any) -> None:
    plain = scored(rows_of(RUN))
    assert plain[1] == ""
    own = [(query, query, 9.0) for query in RUN]
    assert scored([*own, *rows_of(RUN)]) == plain
    names = RELEASE.sha256_of, RELEASE.path_of
    again = [(names[0][query], names[1][image], score) for query, image, score in rows_of(RUN)]
    assert scored([*rows_of(RUN), *again]) == plain


def test_a_run_that_is_made_from_the_judged_pairs_and_filled_up_is_named(scored: Any) -> None:
    rng = np.random.default_rng(0)
    noise = [(query, image, rng.random()) for query, of in ASKED.items() for image in of]
    found, said = scored(noise)
    assert found["P@5"]["value"] is None
    assert "lists the judged pairs alone" in said
    others = {query: sorted(RUN[query].keys() - of) for query, of in ASKED.items()}
    filled = [(query, image, -1.0) for query, of in others.items() for image in of[:1]]
    found, said = scored([*noise, *filled])
    assert found["P@5"]["value"] > 0.4
    assert "ranks all that was put to the judges above everything else" in said
    assert "above everything else" not in scored(rows_of(RUN))[1]


@pytest.mark.parametrize("digits", ["1,5", "0x10", "1e400", "1_000", "None", "1e", "٫5"])
def test_what_only_looks_like_a_number_is_none(
    digits: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "run.csv"
    query, image, _ = rows_of(RUN)[0]
    path.write_text(f"query,candidate,score\n{query},{image},{digits}\n")
    assert main(["score", "--release", str(SOURCE), "--run", str(path)]) == 2
    assert f"{path}, line 2: " in capsys.readouterr().err


def test_packed_files_count_in_full_or_not_at_all(
    scored: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plain = scored(rows_of(RUN))
    content = (tmp_path / "run.csv").read_bytes()
    packed = gzip.compress(content)
    assert scored(packed, "run.csv.gz") == plain
    damaged = (packed[:-1], packed[:-4] + b"abcd", packed + b"more", gzip.compress(packed))
    for at, wrong in enumerate(damaged):
        path = tmp_path / f"{at}.csv.gz"
        path.write_bytes(wrong)
        assert main(["score", "--release", str(SOURCE), "--run", str(path)]) == 2
        assert str(path) in capsys.readouterr().err


@pytest.mark.parametrize("share", [0.0, 0.001, 0.3, 0.9, 0.9999])
def test_a_release_that_is_cut_anywhere_has_no_numbers(
    share: float, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = SOURCE.read_bytes()
    path = tmp_path / "cut.zip"
    path.write_bytes(whole[: int(share * len(whole))])
    assert main(["score", "--release", str(path), "--run", str(path)]) == 2
    said = capsys.readouterr()
    assert not said.out
    assert said.err.count("\n") == 1
    assert "give the folder or the zip of a release" in said.err


def test_the_same_measure_asked_for_twice_is_printed_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "run.csv"
    lines = [",".join(map(str, row)) for row in rows_of(RUN)]
    path.write_text("\n".join(["query,candidate,score", *lines]))
    words = ["score", "--release", str(SOURCE), "--run", str(path), "--measures", "P@5,P@5, P@5"]
    assert main(words) == 0
    assert sum(line.startswith("P@5 ") for line in capsys.readouterr().out.splitlines()) == 1
