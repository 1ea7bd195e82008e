"""The table of networks for several conditions, on a catalog of numbers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from lookalike.cli.options import comma_list
from lookalike.conditional import criterion
from lookalike.core.errors import Refused
from lookalike.core.progress import SILENT
from lookalike.io.errors import InputError
from lookalike.learning.conditions import triplets
from lookalike.learning.engine.determinism import stream
from lookalike.learning.lit.captions import UNKNOWN
from lookalike.learning.recipes.condition_variants import NETWORKS, SINGLE, list_variants
from lookalike.learning.recipes.conditions import ROW, halved, make
from lookalike.learning.recipes.recipe import Recipe, load_recipe
from lookalike.learning.recipes.runners import Run, make_table

N = 160


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A catalog whose colour and cut stand on axes of their own."""
    folder = tmp_path_factory.mktemp("catalog")
    rng = stream(0, "catalog")
    codes = rng.integers(0, 4, (N, 2))
    vectors = np.hstack([np.eye(4)[codes[:, 0]], np.eye(4)[codes[:, 1]]])
    vectors = (vectors + 0.1 * rng.standard_normal((N, 8))).astype(np.float32)
    paths = [f"{n}.png" for n in range(N)]
    np.savez(folder / "vectors.npz", ids=np.array(paths), vectors=vectors)
    lines = [
        f"{p},{n // 2},{a},{b}" for n, (p, (a, b)) in enumerate(zip(paths, codes, strict=True))
    ]
    text = "\n".join(["path,product_id,colour,cut", *lines, ""])
    (folder / "metadata.csv").write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def recipe() -> Recipe:
    """The one of drawn pictures, for this small catalog."""
    found = load_recipe("conditions-many")
    small = {"columns": ["colour", "cut"], "n_learnt": 600, "n_asked": 200,
             "epochs": 5, "batch": 64, "rate": 0.03}  # fmt: skip
    return replace(found, settings={**found.settings, **small})


def test_what_is_told_the_condition_does_better_and_each_repetition_counts(
    folder, recipe, monkeypatch
):
    compared = []

    def seen_by(table, name, vectors, metric):
        compared.append((metric, bool(np.isclose(np.linalg.norm(vectors, axis=1), 1).all())))
        return criterion.seen_by(table, name, vectors, metric)

    monkeypatch.setattr("lookalike.learning.recipes.conditions.seen_by", seen_by)
    run = Run(folder, methods=("CSN",), vectors=folder / "vectors.npz", repetitions=2)
    made = make(recipe, run, SILENT)
    assert list(made.values[ROW]) == [SINGLE, "CSN"]  # whatever is asked for stands beside it
    assert set(made.values[ROW]["CSN"]) == {"OT", "greedy", "colour", "cut"}
    single, told = (made.values[ROW][name]["OT"] for name in (SINGLE, "CSN"))
    assert told.mean > single.mean + 3
    assert single.std > 0
    assert not made.is_comparable
    assert any("2 repetitions" in note for note in made.notes)
    one_of_each = [("cosine", True), *[("euclidean", False)] * 2]
    n_choices = len(recipe.settings["choices"]) - 3  # three are the mixture's alone
    chosen = [("cosine", True)] * n_choices + [("euclidean", False)] * 2 * n_choices
    assert compared == [*chosen, *one_of_each * 2]


