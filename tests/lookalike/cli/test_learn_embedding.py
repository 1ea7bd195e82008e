"""`lookalike learn embedding`: from vectors and metadata to a projection with a card."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from lookalike.cli.main import main
from lookalike.learning.embeddings.recipe import EmbeddingRecipe
from lookalike.learning.projection import Layers
from tests.lookalike.learning import test_lit

pytestmark = pytest.mark.slow  # torch

NAMES = [f"i{row}.jpg" for row in range(test_lit.N)]
LEARN = ["learn", "embedding", "v.npz", "--metadata", "m.csv", "--epochs", "4", "--dim", "6",
         "--hidden", "8", "--run", "run"]  # fmt: skip


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Vectors and metadata of a small catalog."""
    monkeypatch.chdir(tmp_path)
    rows, products, vectors = test_lit.catalog()
    np.savez("v.npz", ids=np.array(NAMES), vectors=vectors)
    lines = ["path,product_id,colour,shape,maker"]
    for name, product, row in zip(NAMES, products, rows, strict=True):
        lines.append(f"{name},{product},{row['colour']},{row['shape']},{row['maker']}")
    Path("m.csv").write_text("\n".join(lines))


def test_words_guide_and_what_was_learnt_maps_pictures(capsys):
    words = [*LEARN, "--columns", "colour,shape", "--words", "names", "--mapped", "to.npz"]
    assert main([*words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    projection = Layers.load(Path("run/embedding.safetensors"))
    assert projection.fingerprint == found["fingerprint"]
    assert projection.dim == found["dim"] == 6
    assert found["card"]["recipe"]["columns"] == ["colour", "shape"]
    assert found["card"]["guidance"]["weight"] == 10
    before, after = found["card"]["found_on_held_out"]["colour and shape"]
    assert 0 <= before <= 1
    assert 0 <= after <= 1
    mapped = np.load("to.npz")
    assert mapped["ids"].tolist() == NAMES
    np.testing.assert_allclose(projection.apply(np.load("v.npz")["vectors"]), mapped["vectors"])
    content = Path("run/embedding.safetensors").read_bytes()
    assert main(words) == 0  # done already
    assert Path("run/embedding.safetensors").read_bytes() == content
    out = capsys.readouterr().out
    assert "An embedding of" in out
    assert "colour and shape" in out


def test_the_report_says_what_was_held_out_and_which_classes_were_learned_from(capsys):
    words = [*LEARN, "--columns", "maker,colour", "--epochs", "1"]
    assert main([*words, "--json"]) == 0
    held_out = json.loads(capsys.readouterr().out)["card"]["held_out"]
    assert (held_out["unit"], held_out["n_products_seen"]) == ("products", 0)
    n_asked, n_seen = held_out["classes"]["maker and colour"]
    assert n_seen == n_asked > 5
    assert main([*words[:-4], "--run", "apart", *words[-4:], "--hold-out", "classes"]) == 0
    text = capsys.readouterr().out
    assert "held out: classes" in text
    assert "0 of 2 classes asked about were learned from" in text


def test_heads_are_fine_tuned_on_products_and_attributes(capsys):
    assert main([*LEARN, "--columns", "product,colour", "--method", "fine-tuning", "--json"]) == 0
    card = json.loads(capsys.readouterr().out)["card"]
    assert set(card["labels"]) == {"product", "colour"}
    assert set(card["found_on_held_out"]) == {"product", "colour"}


def test_conditions_that_nobody_named_are_drawn_by_their_attributes(capsys):
    assert main([*LEARN, "--columns", "colour,shape", "--method", "mixture"]) == 0
    for row, name in enumerate(NAMES):
        Image.new("RGB", (20, 30), (row % 256, 0, 0)).save(name)
    capsys.readouterr()
    draw = ["learn", "draw-conditions", "v.npz", "--metadata", "m.csv", "--columns", "colour,shape",
            "--run", "run", "--images", ".", "--to", "drawn.png", "--most", "40"]  # fmt: skip
    assert main([*draw, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["conditions"]
    assert list(found) == ["condition-1", "condition-2"]
    assert sorted(found.values()) == ["colour", "shape"]
    with Image.open("drawn.png") as picture:
        assert picture.size == (560 + 6 * 116 + 36, 2 * 596)
    assert main([*draw, "--run", "."]) == 2
    assert "holds no condition" in capsys.readouterr().err


def test_pseudolabels_come_from_a_file_of_classes(capsys):
    rng = np.random.default_rng(0)
    np.savez("c.npz", ids=np.array(NAMES[::-1]), vectors=rng.random((len(NAMES), 1000)))
    words = [*LEARN, "--columns", "colour", "--words", "pseudolabels"]
    assert main([*words, "--classes", "c.npz", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["card"]["guidance"]
    assert main(words) == 2
    assert "pseudolabels need a classifier" in capsys.readouterr().err
    np.savez("c.npz", ids=np.array(NAMES[1:]), vectors=rng.random((len(NAMES) - 1, 1000)))
    assert main([*words, "--classes", "c.npz"]) == 2
    assert "c.npz has no vector of 'i0.jpg' (1 are missing)" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--columns", "taste"], "columns: no image has 'taste'"),
        (["--columns", ","], "columns: name attributes, or 'product'"),
        (["--columns", "colour", "--method", "fine-tuning", "--words", "names"], "words: fine-tun"),
        (["--columns", "colour", "--epochs", "0"], "epochs: is at least 1"),
        (["--columns", "colour", "--dim", "0"], "dim: and hidden are not below 0"),
        (["--columns", "colour", "--hold-out", "classes"], "hold_out: colour has 3 classes"),
        (["--columns", "colour", "--residual"], "is_residual: is an option of DiscoverNet"),
    ],
)
def test_what_cannot_be_learnt_is_refused_in_a_sentence(words, reason, capsys):
    assert main([*LEARN, *words]) == 2
    assert reason in capsys.readouterr().err
    assert not Path("run").exists()


def test_another_recipe_does_not_go_on_in_the_same_folder(capsys):
    assert main([*LEARN, "--columns", "colour"]) == 0
    assert main([*LEARN, "--columns", "colour", "--seed", "1"]) == 2
    assert "run holds a run of other data or settings" in capsys.readouterr().err


def test_an_unknown_method_is_refused():
    with pytest.raises(Exception, match="'contrastive' is none of multisimilarity, margin"):
        EmbeddingRecipe(("colour",), "contrastive")


def test_words_are_read_by_a_file_of_the_users(capsys):
    Path("glove.txt").write_text("red 1 0 0\ngreen 0 1 0\nblue 0 .6 .8\nbag 1 1 0\nshoe 0 1 1\n")
    words = [*LEARN, "--columns", "colour,shape", "--words", "names", "--language"]
    assert main([*words, "vectors:glove.txt", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["card"]["language"] == "vectors:glove.txt"
    assert main([*words, "wordnet:dict"]) == 2
    assert "language: dict holds no index.noun; give the folder dict" in capsys.readouterr().err
    assert main([*words, "glove"]) == 2
    assert "error: 'glove' names no language. Write sentence:" in capsys.readouterr().err
