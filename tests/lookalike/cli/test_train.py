"""`lookalike train`: a recipe says what `lookalike learn` is told otherwise."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from lookalike.cli.main import main
from lookalike.learning.engine.loop import CHECKPOINT, CURVE, train
from lookalike.learning.lit.space import TextSpace
from tests.lookalike.learning import test_lit
from tests.lookalike.learning.killing import KillAt, in_a_process
from tests.paths import ROOT

pytestmark = pytest.mark.slow  # torch

NAMES = [f"i{row}.jpg" for row in range(test_lit.N)]
OWN = """
learn = "embedding"
vectors = "v.npz"
metadata = "m.csv"
columns = ["colour", "shape"]
epochs = 4
dim = 6
hidden = 8
run = "run"
"""
FILES = ("embedding.safetensors", CHECKPOINT, CURVE)


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Vectors and metadata of a small catalog, and a recipe."""
    monkeypatch.chdir(tmp_path)
    rows, products, vectors = test_lit.catalog()
    np.savez("v.npz", ids=np.array(NAMES), vectors=vectors)
    lines = ["path,product_id,colour,shape"]
    for name, product, row in zip(NAMES, products, rows, strict=True):
        lines.append(f"{name},{product},{row['colour']},{row['shape']}")
    Path("m.csv").write_text("\n".join(lines))
    Path("own.toml").write_text(OWN)


def contents(folder: str) -> list[bytes]:
    return [Path(folder, name).read_bytes() for name in FILES]


def test_a_recipe_says_what_a_command_says(capsys):
    assert main(["train", "own.toml", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    words = ["learn", "embedding", "v.npz", "--metadata", "m.csv", "--columns", "colour,shape",
             "--epochs", "4", "--dim", "6", "--hidden", "8", "--run", "again"]  # fmt: skip
    assert main([*words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["fingerprint"] == found["fingerprint"]
    assert contents("run") == contents("again")


def train_until_killed() -> None:
    with patch(
        "lookalike.learning.embeddings.learn.train",
        lambda *of, **how: train(*of, **{**how, "progress": KillAt(30)}),
    ):
        main(["train", "killed.toml"])


def test_what_was_killed_goes_on_when_told_to_and_ends_in_the_same_bytes(capsys):
    assert main(["train", "own.toml"]) == 0
    Path("killed.toml").write_text(OWN.replace('"run"', '"killed"'))
    assert in_a_process(train_until_killed) == -signal.SIGKILL
    assert main(["train", "killed.toml"]) == 2
    assert "run: killed holds a run; --resume goes on with it" in capsys.readouterr().err
    assert main(["train", "killed.toml", "--resume"]) == 0
    assert contents("killed") == contents("run")


def test_options_that_are_given_several_times_are_lists(monkeypatch, capsys):
    monkeypatch.setattr("lookalike.cli.learn.text_space.load_encoder", lambda _: test_lit.Letters())
    Path("space.toml").write_text("""
learn = "text-space"
vectors = "v.npz"
metadata = "m.csv"
caption = ["colour=it is {}", "shape=a {}"]
epochs = 2
space = "space"
""")
    assert main(["train", "space.toml", "--resume", "--json"]) == 0  # with nothing to go on from
    assert json.loads(capsys.readouterr().out)["space"] == "space"
    said = TextSpace.load(Path("space")).card["templates"]
    assert said == {"colour": "it is {}", "shape": "a {}"}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (OWN.replace('"embedding"', '"embeding"'), "'embeding' trains nothing. Did you mean embed"),
        ('run = "run"', "'' trains nothing. There is: combiner, embedding, network, text-space."),
        (OWN + 'weigth = 3\n', "recipe: unrecognized arguments: --weigth=3"),
        (OWN.replace('vectors = "v.npz"', ""), "name the vectors"),
        (OWN.replace("epochs = 4", 'epochs = "many"'), "argument --epochs: invalid int value"),
        (OWN + "[words]\nof = 3\n", "recipe: words is a table, but an option has a value"),
        (OWN + "dim = 7\n", "recipe: own.toml: Cannot overwrite a value"),
        (OWN.replace('"v.npz"', '"w.npz"'), "w.npz"),
    ],
)  # fmt: skip
def test_a_recipe_that_cannot_be_followed_is_refused(text, reason, capsys):
    Path("own.toml").write_text(text)
    assert main(["train", "own.toml"]) == 2
    assert reason in capsys.readouterr().err
    assert not Path("run").exists()


@pytest.mark.daily
def test_processes_that_share_batches_learn_what_one_learns():
    Path("own.toml").write_text(OWN.replace("epochs = 4", "epochs = 1"))
    assert main(["train", "own.toml"]) == 0
    Path("two.toml").write_text(Path("own.toml").read_text().replace('"run"', '"two"'))
    words = ["torch.distributed.run", "--standalone", "--nproc-per-node=2", "-m", "lookalike",
             "train", "two.toml", "--json"]  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-m", *words], env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["file"] == "two/embedding.safetensors"  # of one of them alone
    one, two = (load_file(Path(name, CHECKPOINT)) for name in ("run", "two"))
    for name, tensor in one.items():
        torch.testing.assert_close(two[name], tensor, atol=2e-5, rtol=1e-4)