def test_settings_are_chosen_on_products_that_are_neither_learned_from_nor_asked_about(
    folder, recipe, monkeypatch
):
    drawn = []

    def draw(codes, seen, n, **options):
        drawn.append((options["purpose"], frozenset(np.flatnonzero(seen).tolist())))
        return triplets.draw_conditions(codes, seen, n, **options)

    monkeypatch.setattr("lookalike.learning.recipes.conditions.draw_conditions", draw)
    choices = [{"epochs": 1, "rate": 1e-6}, {"epochs": 5, "rate": 0.03},
               {"methods": ["mixture"], "epochs": 5, "rate": 0.03, "temperature": 1.0}]  # fmt: skip
    asked = replace(recipe, settings={**recipe.settings, "choices": choices})
    made = make(asked, Run(folder, ("drawn catalog",), ("mixture",), vectors=folder / "vectors.npz",
                           repetitions=2), SILENT)  # fmt: skip
    assert any("mixture: chosen on validation triplets: epochs 5" in note for note in made.notes)
    learnt = {images for purpose, images in drawn if purpose == "learnt"}
    assert len(learnt) == 1  # of choosing and of the table alike
    (learnt_images,) = learnt
    others = [images for purpose, images in drawn if purpose == "asked"]
    validation, tested = others[0], others[-1]
    assert others.count(validation) == 2 + 3
    assert others.count(tested) == 2 * 2
    groups = [{row // 2 for row in images} for images in (learnt_images, validation, tested)]
    for number, one in enumerate(groups):
        for other in groups[:number]:
            assert one.isdisjoint(other)


@pytest.mark.parametrize(
    ("asked", "row"),
    [
        ("DiscoverNet-Reg", "DiscoverNet-Reg, frozen branch"),
        ("DiscoverNet-Reg, frozen branch", "DiscoverNet-Reg, frozen branch"),
        ("DiscoverNet-Reg, trained branch", "DiscoverNet-Reg, trained branch"),
        ("DiscoverNet-Set", "DiscoverNet-Set, frozen branch"),
        ("DiscoverNet, LSTM", "DiscoverNet, LSTM"),
    ],
)
def test_a_row_says_whether_its_branch_is_frozen_and_can_be_asked_for(asked, row):
    settings = load_recipe("conditions-drawn").settings
    run = Run(Path(), methods=tuple(comma_list(asked)))
    assert list(list_variants(settings, run)) == [SINGLE, row]
    assert NETWORKS[row].is_branch_trained is ("trained" in row)


@pytest.mark.parametrize(
    "name", ["conditions-drawn", "conditions-many", "conditions-binary", "conditions-causes"]
)
def test_reg_with_a_frozen_branch_stands_in_every_table(name):
    rows = list_variants(load_recipe(name).settings, Run(Path()))
    assert {"DiscoverNet-Reg, frozen branch", "DiscoverNet-Reg, trained branch"} < {*rows}
    everything = comma_list(",".join(rows))
    assert [*list_variants(load_recipe(name).settings, Run(Path(), methods=tuple(everything)))] == [
        *rows
    ]


def test_equations_of_the_paper_are_options_of_the_causes():
    rows = list_variants(load_recipe("conditions-causes").settings, Run(Path()))
    changed = [row.network_changes for row in rows.values()]
    for one in ({"is_squared": True}, {"is_cosine": True, "temperature": 0.1},
                {"is_residual": True}):  # fmt: skip
        assert one in changed


def test_values_dealt_into_halves_make_binary_attributes(folder, recipe):
    codes = np.array([0] * 6 + [1] * 5 + [2] * 4 + [3] * 3 + [UNKNOWN])
    first, second = halved(codes, 0), halved(codes, 1)
    of_value = {
        int(code): (int(a), int(b)) for code, a, b in zip(codes, first, second, strict=True)
    }
    assert of_value == {0: (0, 0), 1: (1, 0), 2: (0, 1), 3: (1, 1), UNKNOWN: (UNKNOWN, UNKNOWN)}
    binary = replace(recipe, settings={**recipe.settings, "n_halves": 2, "choices": []})
    run = Run(folder, methods=("CSN",), vectors=folder / "vectors.npz", repetitions=1)
    made = make(binary, run, SILENT).values[ROW]["CSN"]
    assert set(made) == {"OT", "greedy", "colour 1", "colour 2", "cut 1", "cut 2"}
    assert made["OT"].mean > 80


def test_causes_train_otherwise_and_say_how_triplets_can_be_told_apart(folder, recipe):
    causes = load_recipe("conditions-causes")
    small = {**causes.settings, **recipe.settings, "is_diagnosed": True, "variants": [
        {"name": "short", "method": "mixture", "n_learnt": 100, "epochs": 1, "rate": 0.001},
        {"name": "warm", "method": "LSN", "begins_with": SINGLE}]}  # fmt: skip
    run = Run(folder, methods=("CSN", "mixture", "short", "warm"), vectors=folder / "vectors.npz",
              repetitions=1, conditions=(2, 3))  # fmt: skip
    found = make(replace(causes, settings=small), run, SILENT).values[ROW]
    assert list(found) == [SINGLE, "CSN", *(
        f"{name}, K = {K}" for name in ("mixture", "short", "warm") for K in (2, 3))]  # fmt: skip
    assert found["mixture, K = 2"]["OT"].mean > found["short, K = 2"]["OT"].mean + 3
    mixed, one = found["mixture, K = 2"], found[SINGLE]
    assert mixed["sorted in batch"].mean > mixed["sorted by order"].mean > 55
    assert (one["used"].mean, one["either way"].mean, one["sorted in batch"].mean) == (100, 0, 50)


def test_a_number_of_conditions_is_above_0_and_of_what_guesses_them(folder, recipe):
    run = Run(folder, vectors=folder / "vectors.npz", conditions=(0,))
    with pytest.raises(Refused, match="each number is at least 1"):
        make_table(recipe, run)
    with pytest.raises(Refused, match="nothing guesses conditions in finetune-drawn"):
        make_table(load_recipe("finetune-drawn"), run)


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"methods": ("heads of prompts",)}, "'heads of prompts' needs --space"),
        ({"methods": ("CSM",)}, "'CSM' is none of single embedding, CSN"),
        ({"vectors": None, "model": "x", "rows": ("shoes",)}, "there is no 'shoes'"),
    ],
)
def test_what_cannot_be_made_is_refused(folder, recipe, changed, reason):
    with pytest.raises(Refused, match=reason):
        make_table(recipe, replace(Run(folder, vectors=folder / "vectors.npz"), **changed))


def test_an_image_without_a_vector_is_named(folder, recipe, tmp_path):
    short = tmp_path / "vectors.npz"
    np.savez(short, ids=np.array(["0.png"]), vectors=np.ones((1, 8), np.float32))
    with pytest.raises(InputError, match=r"no vector of '1.png' \(159 are missing\)"):
        make(recipe, Run(folder, vectors=short), SILENT)
