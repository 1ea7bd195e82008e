"""`lookalike learn mine-captions`, `combiner`, `score-composed`: from captions to recall."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from lookalike.cli.main import main
from lookalike.learning.compose.combiner import TrainedCombiner
from lookalike.learning.lit.space import TextSpace
from lookalike.learning.projection import Layers
from tests.lookalike.learning import test_lit

THINGS, GROUNDS = ("dog", "cat", "horse"), ("grass", "sand", "snow", "rocks")
N = 240
RATINGS = "Word\tConc.M\n" + "".join(f"{word}\t4.9\n" for word in (*THINGS, *GROUNDS[:3]))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Captions, and vectors of their images where a test's encoder puts their words."""
    folder = tmp_path_factory.mktemp("compose")
    rng = np.random.default_rng(0)
    kinds = [(THINGS[a], GROUNDS[b]) for a, b in rng.integers(0, (3, 4), (N, 2))]
    letters = test_lit.Letters()
    things, grounds = (letters.encode([pair[part] for pair in kinds]) for part in (0, 1))
    vectors = things + grounds + 0.02 * rng.standard_normal(things.shape)
    ids = [f"{n}.jpg" for n in range(N)]
    np.savez(folder / "v.npz", ids=np.array(ids), vectors=vectors.astype(np.float32))
    lines = [f"{name},a {a} on {b}" for name, (a, b) in zip(ids, kinds, strict=True)]
    (folder / "captions.csv").write_text("image,caption\n" + "\n".join(lines))
    (folder / "again.csv").write_text("image,caption\n" + "\n".join([*lines, "0.jpg,a cat"]))
    (folder / "mute.csv").write_text("image,caption\na.jpg,beautiful\n")
    (folder / "ratings.txt").write_text(RATINGS)
    card = {"encoder_spec": "test:letters", "encoder": "letters"}
    TextSpace(Layers(64, (), card), Layers(64, (), card)).save(folder / "space")
    rows = {kind: [n for n in range(N) if kinds[n] == kind] for kind in set(kinds)}
    entries, composed = [], []
    for n, (thing, ground) in enumerate(kinds[:60]):
        other = GROUNDS[GROUNDS.index(ground) - 1]
        wrong = [rows[thing, ground][-1], *(rows[one, other][-1] for one in THINGS if one != thing)]
        reference, target, *gallery = (ids[row] for row in (n, rows[thing, other][-1], *wrong))
        said = f"on {other}"
        entries.append(
            {
                "condition": said,
                "reference": {"val_image_id": reference},
                "target": {"val_image_id": target},
                "gallery": [{"val_image_id": name} for name in gallery],
            }
        )
        composed.append(
            {"pairid": n, "reference": reference, "target_hard": target, "caption": said}
        )  # fmt: skip
    (folder / "change_object.json").write_text(json.dumps(entries))
    (folder / "cirr.json").write_text(json.dumps(composed))
    (folder / "split.json").write_text(json.dumps({name: name for name in ids}))
    states = [f"{name},{'tea' if n % 2 else 'horse'},{b}"
              for n, (name, (_, b)) in enumerate(zip(ids, kinds, strict=True))]  # fmt: skip
    (folder / "states.csv").write_text("path,class,state\n" + "\n".join(states))
    return folder


