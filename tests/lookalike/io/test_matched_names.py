"""Labels, runs, products and votes that write one image differently go together."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lookalike as lk
from lookalike.agreement.votes import read_votes
from lookalike.cli.main import main
from lookalike.io.errors import InputError
from lookalike.io.matched_names import MatchedNames
from lookalike.io.tables import Qrels, Run
from lookalike.io.vote_options import VoteOptions

NFC, NFD = (unicodedata.normalize(form, "crème/Ünder.jpg") for form in ("NFC", "NFD"))
SPELLINGS = [
    ("shoes/1 a.jpg", "shoes/1%20a.jpg"),
    ("shoes/1 a.jpg", "./shoes/1 a.jpg"),
    ("shoes/1.jpg", "shoes\\1.jpg"),
    ("shoes\\1.jpg", "shoes/1.jpg"),
    ("H&M/a.jpg", "/data/local-files/?d=H%26M/a.jpg"),
    ("H&M/a.jpg", "H&amp;M/a.jpg"),
    ("a#1.jpg", "a%231.jpg"),
    ("what?.jpg", "what%3F.jpg"),
    ("a%5Cb.jpg", "a%255Cb.jpg"),
    ("b/a#1.jpg", "s3://bucket/b/a#1.jpg"),
    ("b/a?1.jpg", "s3://b/a?1.jpg"),
    ("a.jpg", "a.jpg?w=800"),
    (NFC, NFD),
]
both_ways = pytest.mark.parametrize(
    ("known", "written"), [*SPELLINGS, *((b, a) for a, b in SPELLINGS if a != NFC)]
)


@both_ways
def test_one_image_in_two_spellings_is_one_image(known: str, written: str) -> None:
    names = MatchedNames([known, "other.jpg"])
    assert names.match([written, "third.jpg"], "the run") == {written: known}
    assert len(names.notes) == 1


@pytest.mark.parametrize(
    ("known", "names", "named"),
    [
        (["a b.jpg"], ["a%20b.jpg", "./a b.jpg"], ["a%20b.jpg", "./a b.jpg"]),
        (["a b.jpg", "a+b.jpg"], ["a%20b.jpg", "x/../a+b.jpg"], None),
        (["a+b.jpg", "a b.jpg"], ["dir//a+b.jpg"], None),
        (["shoes/1.jpg"], ["shoes/1.jpg", "shoes\\1.jpg"], ["shoes/1.jpg", "shoes\\\\1.jpg"]),
        (["a.jpg", "./a.jpg"], ["a.jpg?x=1"], ["a.jpg?x=1"]),
    ],
)
def test_what_may_be_two_images_is_refused_by_name(
    known: list[str], names: list[str], named: list[str] | None
) -> None:
    matcher = MatchedNames(known)
    if named is None:
        matcher.match(names, "the run")
        return
    with pytest.raises(InputError) as refused:
        matcher.match(names, "the run")
    assert all(name in str(refused.value) for name in named)


def test_a_name_that_occurs_as_it_stands_is_always_itself() -> None:
    names = MatchedNames(["a b.jpg", "a%20b.jpg"])
    assert names.match(["a b.jpg", "a%20b.jpg", "c+d.jpg"], "the run") == {}
    assert MatchedNames(["a b.jpg"]).match(["a b.jpg", "a%20b.jpg"], "the run") == {}


def test_scores_are_the_same_whatever_the_run_and_the_products_call_images() -> None:
    known, written = (list(names) for names in zip(*SPELLINGS[::2], strict=True))
    rng = np.random.default_rng(1)
    labels = [("q 1.jpg", name, int(rng.integers(2))) for name in known]
    labels += [("q2.jpg", name, n % 2) for n, name in enumerate(known)]
    scores = [float(score) for score in rng.normal(size=len(labels))]
    pairs = list(zip(labels, scores, strict=True))
    plain = Run.of("m", [(q, c, s) for (q, c, _), s in pairs])
    other = dict(zip(known, written, strict=True)) | {"q 1.jpg": "./q%201.jpg"}
    odd = Run.of("m", [(other.get(q, q), other[c], s) for (q, c, _), s in pairs])
    products = {name: f"p{n // 2}" for n, name in enumerate([*known, "q 1.jpg", "q2.jpg"])}
    odd_products = {other.get(name, name): product for name, product in products.items()}
    qrels = Qrels.of(labels)
    [first] = lk.score(qrels, plain, products=products, complete=True)
    [second] = lk.score(qrels, odd, products=odd_products, complete=True)
    assert first.coverage == second.coverage
    for name, outcome in first.outcomes.items():
        assert second.outcomes[name].value == pytest.approx(outcome.value, nan_ok=True), name
    assert len(second.notes) == 1


def written(path: Path, header: str, *rows: str) -> str:
    path.write_text("\n".join([header, *rows]) + "\n")
    return str(path)


def output(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[Any, str]:
    assert main([*arguments, "--json"]) == 0
    captured = capsys.readouterr()
    return json.loads(captured.out), captured.err


def test_commands_match_names_and_name_queries_without_labels(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    header = "query,candidate,score"
    qrels = written(
        tmp_path / "q.csv", "query,candidate,label", "q 1.jpg,a#1.jpg,1", "q 1.jpg,b.jpg,0"
    )
    rows = ("q%201.jpg,a%231.jpg,2", "q%201.jpg,./b.jpg,1", "zzz,./b.jpg,1")
    run = written(tmp_path / "r.csv", header, *rows)
    found, notes = output(capsys, "score", "--qrels", qrels, "--run", run, "--complete")
    assert found["runs"][0]["coverage"]["scored"] == 2
    assert found["runs"][0]["measures"]["macro_roc_auc"]["value"] == 1
    assert "zzz" in notes
    pool = written(
        tmp_path / "p.csv", "query,candidate,model,rank", "./q 1.jpg,a#1.jpg,r,1",
        "./q 1.jpg,b.jpg,r,2",
    )  # fmt: skip
    votes = written(
        tmp_path / "v.csv",
        "query,candidate,annotator,value",
        "q+1.jpg,a%231.jpg,ada,1",
        "q+1.jpg,a%231.jpg,bob,1",
    )
    found, notes = output(
        capsys, "bias", "--qrels", qrels, "--proposals", pool, "--run", run, "--votes", votes,
        "--bootstraps", "0", "--permutations", "1",
    )  # fmt: skip
    assert all(name in notes for name in ("zzz", "p.csv", "v.csv"))


def test_votes_that_write_one_path_differently_are_about_one_pair(tmp_path: Path) -> None:
    path = tmp_path / "v.csv"
    rows = [f"q.jpg,{NFC},ada,1", f"./q.jpg,{NFD},bob,0", "q.jpg,a b.jpg,ada,1"]
    written(path, "query,candidate,annotator,value", *rows, "q.jpg,a%20b.jpg,bob,1")
    options = VoteOptions()
    votes = read_votes(path, options)
    assert votes.pairs == [("q.jpg", NFC), ("q.jpg", "a b.jpg"), ("q.jpg", "a%20b.jpg")]
    assert [note for note in options.notes if "a%20b.jpg" in note]
