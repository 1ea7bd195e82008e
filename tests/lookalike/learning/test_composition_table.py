"""The table of composed retrieval, on a catalog whose values stand on axes of their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lookalike.backbones.protocol import unit_rows
from lookalike.core.arrays import Float32s
from lookalike.core.errors import Refused
from lookalike.core.progress import SILENT
from lookalike.io.errors import InputError
from lookalike.learning.captions.mining import CaptionTable
from lookalike.learning.compose.catalog_captions import (
    Phrases,
    catalog_rows,
    mined_triplets,
    same_value_triplets,
)
from lookalike.learning.engine.determinism import stream
from lookalike.learning.lit.captions import read_attributes
from lookalike.learning.lit.space import TextSpace
from lookalike.learning.projection import Layers
from lookalike.learning.recipes.composition import (
    AVERAGE,
    BOTH,
    CHANGE,
    COMBINER,
    FOCUS,
    IMAGE,
    METHODS,
    SPECIFIC,
    TEXT,
    WITH_SAME,
    make,
)
from lookalike.learning.recipes.recipe import Recipe, load_recipe
from lookalike.learning.recipes.runners import Run, make_table

VALUES = {"category": ["bag", "shoe", "vase"], "colour": ["blue", "green", "lime", "red"],
          "cut": ["long", "short", "wide"]}  # fmt: skip
WORDS = [word for of in VALUES.values() for word in of]
N, DIM = 900, len(WORDS) + 2


class Axes:
    """A text encoder that sees which values a text names, and whether it says "same"."""

    spec = "test:axes"
    card: Mapping[str, Any] = {"model": "axes"}
    fingerprint = "axes"

    def encode(self, texts: Sequence[str], progress: object = SILENT) -> Float32s:
        rows = [[word in text.replace(",", "").split() for word in [*WORDS, "same", "colour"]]
                for text in texts]  # fmt: skip
        vectors = np.array(rows, np.float32)
        vectors[:, -1] *= 0.3
        return unit_rows(vectors)

    def knows(self, _text: str) -> bool:
        return True


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A catalog with vectors, and a text space in which images stand where their words do."""
    folder = tmp_path_factory.mktemp("catalog")
    rng = stream(0, "catalog")
    rows = [{name: str(rng.choice(of)) for name, of in VALUES.items()} for _ in range(N)]
    vectors = np.array([[word in row.values() for word in [*WORDS, "", ""]] for row in rows])
    vectors = vectors + 0.25 * rng.standard_normal((N, DIM))
    paths = [f"{n}.png" for n in range(N)]
    np.savez(folder / "v.npz", ids=np.array(paths), vectors=vectors.astype(np.float32))
    lines = [f"{p},{n // 2},{','.join(row.values())}"
             for n, (p, row) in enumerate(zip(paths, rows, strict=True))]  # fmt: skip
    text = "\n".join([f"path,product_id,{','.join(VALUES)}", *lines, ""])
    (folder / "metadata.csv").write_text(text, encoding="utf-8")
    card = {"encoder_spec": "test:axes", "encoder": "axes", "seed": 0}
    TextSpace(Layers(DIM, (), card), Layers(DIM, (), card)).save(folder / "space")
    return folder


@pytest.fixture(autouse=True)
def _encoder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lookalike.learning.recipes.composition.load_encoder", lambda _: Axes())


@pytest.fixture
def recipe() -> Recipe:
    """The one of drawn pictures, for this small catalog."""
    found = load_recipe("composition-drawn")
    small = {"columns": ["colour", "cut"], "n_templates": 80, "n_learnt": 1500, "projection": 32,
             "hidden": 64, "dropout": 0.1, "epochs": 6, "batch": 64, "rate": 3e-3,
             "scale": 20.0}  # fmt: skip
    return replace(found, settings={**found.settings, **small})


def run_in(folder: Path, **changed: Any) -> Run:
    small = Run(folder, vectors=folder / "v.npz", space=folder / "space", repetitions=2)
    return replace(small, **changed)


