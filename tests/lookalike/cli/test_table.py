"""`lookalike table`: published tables, made again or refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from lookalike.cli.main import main
from lookalike.images.named_colours import CSS_COLOURS, colour_of_shift
from lookalike.learning.lit.space import TextSpace
from lookalike.learning.projection import Layers
from lookalike.learning.recipes.recipe import Published, load_recipe, read_recipe, recipe_names
from lookalike.learning.recipes.runners import KINDS, Made, Run, compare, make_table
from tests.lookalike.learning.test_lit import Letters
from tests.pictures import png, write_folder
from tests.published_sets import write_published_set

pytestmark = pytest.mark.slow  # torch


def test_every_recipe_can_be_read_and_names_what_it_needs(capsys):
    assert main(["table"]) == 0
    out = capsys.readouterr().out
    for name in recipe_names():
        recipe = load_recipe(name)
        assert recipe.kind in KINDS
        assert set(recipe.judged) <= {m for methods in recipe.targets.values() for m in methods}
        assert f"{name}\n  {recipe.title}" in out


def test_no_repetition_is_refused_not_taken_for_the_papers_number(tmp_path, capsys):
    options = ["--data", str(tmp_path), "--repetitions", "0"]
    assert main(["table", recipe_names()[0], *options]) == 2
    assert "--repetitions is a whole number from 1" in capsys.readouterr().err


def test_targets_are_those_that_the_paper_prints():
    cars = load_recipe("indirect-cars196").targets
    assert cars["car model"]["InDiReCT"]["MAP@R"] == Published(37.4)
    assert cars["manufacturer"]["oracle"]["P@1"] == Published(84.0, 0.1)
    birds = load_recipe("indirect-cub200").targets["bird species"]["LAE"]
    assert birds["P@1"] == Published(58.1, 0.5)
    assert birds["AMI"] == Published(57.8, 1.0)
    fit = load_recipe("indirect-deepfashion").targets["fit"]
    assert "AE" not in fit  # made of other labels in the paper's notebook


def test_absent_data_are_named_with_where_they_come_from(tmp_path, capsys):
    folder = write_published_set("synthetic-cars", tmp_path)
    assert main(["table", "indirect-synthetic-cars", "--data", str(folder)]) == 2
    said = capsys.readouterr().err
    assert "does not hold car_models.txt (names of car models, one a line" in said
    assert "cars.csv" not in said
    assert main(["table", "--data", str(folder)]) == 0
    assert "missing: car_models.txt\n" in capsys.readouterr().out
    for words, sentence in (
        (["nothing"], "there is no 'nothing'"),
        (["indirect-cub200"], "--data FOLDER must hold images.txt"),
        (["indirect-cub200", "--data", "/nowhere"], "/nowhere is no folder"),
        (["indirect-cub200", "--data", str(folder), "--only", "birds"], "no 'birds', but bird"),
        (["indirect-cub200", "--data", str(folder), "--repetitions", "0"], "a whole number from 1"),
    ):
        assert main(["table", *words]) == 2
        assert sentence in capsys.readouterr().err


def test_a_table_is_made_of_the_data_alone(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("lookalike.learning.recipes.notions.load_encoder", lambda _: Letters())
    shifts = {"red": "0.5,2,2", "white": "0,0,2", "blue": f"{0.5 + 2 / 3},2,2"}
    for name, shift in shifts.items():
        assert colour_of_shift(*map(float, shift.split(","))) == name
    lines = ["frame,model,color_hue,color_sat,color_val,bg_color_hue,bg_color_sat,bg_color_val"]
    names = [list(shifts)[n % 3] for n in range(30)]
    lines += [f"{n},Van,{shifts[name]},0,0,0" for n, name in enumerate(names, 1)]
    files = {f"cars/{n}.png": png(n) for n in range(1, 31)}
    write_folder(tmp_path / "d", {"cars.csv": "\n".join(lines).encode(), **files})
    rng = np.random.default_rng(0)
    texts = Letters().encode([f"a {name} car" for name in names])
    vectors = texts + rng.normal(0, 0.12, texts.shape)
    ids = np.array([f"cars/{n}.png" for n in range(1, 31)])
    np.savez(tmp_path / "v.npz", ids=ids, vectors=vectors.astype(np.float32))
    card = {"encoder_spec": "test:letters"}
    TextSpace(Layers(64, (), card), Layers(64, (), card)).save(tmp_path / "s")
    words = ["table", "indirect-synthetic-cars", "--data", str(tmp_path / "d"), "--only",
             "car colour", "--methods", "raw,PCA,InDiReCT", "--repetitions", "1",
             "--space", str(tmp_path / "s")]  # fmt: skip
    assert main(words) == 2
    assert "a text space needs the vectors that it maps" in capsys.readouterr().err
    assert main([*words, "--vectors", str(tmp_path / "v.npz"), "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["n_judged"] == 0  # the paper's numbers are CLIP's
    found = {(one["method"], one["measure"]): one for one in data["numbers"]}
    assert found["InDiReCT", "P@1"]["found"]["mean"] > 90
    assert found["InDiReCT", "P@1"]["published"] == {"mean": 31.4, "std": 0.5}
    assert ("PCA", "P@1") not in found  # 17 prompts, 128 directions
    assert len(CSS_COLOURS) == 17


def test_a_number_is_as_published_within_tolerance_and_two_deviations(tmp_path):
    path = tmp_path / "t.toml"
    text = """title = "t"\nsource = "s"\nkind = "notions"\ntolerance = 1.0\njudged = ["A"]
needs = []\n[targets.x.A]\n"P@1" = [50.0, 0.5]\n[targets.x.B]\n"P@1" = 50.0\n"""
    path.write_text(text)
    recipe = read_recipe(path)
    for mean, verdict in ((52.0, "as published"), (47.9, "differs"), (float("nan"), "differs")):
        made = Made({"x": {"A": {"P@1": Published(mean)}, "B": {"P@1": Published(1.0)}}})
        assert [one.verdict for one in compare(recipe, made)] == [verdict, "shown"]
        foreign = Made(made.values, is_comparable=False)
        assert {one.verdict for one in compare(recipe, foreign)} == {"shown"}
    for edit, sentence in (
        (("tolerance = 1.0", ""), "t.toml does not say its tolerance"),
        (("title =", "titel ="), "titel is not known"),
        (('kind = "notions"', "kind ="), "t.toml: "),
    ):
        path.write_text(text.replace(*edit))
        with pytest.raises(Exception, match=sentence):
            read_recipe(path)
    path.write_text(text.replace("notions", "magic"))
    with pytest.raises(Exception, match="of kind 'magic', which nothing here makes"):
        make_table(read_recipe(path), Run(Path(tmp_path)))
