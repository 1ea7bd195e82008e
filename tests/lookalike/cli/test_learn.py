"""`lookalike learn`: from vectors and metadata to spaces, notions and their table."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from lookalike.cli.main import main
from lookalike.learning.projection import Layers
from tests.lookalike.learning import test_lit

NAMES = [f"i{row}.jpg" for row in range(test_lit.N)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Vectors and metadata of a small catalog, and a space learnt from it."""
    folder = tmp_path_factory.mktemp("learn")
    rows, products, vectors = test_lit.catalog()
    np.savez(folder / "v.npz", ids=np.array(NAMES), vectors=vectors)
    lines = ["path,product_id,colour,shape,maker"]
    for name, product, row in zip(NAMES, products, rows, strict=True):
        lines.append(f"{name},{product},{row['colour']},{row['shape']},{row['maker']}")
    (folder / "m.csv").write_text("\n".join(lines))
    (folder / "colours.txt").write_text("red\ngreen\n\nblue\n")
    (folder / "one.txt").write_text("red\n")
    (folder / "two.txt").write_text("red\nRed\n")
    (folder / "bare.csv").write_text("path,product_id\n" + "".join(f"{n},p\n" for n in NAMES))
    (folder / "same.csv").write_text("path,colour\na.jpg,red\nb.jpg,red\n")
    np.savez(folder / "nan.npz", ids=np.array(NAMES), vectors=np.full_like(vectors, np.nan))
    return folder


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    monkeypatch.chdir(folder)
    for module in ("text_space", "inputs"):
        monkeypatch.setattr(
            f"lookalike.cli.learn.{module}.load_encoder", lambda _: test_lit.Letters()
        )


DATA = ["v.npz", "--metadata", "m.csv"]


@pytest.fixture
def space(folder: Path, capsys: pytest.CaptureFixture[str]) -> str:
    if not (folder / "space").exists():
        words = ["learn", "text-space", *DATA, "--columns", "colour,shape", "--epochs", "60",
                 "--space", "space"]  # fmt: skip
        assert main(words) == 0
        out = capsys.readouterr().out
        assert "zero-shot" in out
        assert out.splitlines()[1] == "held out: products"
        assert [line.split()[-1] for line in out.splitlines()[3:]] == ["yes", "yes", "no"]
    return "space"


def test_a_notion_maps_pictures_by_what_its_words_say(space, folder, capsys):
    words = ["learn", "notion", "--words", "colours.txt", "--template",
             "a photo of something whose colour is {}", "--space", space, "--dim", "4",
             "--to", "n.safetensors", "--vectors", "v.npz", "--mapped", "mapped.npz",
             "--json"]  # fmt: skip
    assert main(words) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["dim"] == 4
    assert found["card"]["prompts"][0].endswith("colour is red")
    projection = Layers.load(folder / "n.safetensors")
    assert projection.fingerprint == found["fingerprint"]
    mapped = np.load("mapped.npz")
    assert mapped["ids"].tolist() == NAMES
    np.testing.assert_allclose(projection.apply(np.load("v.npz")["vectors"]), mapped["vectors"])
    colours = np.array([row["colour"] for row in test_lit.catalog()[0]])
    S = mapped["vectors"] @ mapped["vectors"].T
    same = colours[:, None] == colours
    assert S[same].mean() > S[~same].mean() + 0.3


def test_a_notion_on_a_space_is_one_projection_of_the_towers_vectors(space, folder):
    for method in ("indirect", "span"):
        words = ["learn", "notion", "--words", "colours.txt", "--space", space, "--dim", "2",
                 "--method", method, "--to", "m.safetensors"]  # fmt: skip
        assert main(words) == 0
        assert Layers.load(folder / "m.safetensors").n_in == 20


def test_a_notion_is_said_by_the_values_of_an_attribute_in_the_spaces_caption(space, folder):
    words = ["learn", "notion", "--column", "colour", "--metadata", "m.csv", "--space", space,
             "--dim", "2", "--method", "span", "--to", "values.safetensors"]  # fmt: skip
    for more, prompt in (
        ([], "a photo of something whose colour is blue"),
        (["--template", "a {} shoe"], "a blue shoe"),
    ):
        assert main([*words, *more]) == 0
        prompts = Layers.load(folder / "values.safetensors").card["prompts"]
        assert len(prompts) == 3
        assert prompts[0] == prompt


