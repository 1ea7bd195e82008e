"""Embeddings learnt from classes: their batches, their words, and what they learn."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from lookalike.core.errors import Refused
from lookalike.learning.engine.determinism import stream
from lookalike.learning.engine.fitting import fit
from lookalike.learning.language.encoders import SENTENCE, load_encoder
from lookalike.learning.language.imagenet import as_probabilities, imagenet_names, pseudolabels
from lookalike.learning.losses.matching import matching
from lookalike.learning.losses.multisimilarity import multisimilarity
from lookalike.learning.metric.classes import ClassBatches, Classes
from lookalike.learning.metric.language import (
    Language,
    name_language,
    plain_name,
    pseudolabel_language,
)
from lookalike.learning.metric.scores import class_scores, divergence, neighbour_words
from lookalike.learning.metric.training import (
    OBJECTIVES,
    Guidance,
    MetricLearner,
    MetricSettings,
)

N = 240
SMALL = MetricSettings(dim=8, hidden=24, steps=40, n_classes=6, rate=0.003, branches=(8, 16))


def world() -> tuple[np.ndarray, Classes, Language]:
    """Images of sixteen classes of a colour and a cut under noise, and words that say both.

    Each half of the classes has all colours and cuts, but no two in common.
    """
    rng = stream(0, "world")
    colours, cuts = rng.integers(0, 4, (2, N))
    seen = np.hstack([np.eye(4)[colours], np.eye(4)[cuts]]) + 0.2 * rng.standard_normal((N, 8))
    vectors = np.hstack([seen, rng.standard_normal((N, 8))]).astype(np.float32)
    classes = Classes.of([f"{(a + b) % 4} {a} {b}" for a, b in zip(colours, cuts, strict=True)])
    words = [np.r_[np.eye(4)[int(name[2])], np.eye(4)[int(name[4])]] for name in classes.names]
    return vectors, classes, Language(np.array(words, np.float32) / np.float32(2**0.5))


def learner(
    settings: MetricSettings = SMALL, guidance: Guidance | None = None, *, guided: bool = True
) -> MetricLearner:
    """One for the first half of the classes."""
    vectors, classes, language = world()
    seen = classes.within((0, 0.5))
    part = Classes(classes.names, classes.codes[seen])
    return MetricLearner(vectors[seen], part, settings, language if guided else None, guidance)


def learnt(settings: MetricSettings = SMALL, *, guided: bool = True) -> np.ndarray:
    """What becomes of the images of the other half."""
    vectors, classes, _ = world()
    one = learner(settings, guided=guided)
    fit(one, settings.steps)
    return one.projection().apply(vectors[classes.within((0.5, 1))])


class TestClasses:
    def test_no_class_is_on_both_sides_of_a_split(self):
        classes = world()[1]
        first, second = (classes.within(part) for part in ((0, 0.5), (0.5, 1)))
        assert set(classes.codes[first]) == set(range(8))
        assert set(classes.codes[second]) == set(range(8, 16))
        assert (first ^ second).all()

    @pytest.mark.parametrize(
        ("values", "reason"),
        [
            (["hat", "", "bag", ""], r"image 2 has none \(2 have not\)"),
            (["hat", "hat"], "nothing can be told apart"),
        ],
    )
    def test_images_without_a_class_and_a_class_alone_are_refused(self, values, reason):
        with pytest.raises(Refused, match=reason):
            Classes.of(values)

    def test_a_part_of_one_class_is_refused(self):
        with pytest.raises(Refused, match="1 of 16 are in a part; two are needed"):
            world()[1].within((0, 0.05))

    def test_every_image_of_a_batch_has_as_many_positives_and_none_comes_twice(self):
        batches = ClassBatches(world()[1], 6, 3, seed=1)
        for number in range(30):
            rows = batches.rows(number)
            assert len(set(rows.tolist())) == 18
            codes = batches.classes.codes[rows]
            assert sorted(np.unique(codes, return_counts=True)[1]) == [3] * 6
        assert not np.array_equal(batches.rows(0), batches.rows(1))
        assert np.array_equal(batches.rows(7), ClassBatches(world()[1], 6, 3, seed=1).rows(7))

    def test_all_classes_and_images_are_drawn_alike(self):
        classes = Classes.of(["a"] * 3 + ["b"] * 4 + ["c"] * 5)
        counts = np.zeros(12)
        for number in range(600):
            np.add.at(counts, ClassBatches(classes, 2, 2).rows(number), 1)
        wanted = np.repeat([2 / 3, 2 / 4, 2 / 5], [3, 4, 5]) * 2 / 3
        assert np.abs(counts / 600 - wanted).max() < 0.07

    @pytest.mark.parametrize(
        ("batch", "reason"),
        [
            ((3, 1), "with 1 image of a class there is no positive"),
            ((1, 2), "with 1 class there is no negative"),
            ((4, 2), "4 classes are asked for, of 3"),
            ((3, 2), r"'b' has 1 image, so a batch cannot hold 2 \(1 are so small\)"),
            ((2, 4), r"'a' has 3 images, so a batch cannot hold 4 \(2 are so small\)"),
        ],
    )
    def test_batches_without_pairs_and_classes_of_one_image_are_named(self, batch, reason):
        classes = Classes.of(["a"] * 3 + ["b"] + ["c"] * 5)
        with pytest.raises(Refused, match=reason):
            ClassBatches(classes, *batch)


class TestPseudolabels:
    logits = np.array([[9, 0, 6], [0, 5, 4.9], [0, 5, 4.9]])
    probabilities = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)

    @pytest.mark.parametrize(
        ("mean_of", "ranks"), [("logits", [2, 1, 0]), ("probabilities", [1, 2, 0])]
    )
    def test_the_golden_class_depends_on_what_is_averaged(self, mean_of, ranks):
        found = pseudolabels(self.probabilities, np.zeros(3, np.int64), 3, mean_of=mean_of)
        assert found.tolist() == [ranks]
        np.testing.assert_allclose(
            self.probabilities.mean(axis=0), [0.319837, 0.348792, 0.331371], atol=1e-6
        )

    def test_images_by_themselves_have_their_own(self):
        assert pseudolabels(self.probabilities, None, 1).tolist() == [[0], [1], [1]]

    def test_the_length_of_probabilities_is_no_loss(self):
        lengths = np.linalg.norm(self.probabilities, axis=1, keepdims=True)
        found = as_probabilities(self.probabilities / lengths)
        np.testing.assert_allclose(found, self.probabilities)
        with pytest.raises(Refused, match="below 0, or all 0"):
            as_probabilities(np.zeros((1, 3)))

    @pytest.mark.parametrize(
        ("k", "mean_of", "reason"), [(0, "logits", "0 is not 1 to 3"), (4, "logits", "4 is not"),
                                     (1, "median", "'median' is neither")]
    )  # fmt: skip
    def test_what_there_is_not_is_refused(self, k, mean_of, reason):
        with pytest.raises(Refused, match=reason):
            pseudolabels(self.probabilities, None, k, mean_of=mean_of)

    def test_the_names_are_the_first_synonyms(self):
        names = imagenet_names()
        assert len(names) == 1000
        assert (names[0], names[834]) == ("tench", "suit")


class TestLanguage:
    def test_names_lose_their_number_and_their_underscores(self):
        assert plain_name("027.Shiny_Cowbird") == "shiny cowbird"

    def test_classes_are_as_alike_as_their_sentences(self):
        encoder = load_encoder(SENTENCE)
        found = name_language(["01.Red_Bag", "red bag", "Blue hat"], encoder)
        words = found.of(np.arange(3), np.array([0, 1, 2])).numpy()
        texts = encoder.encode(["a photo of a red bag", "a photo of a blue hat"])
        assert words[0, 1] == pytest.approx(1)
        assert words[0, 2] == pytest.approx(float(texts[0] @ texts[1]), abs=1e-6)

    def test_pseudolabels_are_compared_rank_by_rank(self):
        encoder = load_encoder(SENTENCE)
        probabilities = np.full((3, 1000), 1e-4)
        for row, (first, second) in enumerate([(0, 1), (1, 0), (834, 1)]):
            probabilities[row, [first, second]] = 0.5, 0.4
        codes = np.arange(3)
        found = pseudolabel_language(probabilities, codes, encoder, 2).of(codes, codes)
        said = [f"a photo of a {imagenet_names()[n]}" for n in (0, 1, 834)]
        tench, goldfish, suit = encoder.encode(said)
        assert found[0, 1] == pytest.approx(float(tench @ goldfish), abs=1e-6)
        wanted = float(tench @ suit + goldfish @ goldfish) / 2
        assert found[0, 2] == pytest.approx(wanted, abs=1e-6)

    def test_images_may_have_words_of_their_own(self):
        rows = np.eye(4, dtype=np.float32)
        words = Language(rows, of_images=True).among(np.array([0, 2, 3]))
        assert words.of(np.array([0, 2]), np.array([0, 0])).tolist() == [[1, 0], [0, 1]]
        by_class = Language(rows).among(np.array([1]))
        assert by_class.of(np.array([0, 2]), np.array([3, 3])).tolist() == [[1, 1], [1, 1]]


class TestScores:
    E = np.array([[1, 0], [0.8, 0.6], [0, 1], [-0.8, -0.6]], np.float32)
    codes = np.array([0, 0, 1, 2])
    language = Language(np.array([[1, 0], [0.6, 0.8], [0, 1]], np.float32))

    def test_the_divergence_is_the_matching_loss_of_all_images_at_once(self):
        words = torch.tensor([[1, 1, 0.6, 0], [1, 1, 0.6, 0], [0.6, 0.6, 1, 0.8], [0, 0, 0.8, 1]])
        wanted = matching(torch.from_numpy(self.E), torch.from_numpy(self.codes), words).item()
        assert divergence(self.E, self.codes, self.language) == pytest.approx(wanted, rel=1e-5)

    def test_neighbours_of_other_classes_are_as_alike_as_their_words(self):
        near = {0: (0.6, 0.0), 1: (0.6, 0.0), 2: (0.6, 0.6), 3: (0.0, 0.8)}
        wanted = np.mean([value for pair in near.values() for value in pair])
        assert neighbour_words(self.E, self.codes, self.language) == pytest.approx(wanted)


class TestLearning:
    @pytest.mark.parametrize("objective", OBJECTIVES)
    def test_each_objective_learns_classes_that_it_has_not_seen(self, objective):
        vectors, classes, language = world()
        settings = replace(SMALL, objective=objective, steps=120)
        asked = classes.within((0.5, 1))
        codes, products = classes.codes[asked], [""] * int(asked.sum())
        raw = vectors[asked] / np.linalg.norm(vectors[asked], axis=1, keepdims=True)
        before, after = (
            class_scores(of, codes, products, {"names": language}, 0)
            for of in (raw, learnt(settings, guided=False))
        )
        assert after["mAP@R"] > before["mAP@R"] + 0.05

    @pytest.mark.parametrize("objective", ["multisimilarity", "margin"])
    def test_language_draws_similarities_towards_those_of_words(self, objective):
        _, classes, language = world()
        codes = classes.codes[classes.within((0.5, 1))]
        settings = replace(SMALL, objective=objective)
        apart = [divergence(learnt(settings, guided=of), codes, language) for of in (False, True)]
        assert apart[1] < 0.75 * apart[0]

    def test_a_weight_of_nothing_is_no_guidance_and_a_delay_begins_later(self):
        alone, mute = learner(guided=False), learner(guidance=Guidance(weight=0.0))
        late = learner(guidance=Guidance(delay=5))
        for number in range(5):
            losses = [one.step(number) for one in (alone, mute, late)]
            assert "language" not in losses[2]
        assert "language" in late.step(5)
        mute.step(5)
        alone.step(5)
        for one, other in zip(alone.network.parameters, mute.network.parameters, strict=True):
            assert torch.equal(one, other)
        assert not torch.equal(alone.network.parameters[0], late.network.parameters[0])

    def test_boundaries_move_at_a_rate_of_their_own(self):
        moved = {}
        for rate in (1e-4, 1e-2):
            settings = replace(SMALL, objective="margin", boundary_rate=rate, weight_decay=0.0)
            one = learner(settings, guided=False)
            one.step(0)
            unit = rate / settings.rate
            moved[rate] = float(unit * one._boundaries.detach().abs().max())
        assert moved[1e-4] == pytest.approx(1e-4, rel=1e-3)
        assert moved[1e-2] == pytest.approx(1e-2, rel=1e-3)

    def test_the_projection_is_the_network(self):
        vectors = world()[0]
        for hidden in (24, 0):
            one = learner(replace(SMALL, hidden=hidden))
            fit(one, 3)
            with torch.no_grad():
                wanted = one.network.unit(one.network.scaled(vectors)).numpy()
            np.testing.assert_allclose(one.projection().apply(vectors), wanted, atol=1e-5)

    def test_the_card_says_what_it_was_learnt_by(self, tmp_path):
        projection = learner().projection({"parent": "abc"})
        projection.save(tmp_path / "head.safetensors")
        again = type(projection).load(tmp_path / "head.safetensors")
        assert again.fingerprint == projection.fingerprint
        assert again.card["objective"] == "multisimilarity"
        assert again.card["guidance"]["weight"] == 10.0
        assert again.card["parent"] == "abc"
        assert learner(guided=False).projection().card["guidance"] is None

    def test_what_is_cut_short_goes_on_to_the_same_bytes(self, tmp_path):
        class Killed:
            def update(self, done: int, total: int) -> None:
                if done == 12:
                    raise KeyboardInterrupt

        settings = replace(SMALL, objective="margin", steps=20)  # it draws triplets, too
        fit(learner(settings), 20, folder=tmp_path / "whole", every=5)
        with pytest.raises(KeyboardInterrupt):
            fit(learner(settings), 20, folder=tmp_path / "cut", every=5, progress=Killed())  # type: ignore[arg-type]
        again, alone = learner(settings), learner(settings)
        fit(again, 20, folder=tmp_path / "cut", every=5)
        fit(alone, 20)
        assert again.projection().content() == alone.projection().content()
        files = [sorted((tmp_path / of).iterdir()) for of in ("whole", "cut")]
        assert [f.read_bytes() for f in files[0]] == [f.read_bytes() for f in files[1]]
        for other in (replace(settings, seed=1), replace(settings, objective="triplet")):
            with pytest.raises(Refused, match="a run of other data or settings"):
                fit(learner(other), 20, folder=tmp_path / "cut")
        with pytest.raises(Refused, match="a run of other data or settings"):
            fit(learner(settings, Guidance(shift=0.0)), 20, folder=tmp_path / "cut")

    def test_a_loss_that_is_no_number_stops_with_step_and_batch_and_keeps_the_checkpoint(
        self, tmp_path
    ):
        broken = learner(replace(SMALL, rate=1e30))
        with pytest.raises(Refused, match=r"is (inf|nan) at step (\d+) \(batch of images \d") as no:
            fit(broken, 40, folder=tmp_path, every=1)
        lines = (tmp_path / "curve.jsonl").read_text().splitlines()
        assert f"at step {len(lines)} " in str(no.value)
        assert json.loads(lines[-1])["step"] == len(lines) - 1
        assert (tmp_path / "checkpoint.safetensors").exists()

    @pytest.mark.parametrize(
        ("changed", "reason"),
        [
            ({"objective": "contrastive"}, "there is no 'contrastive', but multisimilarity;"),
            ({"steps": 0}, "steps, dim and rate are above 0"),
        ],
    )
    def test_settings_that_are_not_known_are_refused(self, changed, reason):
        with pytest.raises(Refused, match=reason):
            replace(SMALL, **changed)

    def test_bad_input_is_named(self):
        vectors, classes, language = world()
        with pytest.raises(Refused, match="240 for 239 vectors"):
            MetricLearner(vectors[1:], classes, SMALL)
        with pytest.raises(Refused, match="words of 15 for 16"):
            MetricLearner(vectors, classes, SMALL, Language(language.rows[1:]))
        with pytest.raises(Refused, match="words of 16 for 240"):
            MetricLearner(vectors, classes, SMALL, replace(language, of_images=True))
        with pytest.raises(Refused, match="NaN"):
            MetricLearner(np.full_like(vectors, np.nan), classes, SMALL)


class TestOtherWaysToGuide:
    def test_pairs_are_chosen_by_words_and_weigh_by_images(self):
        E = torch.tensor([[1, 0], [0.8, 0.6], [0.6, 0.8], [0, 1]], dtype=torch.float64)
        y = torch.tensor([0, 0, 1, 1])
        by_images = multisimilarity(E, y)
        assert multisimilarity(E, y, judged=E @ E.T).item() == by_images.item()
        far = torch.full((4, 4), -2.0, dtype=torch.float64)  # no negative is hard, each positive is
        near = math.log1p(math.exp(-2 * (0.8 - 0.5)))
        wanted = math.log1p(math.exp(near)) / 2 + math.log(2) / 40
        assert multisimilarity(E, y, judged=far).item() == pytest.approx(wanted)

    def test_a_share_of_words_in_mining_and_a_network_that_foretells_words(self):
        alone = learner(guidance=Guidance(weight=0.0))
        mined = learner(guidance=Guidance(weight=0.0, mining=0.5))
        foretold = learner(guidance=Guidance(weight=0.0, prediction=1.0))
        first = [one.step(0) for one in (alone, mined, foretold)]
        assert first[0]["loss"] != first[1]["loss"]
        assert first[0]["loss"] == first[2]["loss"]
        for number in range(1, 30):
            last = foretold.step(number)
        assert last["prediction"] < 0.8 * first[2]["prediction"]


class TestOtherWaysToCompare:
    E = torch.tensor([[1, 0], [0.8, 0.6], [0, 1]], dtype=torch.float64)
    y = torch.tensor([0, 0, 1])
    L = torch.tensor([[1, 1, 0.5], [1, 1, 0.5], [0.5, 0.5, 1]], dtype=torch.float64)

    def test_the_whole_matrix_is_one_distribution(self):
        images = torch.tensor([[2, 2, 0], [2, 2, 0.6], [0, 0.6, 2]], dtype=torch.float64)
        words = torch.tensor([[2, 2, 1.5], [2, 2, 1.5], [1.5, 1.5, 2]], dtype=torch.float64)
        P, Q = (of.flatten().softmax(0) for of in (images, words))
        wanted = (P * (P / Q).log()).sum().item()
        assert matching(self.E, self.y, self.L, compare="matrix").item() == pytest.approx(wanted)

    def test_the_distance_is_that_of_rows(self):
        found = matching(self.E, self.y, self.L, compare="distance", shift=0.0).item()
        assert found == pytest.approx((0.5 + 0.1 + (0.5**2 + 0.1**2) ** 0.5) / 3)

    def test_another_way_is_refused(self):
        with pytest.raises(Refused, match="'cosine' is neither rows, matrix nor distance"):
            matching(self.E, self.y, self.L, compare="cosine")  # type: ignore[arg-type]
