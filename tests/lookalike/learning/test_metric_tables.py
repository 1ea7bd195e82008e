"""The tables of language guidance and of fine-tuning, on small catalogs."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from demo.drawing.catalog import render_catalog
from lookalike.core.errors import Refused
from lookalike.core.progress import SILENT
from lookalike.learning.engine.determinism import stream
from lookalike.learning.metric.training import Guidance, MetricSettings
from lookalike.learning.recipes import finetune, guidance
from lookalike.learning.recipes.recipe import Recipe, load_recipe
from lookalike.learning.recipes.runners import Run, make_table

MAIN, LANGUAGE, PSEUDO = "drawn catalog", "how language guides", "pseudolabels"


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sixty drawn pictures, and vectors that say what they show."""
    folder = tmp_path_factory.mktemp("drawn")
    made = render_catalog(folder, n_products=30, views_per_product=2, size=64)
    with made.metadata.open(newline="") as file:
        rows = list(csv.DictReader(file))
    rng, parts = stream(0, "vectors"), []
    for name in ("category", "colour", "texture", "cut", "product_id"):
        values = np.unique([row[name] for row in rows], return_inverse=True)[1]
        parts.append(rng.standard_normal((values.max() + 1, 6))[values])
    vectors = np.hstack(parts) + 0.3 * rng.standard_normal((len(rows), 30))
    np.savez(folder / "v.npz", ids=[row["path"] for row in rows], vectors=vectors)
    return folder


@pytest.fixture
def guided() -> Recipe:
    """The recipe of language guidance, for a catalog of few classes."""
    found = load_recipe("guidance-drawn")
    training = {**found.settings["training"], "dim": 8, "hidden": 16, "steps": 20, "n_classes": 3}
    small = {"columns": ["category"], "training": training}
    return replace(found, settings={**found.settings, **small})


def test_language_guidance_beside_the_same_objective_without(catalog, guided):
    methods = ("vectors as they are", "Margin", "Margin + ELG")
    run = Run(catalog, (MAIN,), methods, vectors=catalog / "v.npz", repetitions=2)
    made = guidance.make(guided, run, SILENT)
    found = made.values[MAIN]
    assert list(found) == list(methods)
    assert set(found["Margin"]) == {
        "R@1", "R@1, other products", "mAP@R", "NMI", "KL to names", "neighbours' names"
    }  # fmt: skip
    alone, with_words = found["Margin"], found["Margin + ELG"]
    assert with_words["KL to names"].mean < alone["KL to names"].mean
    left = with_words["KL left, names"].mean
    ratio = 100 * with_words["KL to names"].mean / alone["KL to names"].mean
    assert left == pytest.approx(ratio, rel=0.1)  # a mean of ratios, not the ratio of means
    assert alone["R@1"].std > 0
    assert found["vectors as they are"]["R@1"].std == 0
    assert not made.is_comparable
    assert "3 others asked about; 2 repetitions" in made.notes[0]


def test_pseudolabels_are_what_a_classifier_takes_the_pictures_for(catalog, guided):
    methods = ("Multisimilarity", "PLG-1", "PLG-5, of images")
    run = Run(catalog, (PSEUDO,), methods, vectors=catalog / "v.npz", repetitions=1, device="cpu")
    found = guidance.make(guided, run, SILENT).values[PSEUDO]
    assert list(found) == list(methods)
    for name in methods[1:]:
        assert found[name]["KL left, pseudolabels"].mean < 100
        assert 0 <= found[name]["R@1"].mean <= 100


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"methods": ("PLG",)}, "'PLG' is none of vectors as they are, Multisimilarity"),
        ({"rows": ("cars",)}, "there is no 'cars', but drawn catalog, how language guides"),
        ({"model": "timm:resnet18"}, "the vectors are made already"),
    ],
)
def test_what_cannot_be_made_is_refused(catalog, guided, changed, reason):
    run = Run(catalog, vectors=catalog / "v.npz")
    with pytest.raises(Refused, match=reason):
        make_table(guided, replace(run, **changed))


def test_a_class_of_one_image_is_named(catalog, guided):
    products = {**guided.settings, "columns": ["category", "colour", "view"]}
    run = Run(catalog, (MAIN,), ("Multisimilarity",), vectors=catalog / "v.npz")
    with pytest.raises(Refused, match=r"has 1 image, so a batch cannot hold 2 \(\d+ are so small"):
        guidance.make(replace(guided, settings=products), run, SILENT)


def test_settings_of_no_meaning_are_refused(catalog, guided):
    rows = {MAIN: {"wrong": {"objective": "margin", "words": "synonyms"}}}
    run = Run(catalog, (MAIN,), vectors=catalog / "v.npz")
    with pytest.raises(Refused, match="'synonyms' are no words that guide"):
        guidance.make(replace(guided, settings={**guided.settings, "rows": rows}), run, SILENT)


def test_every_row_and_method_of_the_recipes_can_be_made():
    found = load_recipe("guidance-drawn")
    assert list(found.settings["rows"]) == found.rows
    for methods in found.settings["rows"].values():
        for how in methods.values():
            said = {**found.settings["training"], **how}
            guidance._part(MetricSettings, said)
            guidance._part(Guidance, said)
    assert (
        list(load_recipe("finetune-drawn").settings["rows"]) == load_recipe("finetune-drawn").rows
    )


def test_fine_tuning_answers_both_questions_on_products_held_out(catalog):
    recipe = load_recipe("finetune-drawn")
    row = {"widths": [16, 8], "epochs": 2, "batch": 16, "rate": 0.003, "weight_decay": 0.0}
    recipe = replace(recipe, settings={**recipe.settings, "rows": {"two layers": row}})
    run = Run(catalog, ("two layers",), vectors=catalog / "v.npz", repetitions=2)
    made = finetune.make(recipe, run, SILENT)
    found = made.values["two layers"]
    assert list(found) == ["vectors as they are", "ID", "CAT", "ID+C"]
    for scores in found.values():
        assert list(scores) == [
            "identity R@1", "identity HR@5", "identity MRR@5", "similarity HR@5",
            "similarity MRR@5", "similarity AUC", "similarity AUC, own category",
        ]  # fmt: skip
        assert all(0 <= of.mean <= 100 for of in scores.values())
    assert found["ID"]["identity R@1"].std > 0  # each repetition holds out other products
    assert "60 images of 30 products" in made.notes[0]
    with pytest.raises(Refused, match="'IDC' is none of vectors as they are, ID, CAT"):
        finetune.make(recipe, replace(run, methods=("IDC",)), SILENT)