def test_the_table_has_a_row_for_each_notion_method_and_size(space, capsys):
    words = ["learn", "score-notions", *DATA, "--space", space, "--columns", "colour,shape",
             "--methods", "raw,InDiReCT", "--dim", "3", "--repetitions", "1",
             "--sweep-dims", "4", "--sweep-prompts", "2"]  # fmt: skip
    assert main([*words, "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    kinds = [(r["notion"], r["method"], r["dim"], r["n_prompts"]) for r in data["notions"]]
    assert kinds[:5] == [
        ("colour", "raw", 256, 3), ("colour", "InDiReCT", 3, 3), ("colour", "InDiReCT", 4, 3),
        ("colour", "InDiReCT", 3, 2), ("shape", "raw", 256, 2),
    ]  # fmt: skip
    assert len(kinds) == 7
    assert 0 < data["n_images"] < test_lit.N / 2
    assert main([*words[:-4], "--methods", "raw", "--all-images"]) == 0
    out = capsys.readouterr().out
    assert out.startswith(f"Notions on {test_lit.N} images\n")
    assert "MAP@R" in out


def test_templates_are_answered_by_the_notion_of_their_condition(space, folder, capsys):
    words = ["learn", "notion", "--words", "colours.txt", "--space", space, "--dim", "2",
             "--to", "colour.safetensors", "--template",
             "a photo of something whose colour is {}"]  # fmt: skip
    assert main(words) == 0
    colours = [row["colour"] for row in test_lit.catalog()[0]]
    entries = []
    for row in range(20):
        others = [n for n, colour in enumerate(colours) if n > 20 and colour != colours[row]][:5]
        target = next(n for n, colour in enumerate(colours) if n > 40 and colour == colours[row])
        entries.append({"condition": "colour", **{
            role: {"val_image_id": NAMES[n]} for role, n in (("reference", row), ("target", target))
        }, "gallery": [{"val_image_id": NAMES[n]} for n in others]})  # fmt: skip
    (folder / "focus_object.json").write_text(json.dumps(entries))
    words = ["learn", "score-templates", "focus_object.json", "--vectors", "v.npz", "--notion"]
    capsys.readouterr()
    assert main([*words, "colour=colour.safetensors", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    recall = {one["answered by"]: one["R@1"] for one in data["recall"]}
    assert recall["notions"] == 1.0 > recall["vectors alone"]
    assert recall["chance"] == pytest.approx(1 / 6)
    assert data["n_with_notion"] == 20
    assert main([*words, "cut=colour.safetensors"]) == 2
    said = capsys.readouterr().err
    assert "no template has the condition 'cut'; there is colour" in said
    with pytest.raises(SystemExit):
        main([*words, "colour"])
    assert "'colour' is not CONDITION=FILE" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["text-space", *DATA, "--columns", "size", "--space", "s"], "no image has 'size'"),
        (["text-space", *DATA, "--caption", "colour=a", "--space", "s"], "is not COLUMN=CAPTION"),
        (["notion", "--words", "one.txt", "--encoder", "x", "--to", "n"], "words: 1 is given"),
        (["notion", "--words", "colours.txt", "--template", "no gap", "--encoder", "x",
          "--to", "n"], "template: 'no gap' must have"),
        (["notion", "--words", "colours.txt", "--space", "none", "--to", "n"],
         "space: none holds no text space"),
        (["notion", "--words", "colours.txt", "--encoder", "x", "--to", "n", "--vectors", "v.npz"],
         "--vectors and --mapped belong together"),
        (["notion", "--column", "size", "--metadata", "m.csv", "--encoder", "x", "--to", "n"],
         "no image of m.csv has 'size'; its attributes: colour, shape, maker"),
        (["notion", "--column", "colour", "--metadata", "same.csv", "--encoder", "x", "--to", "n"],
         "attribute: its one value is 'red'"),
        (["notion", "--column", "colour", "--encoder", "x", "--to", "n"],
         "--column and --metadata belong together"),
        (["notion", "--words", "two.txt", "--encoder", "x", "--to", "n"],
         "prompts: 'a photo of a red' and 'a photo of a Red' are the same"),
        (["notion", "--words", "colours.txt", "--encoder", "x", "--to", "n", "--vectors",
          "nan.npz", "--mapped", "m.npz"], "nan.npz"),
        (["text-space", "nan.npz", "--metadata", "m.csv", "--space", "s"], "nan.npz"),
        (["text-space", "v.npz", "--metadata", "bare.csv", "--space", "s"],
         "columns: no attribute has two values or more"),
        (["score-notions", *DATA, "--encoder", "x", "--dim", "0"], "at least one direction"),
        (["score-notions", *DATA, "--encoder", "x", "--methods", "y"], "methods: there is no 'y'"),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_refused_in_one_sentence(words, reason, capsys):
    try:
        status = main(["learn", *words])
    except SystemExit as end:
        status = int(end.code or 0)
    err = capsys.readouterr().err
    assert status == 2
    assert reason in err
    assert err.startswith("error: ")
    assert not Path("n").exists()
    assert not Path("s").exists()
