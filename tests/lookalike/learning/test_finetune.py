"""Fine-tuning on identity and category, and what is true of a drawn catalog."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from demo.drawing.plan import products as planned_products
from demo.experts import WEIGHTS, is_similar, similarity
from lookalike.core.errors import Refused
from lookalike.learning.engine.determinism import stream
from lookalike.learning.engine.fitting import fit
from lookalike.learning.engine.perceptron import Perceptron
from lookalike.learning.finetune.attribute_truth import SimilarityRule
from lookalike.learning.finetune.scores import (
    AUC,
    AUC_WITHIN,
    Truth,
    identity_scores,
    similarity_scores,
)
from lookalike.learning.finetune.training import FinetuneLearner, FinetuneSettings
from lookalike.learning.metric.classes import Classes
from lookalike.learning.recipes.recipe import load_recipe

N = 300
ASKED = np.arange(210, N)
SMALL = FinetuneSettings(widths=(24, 8), epochs=6, batch=32, rate=0.01)


def world() -> tuple[np.ndarray, dict[str, Classes]]:
    """A hundred products of four categories in three views each; a view is most of what shows."""
    rng = stream(0, "world")
    products = np.repeat(np.arange(100), 3)
    categories = products % 4
    own = rng.standard_normal((100, 6))[products]
    view = 2 * rng.standard_normal((N, 6))
    vectors = np.hstack([own, view, 2 * np.eye(4)[categories]]).astype(np.float32)
    labels = {
        "identity": Classes.of([f"p{n:02d}" for n in products]),
        "category": Classes.of([f"c{n}" for n in categories]),
    }
    return vectors, labels


def part(classes: Classes, rows: np.ndarray) -> Classes:
    return Classes.of([classes.names[code] for code in classes.codes[rows]])


def learner(*sorts: str, settings: FinetuneSettings = SMALL) -> FinetuneLearner:
    """One for the first seventy products."""
    vectors, labels = world()
    rows = np.arange(210)
    return FinetuneLearner(
        vectors[rows], {sort: part(labels[sort], rows) for sort in sorts}, settings
    )


def truth() -> Truth:
    labels = world()[1]
    similar = np.equal.outer(np.arange(100) % 4, np.arange(100) % 4)
    similar &= np.abs(np.subtract.outer(np.arange(100), np.arange(100))) == 4
    return Truth(
        [f"{n}.png" for n in range(N)],
        labels["identity"].codes,
        similar,
        labels["category"].codes,
    )


class TestRule:
    rule = SimilarityRule.of(load_recipe("finetune-drawn").settings["similar"])

    def test_the_recipe_says_the_rule_of_the_demo_for_every_pair_of_a_drawn_catalog(self):
        planned = planned_products(60, np.random.default_rng(0))
        rows = [{name: str(getattr(of, name)) for name in WEIGHTS} for of in planned]
        points = self.rule.agreement(rows)
        similar = self.rule.similar(rows)
        for i, one in enumerate(rows):
            for j, other in enumerate(rows):
                assert points[i, j] == similarity(one, other)
                assert similar[i, j] == (i != j and is_similar(one, other))
        assert 60 < similar.sum() < 600

    def test_a_product_that_lacks_an_attribute_is_named(self):
        with pytest.raises(Refused, match="product 2 has no cut"):
            SimilarityRule({"cut": 1}, 1, {}, {}).similar([{"cut": "a"}, {"colour": "b"}])


class TestScores:
    def test_identity_finds_all_images_of_a_product_in_the_whole_catalog(self):
        known = truth()
        perfect = np.eye(100, dtype=np.float32)[known.products]
        found = identity_scores(perfect, known, ASKED)
        assert found["identity R@1"] == 1
        assert found["identity HR@5"] == pytest.approx(2 / 5)  # a product has two others
        wanted = (1 + 1 / 2) / (1 + 1 / 2 + 1 / 3 + 1 / 4 + 1 / 5)
        assert found["identity MRR@5"] == pytest.approx(wanted)

    def test_similarity_counts_other_products_alone(self):
        known = truth()
        group = np.tile(np.eye(4), 25)[known.categories]
        near = np.eye(100)[known.products] + 0.4 * group
        found = similarity_scores(near.astype(np.float32), known, ASKED)
        assert (
            found[AUC] > 0.8
        )  # their category tells lookalikes from most others, not from its own
        chain = known.similar + np.eye(100)
        best = similarity_scores(chain[known.products].astype(np.float32), known, ASKED)
        assert best["similarity HR@5"] > found["similarity HR@5"]
        assert min(best[AUC], best[AUC_WITHIN]) > 0.9

    def test_queries_without_lookalikes_are_refused(self):
        known = replace(truth(), similar=np.zeros((100, 100), bool))
        with pytest.raises(Refused, match="none of them has a lookalike"):
            similarity_scores(world()[0], known, np.arange(9))


class TestLearning:
    def test_identity_learns_to_find_products_that_it_has_not_seen(self):
        vectors = world()[0]
        tuned = learner("identity", settings=replace(SMALL, widths=(), epochs=20))
        fit(tuned, tuned.n_steps)
        before, after = (
            identity_scores(of, truth(), ASKED)["identity R@1"]
            for of in (vectors, tuned.projection().apply(vectors))
        )
        assert after > before + 0.05

    def test_a_single_layer_of_their_width_begins_as_the_vectors_themselves(self):
        vectors = world()[0]
        settings = replace(SMALL, widths=())
        mapped = learner("identity", settings=settings).projection().apply(vectors)
        unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        np.testing.assert_allclose(mapped, unit, atol=1e-6)
        drawn = learner("identity").projection().apply(vectors)
        assert drawn.shape == (N, 8)

    def test_both_sorts_of_labels_add_up(self):
        both, one = learner("identity", "category"), learner("identity")
        losses = both.step(0)
        assert set(losses) == {"identity", "category"}
        assert losses["identity"] == one.step(0)["identity"]  # the same start and the same batch

    def test_the_heads_are_left_and_the_projection_is_the_network(self):
        vectors = world()[0]
        one = learner("identity", "category")
        fit(one, 5)
        found = one.projection({"parent": "abc"})
        assert found.dim == 8
        wanted = one.network.unit(one.network.scaled(vectors)).detach().numpy()
        np.testing.assert_allclose(found.apply(vectors), wanted, atol=1e-5)
        assert found.card["labels"] == {"identity": 70, "category": 4}
        assert found.card["parent"] == "abc"

    def test_what_is_cut_short_goes_on_to_the_same_bytes(self, tmp_path):
        class Killed:
            def update(self, done: int, total: int) -> None:
                if done == 8:
                    raise KeyboardInterrupt

        def new() -> FinetuneLearner:
            return learner("identity", "category")

        n = new().n_steps
        assert n == 42
        fit(new(), n, folder=tmp_path / "whole", every=5)
        with pytest.raises(KeyboardInterrupt):
            fit(new(), n, folder=tmp_path / "cut", every=5, progress=Killed())  # type: ignore[arg-type]
        again, alone = new(), new()
        fit(again, n, folder=tmp_path / "cut", every=5)
        fit(alone, n)
        assert again.projection().content() == alone.projection().content()
        files = [sorted((tmp_path / of).iterdir()) for of in ("whole", "cut")]
        assert [f.read_bytes() for f in files[0]] == [f.read_bytes() for f in files[1]]
        with pytest.raises(Refused, match="a run of other data or settings"):
            fit(learner("identity"), n, folder=tmp_path / "cut")

    def test_a_loss_that_is_no_number_stops_with_step_and_batch(self):
        broken = learner("identity", settings=replace(SMALL, rate=1e30))
        with pytest.raises(Refused, match=r"is (inf|nan) at step [1-9]\d* \(batch of images \d"):
            fit(broken, broken.n_steps)

    def test_bad_input_is_named(self):
        vectors, labels = world()
        identity, few = labels["identity"], Classes.of(["a", "b", "b"])
        with pytest.raises(Refused, match="nothing to learn"):
            FinetuneLearner(vectors, {}, SMALL)
        with pytest.raises(Refused, match="300 labels for 299 vectors"):
            FinetuneLearner(vectors[1:], {"identity": identity}, SMALL)
        with pytest.raises(Refused, match="'a' has one image alone"):
            FinetuneLearner(vectors[:3], {"identity": few}, SMALL)
        absent = replace(identity, codes=np.minimum(identity.codes, 98))
        with pytest.raises(Refused, match="no image is of 'p99'"):
            FinetuneLearner(vectors, {"identity": absent}, SMALL)
        with pytest.raises(Refused, match="epochs, batch and rate"):
            replace(SMALL, batch=0)
        with pytest.raises(Refused, match="are no widths"):
            Perceptron(vectors, (8, 0), stream(0, "network"))