@pytest.fixture(autouse=True)
def _here(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setattr("lookalike.cli.learn.inputs.load_encoder", lambda _: test_lit.Letters())


@pytest.fixture(scope="module")
def triplets(folder: Path) -> Path:
    """Mined from the captions."""
    path = folder / "triplets.csv"
    words = [
        "learn",
        "mine-captions",
        str(folder / "captions.csv"),
        "-n",
        "600",
        "--out",
        str(path),
    ]
    assert main([*words, "--relations", str(folder / "relations.jsonl")]) == 0
    return path


TRAIN = ["learn", "combiner", "v.npz", "--triplets", "triplets.csv", "--space", "space",
         "--projection", "64", "--hidden", "64", "--batch", "50", "--rate", "0.002",
         "--to", "c.safetensors"]  # fmt: skip
SCORE = ["learn", "score-composed", "change_object.json", "--vectors", "v.npz", "--space", "space"]


@pytest.fixture(scope="module")
def combiner(folder: Path, triplets: Path) -> Path:
    """Trained on them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr("lookalike.cli.learn.inputs.load_encoder", lambda _: test_lit.Letters())
        assert main(TRAIN) == 0
    return folder / "c.safetensors"


def recalls(capsys: pytest.CaptureFixture[str]) -> dict[str, float]:
    data = json.loads(capsys.readouterr().out)
    return {one["answered by"]: one["R@1"] for one in data["recall"]}


def test_mined_triplets_name_images_of_one_subject_on_another_ground(triplets):
    with triplets.open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 600
    assert {row["subject"] for row in rows} == set(THINGS)
    assert {row["condition"] for row in rows} == {f"on {ground}" for ground in GROUNDS}


def test_shards_and_relations_that_were_kept_give_the_same(triplets):
    words = ["learn", "mine-captions", "relations.jsonl", "-n", "600"]
    for k in (1, 2, 3):
        assert main([*words, "--shard", f"{k}/3", "--out", f"part{k}.csv"]) == 0
    parts = [Path(f"part{k}.csv").read_text().splitlines() for k in (1, 2, 3)]
    joined = [parts[0][0], *(line for part in parts for line in part[1:])]
    assert joined == triplets.read_text().splitlines()


def test_what_is_rejected_is_said_by_reason(capsys, triplets):
    words = ["learn", "mine-captions", "relations.jsonl", "-n", "50"]
    assert main([*words, "--concreteness", "ratings.txt"]) == 0
    said = capsys.readouterr().out
    assert "50 triplets from 240 captions" in said
    assert "rejected: an entity that has no rating" in said  # rocks
    assert main([*words, "--concreteness", "ratings.txt", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert all("rocks" not in one["condition"] for one in data["triplets"])


def test_a_combiner_answers_what_half_of_each_does_not(combiner, capsys):
    capsys.readouterr()
    assert main([*SCORE, "--combiner", "c.safetensors", "--json"]) == 0
    found = recalls(capsys)
    assert set(found) == {"image only", "text only", "image + text", "Combiner", "chance"}
    assert found["Combiner"] > max(found["image only"], found["text only"]) + 0.2
    assert found["chance"] == 0.25
    assert TrainedCombiner.load(combiner).card["n_triplets"] == 600


def test_a_run_goes_on_and_one_of_other_settings_is_refused(triplets, capsys):
    run = [*TRAIN, "--epochs", "1", "--run", "run", "--to", "d.safetensors"]
    assert main(run) == 0
    first = Path("d.safetensors").read_bytes()
    assert main(run) == 0
    assert Path("d.safetensors").read_bytes() == first
    assert main([*run, "--rate", "0.1"]) == 2
    assert "holds a run of other data or settings" in capsys.readouterr().err


def test_cirr_and_mit_states_are_looked_for_among_all_images(combiner, capsys):
    capsys.readouterr()
    with_it = ["--combiner", "c.safetensors"]
    assert main(["learn", "score-composed", "cirr.json", "--split", "split.json", *SCORE[3:],
                 *with_it]) == 0  # fmt: skip
    out = capsys.readouterr().out
    assert "R@5" in out
    assert "R@10" in out
    assert "among all" in out
    assert main(["learn", "score-composed", "states.csv", "--states", *SCORE[3:], "--text", "on {}",
                 *with_it, "--json"]) == 0  # fmt: skip
    rows = json.loads(capsys.readouterr().out)["recall"]
    assert {one["queries"] for one in rows} == {3 * N}
    assert [one["answered by"] for one in rows][-1] == "Combiner"


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["mine-captions", "mute.csv"], "captions: no relation is in them"),
        (["mine-captions", "v.npz"], "v.npz"),
        (["mine-captions", "captions.csv", "--concreteness", "captions.csv"], "Word and Conc.M"),
        ([*TRAIN[1:4], "foreign.csv", *TRAIN[5:]], "triplet 1 names 'z.jpg', of which there is no"),
        ([*TRAIN[1:], "--batch", "1"], "a batch has 2"),
        ([*SCORE[1:], "--combiner", "v.npz"], "v.npz is no Combiner"),
        (["score-composed", "states.csv", *SCORE[3:]], "states.csv"),
    ],
)
def test_what_cannot_be_used_is_named(words, reason, triplets, capsys):
    Path("foreign.csv").write_text("reference,target,condition\nz.jpg,0.jpg,on sand\n")
    assert main(["learn", *words]) == 2
    assert reason in capsys.readouterr().err


def test_a_part_that_is_none_is_refused(capsys):
    with pytest.raises(SystemExit):
        main(["learn", "mine-captions", "captions.csv", "--shard", "4/3"])
    assert "'4/3' is not K/N with K from 1 to N" in capsys.readouterr().err


def test_a_combiner_of_other_texts_is_refused(combiner, monkeypatch, capsys):
    monkeypatch.setattr(test_lit.Letters, "fingerprint", "others")
    words = ["learn", "score-composed", "change_object.json", "--vectors", "v.npz"]
    assert main([*words, "--encoder", "x", "--combiner", "c.safetensors"]) == 2
    assert "c.safetensors was trained with other texts than are read" in capsys.readouterr().err


def test_further_captions_of_an_image_are_left_out_and_counted(capsys):
    assert main(["learn", "mine-captions", "again.csv", "-n", "5"]) == 0
    assert "note: left out: 1 captions of images that have another" in (capsys.readouterr().err)
