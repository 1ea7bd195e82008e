"""`lookalike table`: published tables, made again or refused."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from lookalike.backbones.loading import load_backbone
from lookalike.cli.main import main
from lookalike.images.named_colours import CSS_COLOURS, colour_of_shift
from lookalike.io.vectors import read_vectors, write_vectors
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


# cells that the text of the appendix that we read does not show
ABSENT = {
    ("indirect-synthetic-cars", "car colour", "raw", "NMI"),
    ("indirect-synthetic-cars", "background colour", "raw", "MAP"),
    ("indirect-deepfashion", "fit", "raw", "MAP"),
    ("indirect-deepfashion", "fit", "LAE", "AMI"),
}
MEASURES = ("MAP@R", "P@1", "R-Prec", "AMI", "NMI", "MAP", "MRR")
CELLS = [
    (name, row, method)
    for name in recipe_names()
    if name.startswith("indirect-")
    for row, methods in load_recipe(name).targets.items()
    for method in methods
]
ROUNDING = 0.1001  # of two numbers with one decimal


@pytest.mark.parametrize(("name", "row", "method"), CELLS)
def test_printed_numbers_keep_the_relations_of_their_measures(name, row, method):
    targets = load_recipe(name).targets[row][method]
    absent = {measure for *cell, measure in ABSENT if cell == [name, row, method]}
    assert set(targets) == set(MEASURES) - absent
    mean = {measure: targets[measure].mean for measure in targets}
    assert all(-1 <= value <= 100 for value in mean.values())
    for lower, upper in (("MAP@R", "R-Prec"), ("MAP@R", "MAP"), ("AMI", "NMI"), ("P@1", "MRR")):
        if {lower, upper} <= set(mean):
            assert mean[lower] <= mean[upper] + ROUNDING, (lower, upper)
    assert all(0 <= number.std < 10 for number in targets.values())
    if method == "random":  # any neighbour is as good as another
        assert abs(mean["R-Prec"] - mean["P@1"]) < 2
        assert abs(mean["R-Prec"] - mean["MAP"]) < 1
        assert abs(mean["AMI"]) <= 0.5


def test_every_notion_has_each_method_that_the_appendix_prints():
    of_all = {"random", "raw", "InDiReCT", "LAE", "oracle"}
    of_other_labels = {"texture", "fabric", "fit"}
    for name, row, _ in CELLS:
        methods = set(load_recipe(name).targets[row])
        assert of_all <= methods
        assert ({"AE", "random transformation"} <= methods) is (row not in of_other_labels)
        assert ("PCA" in methods) is (row == "car model")


def test_every_method_beats_chance_and_stays_below_the_oracle():
    for name, row, method in CELLS:
        targets = load_recipe(name).targets[row]
        if method not in ("random", "oracle"):
            chance, ours, best = (
                targets[one]["MAP@R"].mean for one in ("random", method, "oracle")
            )
            assert chance < ours < best


@pytest.mark.parametrize(
    "name", [name for name in recipe_names() if name.startswith("composition-")]
)
def test_printed_recalls_grow_with_k(name):
    for methods in load_recipe(name).targets.values():
        for targets in methods.values():
            cut_offs = [int(measure.removeprefix("R@")) for measure in targets]
            means = [number.mean for number in targets.values()]
            assert (cut_offs, means) == (sorted(cut_offs), sorted(means))
            assert all(0 < mean < 100 for mean in means)


def test_recalls_of_genecis_have_the_printed_averages():
    # the column Average R@1 of Table 2
    printed = {"image only": 11.5, "text only": 8.1, "image + text": 12.6,
               "Combiner (CIRR)": 14.0, "Combiner (CC3M)": 16.8}  # fmt: skip
    tasks = load_recipe("composition-genecis").targets.values()
    for method, average in printed.items():
        assert np.mean([task[method]["R@1"].mean for task in tasks]) == pytest.approx(
            average, abs=0.05
        )


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


def test_vectors_count_only_with_the_fingerprint_of_the_papers_model(tmp_path, monkeypatch):
    monkeypatch.setattr("lookalike.learning.recipes.notions.load_encoder", lambda *_: Letters())
    folder = write_published_set("synthetic-cars", tmp_path / "d")
    ids = sorted(path.relative_to(folder).as_posix() for path in folder.glob("cars/*.png"))
    vectors = np.random.default_rng(0).standard_normal((len(ids), 64)).astype(np.float32)
    whole = load_recipe("indirect-synthetic-cars")
    model = "descriptor:colour-layout"
    recipe = replace(whole, needs=(), settings={**whole.settings, "model": model})

    def verdicts(file):
        run = Run(folder, ("car colour",), ("random",), vectors=file, repetitions=1)
        compared, notes = make_table(recipe, run)
        judged = {one.verdict for one in compared if one.found and one.published}
        return judged, [note for note in notes if note.startswith("not judged")]

    np.savez(tmp_path / "plain.npz", ids=np.array(ids), vectors=vectors)
    np.savez(tmp_path / "numbers.npz", ids=np.array(ids), vectors=vectors, fingerprint=np.arange(3))
    own = load_backbone(model).fingerprint
    for name, fingerprint, is_judged in (
        ("own.npz", own, True),
        ("own.parquet", own, True),
        ("other.npz", own[::-1], False),
        ("unknown.parquet", "", False),
    ):
        write_vectors(tmp_path / name, ids, vectors, fingerprint)
        judged, notes = verdicts(tmp_path / name)
        assert (judged != {"shown"}) is is_judged
        assert bool(notes) is not is_judged
    for name in ("plain.npz", "numbers.npz"):
        judged, (note,) = verdicts(tmp_path / name)
        assert judged == {"shown"}
        assert f"lookalike embed --model {model}" in note
    out = tmp_path / "embedded.npz"
    assert main(["embed", str(folder / "cars"), "--model", model, "-o", str(out)]) == 0
    assert read_vectors(out).fingerprint == own


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