def test_each_task_and_method_is_scored_and_what_a_combiner_gains_is_said(folder, recipe):
    made = make(recipe, run_in(folder), SILENT)
    assert list(made.values) == [FOCUS, CHANGE, AVERAGE]
    assert {tuple(of) for of in made.values.values()} == {METHODS}
    r1 = {
        row: {name: one["R@1"].mean for name, one in of.items()} for row, of in made.values.items()
    }
    change, focus = r1[CHANGE], r1[FOCUS]
    assert change[COMBINER] > change[BOTH] > max(change[IMAGE], change[TEXT])
    assert focus[WITH_SAME] > focus[COMBINER] + 10  # which keeps nothing but the category
    assert focus[SPECIFIC] > focus[TEXT]
    for name in METHODS:
        assert r1[AVERAGE][name] == pytest.approx((focus[name] + change[name]) / 2)
    assert not made.is_comparable
    gains = [
        note for note in made.notes if note.startswith("change attribute, R@1 of Combiner less")
    ]
    assert f"{change[COMBINER] - change[BOTH]:+.2f}, standard error" in gains[0]


def test_the_same_seed_gives_the_same_table(folder, recipe):
    run = run_in(folder, methods=(COMBINER,), repetitions=1, seed=3)
    assert make(recipe, run, SILENT).values == make(recipe, run, SILENT).values


def test_captions_of_a_catalog_say_subject_relation_and_object():
    rows = [{"category": "bag", "colour": "red"}, {"category": "shoe", "colour": ""},
            {"category": "shoe", "colour": "blue"}]  # fmt: skip
    found = catalog_rows(read_attributes(rows), "category", np.array([True, True, True]), Phrases())
    assert [row[2:] for row in found] == [
        ("bag", "whose colour is", "red"), ("shoe", "whose colour is", "blue")]  # fmt: skip
    assert [row.image for row in found] == ["0", "2"]
    with pytest.raises(Refused, match="there is no column 'kind': category, colour"):
        catalog_rows(read_attributes(rows), "kind", np.ones(3, bool), Phrases())


def test_mined_triplets_change_a_value_and_the_others_keep_it():
    rng = stream(1, "rows")
    known = [{"category": "bag", "colour": str(rng.choice(VALUES["colour"]))} for _ in range(60)]
    known.append({"category": "shoe", "colour": "red"})
    rows = catalog_rows(read_attributes(known), "category", np.ones(61, bool), Phrases())
    assert CaptionTable(rows).subjects == ["bag"]
    mined, _ = mined_triplets(rows, 100, 0)
    assert len(mined) == 100
    for reference, target, condition in mined:
        assert known[int(reference)]["colour"] != known[int(target)]["colour"]
        assert condition == f"whose colour is {known[int(target)]['colour']}"
    same = same_value_triplets(rows, ["category", "colour"], 100, 0, Phrases())
    assert 80 < len(same) <= 100
    for reference, target, condition in same:
        assert (reference != target, known[int(reference)]) == (True, known[int(target)])
        assert condition == "of the same colour"


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"space": None}, "images and texts have to meet: give --space"),
        ({"methods": ("Combinator",)}, "'Combinator' is none of specific solution"),
        ({"model": "x"}, "the vectors are made already"),
        ({"rows": ("shoes",)}, "there is no 'shoes', but focus attribute"),
    ],
)
def test_what_cannot_be_made_is_refused(folder, recipe, changed, reason):
    with pytest.raises(Refused, match=reason):
        make_table(recipe, run_in(folder, **changed))


def test_a_space_of_another_encoder_is_refused(folder, recipe, monkeypatch):
    monkeypatch.setattr(Axes, "fingerprint", "other")
    with pytest.raises(InputError, match="learnt with another test:axes than is installed"):
        make(recipe, run_in(folder), SILENT)


def test_too_few_images_for_a_template_are_refused(folder, recipe, tmp_path):
    text = (folder / "metadata.csv").read_text().splitlines()[:61]
    (tmp_path / "metadata.csv").write_text("\n".join(text))
    with pytest.raises(Refused, match="none of focus_attribute can be drawn"):
        make(recipe, run_in(tmp_path, vectors=folder / "v.npz", space=folder / "space"), SILENT)
