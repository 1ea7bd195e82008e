"""What is held out, and what of it was learned from nevertheless."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lookalike.core.errors import Refused
from lookalike.learning.embeddings.learn import KnownImages, learn_embedding
from lookalike.learning.embeddings.recipe import EmbeddingRecipe
from lookalike.learning.held_out import describe, split_images

COLOURS = [f"colour {n // 6}" for n in range(120)]  # 20 classes of six images
RECIPE = EmbeddingRecipe(("colour",), dim=4, hidden=0, epochs=1)


def catalog(products: list[str] | None = None) -> KnownImages:
    rng = np.random.default_rng(0)
    vectors = rng.standard_normal((120, 8)).astype(np.float32)
    rows = [{"colour": colour, "half": str(n % 2)} for n, colour in enumerate(COLOURS)]
    return KnownImages(vectors, rows, products or [""] * 120, "parent")


def learned(folder: Any, images: KnownImages, **changes: Any) -> Any:
    recipe = EmbeddingRecipe(**{**RECIPE.__dict__, **changes})
    return learn_embedding(images, recipe, folder)


def test_with_columns_and_no_products_images_are_held_out_and_their_classes_are_known(tmp_path):
    found = learned(tmp_path, catalog())
    assert found.held_out.unit == "images"
    n_asked, n_seen = found.held_out.classes["colour"]
    assert n_seen == n_asked > 10
    assert found.projection.card["held_out"] == found.held_out.as_json()


@pytest.mark.parametrize("method", ["multisimilarity", "fine-tuning", "CSN", "mixture", "single"])
def test_classes_held_out_are_never_learned_from(method, tmp_path):
    found = learned(tmp_path, catalog(), hold_out="classes", method=method)
    assert found.held_out.unit == "classes"
    assert found.held_out.classes["colour"] == (4, 0)
    assert found.held_out.n_images == 24
    seen = {COLOURS[row] for row in found.seen.tolist()}
    assert len(seen) == 16
    before, _ = found.found["colour"]
    assert before is not None


def test_products_held_out_have_all_their_images_on_one_side(tmp_path):
    products = [f"p{n // 2}" for n in range(120)]
    found = learned(tmp_path, catalog(products), hold_out="products")
    assert (found.held_out.unit, found.held_out.n_products_seen) == ("products", 0)
    usual = learned(tmp_path / "usual", catalog(products))
    assert usual.held_out == found.held_out
    assert usual.projection.fingerprint != found.projection.fingerprint  # its card has the recipe


def test_products_with_images_on_both_sides_are_counted(tmp_path):
    products = [f"p{n // 2}" for n in range(120)]
    found = learned(tmp_path, catalog(products), hold_out="images")
    assert found.held_out.unit == "images"
    rows = set(found.seen.tolist())
    both = {
        product
        for n, product in enumerate(products)
        if n in rows and any(products[m] == product for m in range(120) if m not in rows)
    }
    assert 0 < found.held_out.n_products_seen <= len(both)


def test_each_sort_of_label_is_asked_about_its_own_classes():
    rng = np.random.default_rng(1)
    labels = {name: [f"{name} {n}" for n in rng.integers(0, 10, 200)] for name in ("cut", "tone")}
    split = split_images(labels, [""] * 200, "classes", seed=3)
    for name, of in labels.items():
        out = {of[row] for row in np.flatnonzero(split.asked[name])}
        assert len(out) == 2
        assert out.isdisjoint(of[row] for row in np.flatnonzero(split.may_learn))
    assert not np.array_equal(split.asked["cut"], split.asked["tone"])
    found = describe(split, labels, [""] * 200, np.flatnonzero(split.may_learn))
    assert dict(found.classes) == {"cut": (2, 0), "tone": (2, 0)}
    again = split_images(labels, [""] * 200, "classes", seed=3)
    assert np.array_equal(split.may_learn, again.may_learn)
    other = split_images(labels, [""] * 200, "classes", seed=4)
    assert not np.array_equal(split.may_learn, other.may_learn)


def test_about_a_fifth_of_the_classes_is_held_out_and_two_at_least():
    for n_classes, n_out in ((4, 2), (10, 2), (15, 3), (50, 10)):
        labels = {"cut": [str(n // 3) for n in range(3 * n_classes)]}
        split = split_images(labels, [""] * len(labels["cut"]), "classes")
        assert split.asked["cut"].sum() == 3 * n_out


def test_what_cannot_be_held_out_is_refused(tmp_path):
    with pytest.raises(Refused, match="hold_out: no image has a product; hold out classes or im"):
        learned(tmp_path, catalog(), hold_out="products")
    with pytest.raises(Refused, match="hold_out: half has 2 classes of two images or more"):
        learned(tmp_path, catalog(), hold_out="classes", columns=("half",))
    with pytest.raises(Refused, match="hold_out: 'queries' is none of products, classes, images"):
        EmbeddingRecipe(("colour",), hold_out="queries")
    with pytest.raises(Refused, match="hold_out: 'queries' is none of"):
        split_images({"cut": ["a"]}, [""], "queries")
