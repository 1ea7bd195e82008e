"""The Combiner: its formula, its size, its training, and what it answers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from torch.nn.functional import cross_entropy, normalize

from lookalike.conditional.template_scores import baseline_queries
from lookalike.core.errors import Refused
from lookalike.core.progress import Silent
from lookalike.learning.compose.combiner import Combiner, TrainedCombiner, Widths
from lookalike.learning.compose.composers import (
    BagComposer,
    BaselineComposer,
    CombinerComposer,
    ObjectComposer,
    ValueComposer,
)
from lookalike.learning.compose.training import (
    CombinerLearner,
    CombinerTraining,
    ComposedTriplets,
    fit_combiner,
)
from lookalike.learning.engine.determinism import stream
from lookalike.learning.engine.loop import CHECKPOINT, CURVE

EYE = np.eye(8, dtype=np.float32)
WIDTHS = Widths(8, 16, 32, 0.2)
TRAINING = CombinerTraining(epochs=12, batch=32, rate=3e-3, scale=20.0)


def drawn(n: int = 300) -> tuple[np.ndarray, np.ndarray, ComposedTriplets]:
    """Images of four things (0-3) on four grounds (4-7), and triplets that change the ground."""
    rng = stream(0, "combiner")
    codes = rng.integers(0, 4, (n, 2))
    images = EYE[codes[:, 0]] + EYE[4 + codes[:, 1]]
    images = (images + 0.1 * rng.standard_normal(images.shape)).astype(np.float32)
    rows: list[tuple[int, int, int]] = []
    while len(rows) < 400:
        one, other = rng.integers(n, size=2)
        if codes[one, 0] == codes[other, 0] and codes[one, 1] != codes[other, 1]:
            rows.append((one, other, codes[other, 1]))
    return images, EYE[4:], ComposedTriplets(("a", "b", "c", "d"), np.array(rows))


def learner(**changed) -> CombinerLearner:
    images, texts, triplets = drawn()
    return CombinerLearner(images, texts, triplets, WIDTHS, replace(TRAINING, **changed))


class TestNetwork:
    @pytest.mark.parametrize(("dim", "n"), [(640, 59_003_521), (512, 57_692_673)])
    def test_it_has_as_many_parameters_as_the_papers(self, dim, n):
        with torch.device("meta"):
            assert sum(one.numel() for one in Combiner(Widths(dim)).parameters()) == n

    def test_without_weights_it_is_half_of_each(self):
        network = Combiner(WIDTHS).eval()
        for parameter in network.parameters():
            torch.nn.init.zeros_(parameter)
        v, t = torch.randn(3, 8), torch.randn(3, 8)
        assert_allclose(network(v, t).detach(), normalize(0.5 * t + 0.5 * v, dim=1), atol=1e-6)

    def test_it_computes_the_papers_formula_with_the_text_first(self):
        network = Combiner(WIDTHS).eval()
        v, t = torch.randn(3, 8), torch.randn(3, 8)
        a, b = (m(x).relu() for m, x in ((network.text, t), (network.image, v)))
        z = torch.cat([a, b], dim=1)
        share = torch.sigmoid(network.share(network.gate(z).relu()))
        raw = network.out(network.joint(z).relu()) + share * t + (1 - share) * v
        assert_allclose(network(v, t).detach(), normalize(raw, dim=1).detach(), atol=1e-6)
        with torch.no_grad():  # the gate is the text's share
            network.share.bias.fill_(50)
            network.out.weight.zero_()
            network.out.bias.zero_()
        assert_allclose(network(v, t).detach(), normalize(t, dim=1), atol=1e-6)

    def test_it_drops_numbers_while_it_learns_alone(self):
        network = Combiner(Widths(8, 16, 32, 0.5))
        v, t = torch.randn(3, 8), torch.randn(3, 8)
        assert not torch.equal(network(v, t), network(v, t))
        network.eval()
        assert torch.equal(network(v, t), network(v, t))

    def test_a_file_of_it_comes_back(self, tmp_path):
        made = TrainedCombiner(Combiner(WIDTHS).eval(), {"reader": "x"})
        made.save(tmp_path / "c.safetensors")
        again = TrainedCombiner.load(tmp_path / "c.safetensors")
        assert again.card["reader"] == "x"
        assert_allclose(again.queries(EYE, EYE), made.queries(EYE, EYE), rtol=0, atol=0)
        with pytest.raises(Refused, match=r"images \(2, 4\) and texts \(2, 4\) where \(n, 8\)"):
            again.queries(EYE[:2, :4], EYE[:2, :4])

    def test_a_file_of_something_else_is_refused(self, tmp_path):
        (tmp_path / "c.safetensors").write_bytes(b"nothing of the kind")
        with pytest.raises(Refused, match=r"combiner: c.safetensors is no Combiner"):
            TrainedCombiner.load(tmp_path / "c.safetensors")
        with pytest.raises(FileNotFoundError):
            TrainedCombiner.load(tmp_path / "absent")


class TestTraining:
    def test_a_step_minimises_the_papers_loss(self):
        images, texts, triplets = drawn()
        one = CombinerLearner(images, texts, triplets, replace(WIDTHS, dropout=0.0), TRAINING)
        at = stream(TRAINING.seed, "triplets", 0).permutation(len(triplets.rows))[:32]
        r, t, c = triplets.rows[at].T
        queries = one.network(torch.from_numpy(images[r]), torch.from_numpy(texts[c])).detach()
        logits = queries @ normalize(torch.from_numpy(images[t]), dim=1).T / 0.05
        expected = cross_entropy(logits, torch.arange(32)).item()
        assert one.step(0)["loss"] == pytest.approx(expected, abs=2e-6)

    def test_the_rate_falls_from_epoch_to_epoch_along_a_cosine_to_a_thousandth(self):
        one, rates = learner(epochs=3), []
        for number in range(one.n_steps):
            one.step(number)
            rates.append(one._adam.rate)
        each = one.n_steps // 3
        wanted = [TRAINING.rate * (0.001 + 0.999 * share) for share in (1.0, 0.75, 0.25)]
        assert rates == pytest.approx(np.repeat(wanted, each))

    def test_it_learns_to_change_what_is_said_and_to_keep_the_rest(self):
        trained = fit_combiner(learner(), {"reader": "x"})
        query = trained.queries(EYE[:1] + EYE[5:6], EYE[6:7])  # thing 0 on ground 1, "ground 2"
        kinds = np.array([EYE[a] + EYE[4 + b] for a in range(4) for b in range(4)])
        assert (kinds @ query[0]).argmax() == 2
        both = baseline_queries(EYE[:1] + EYE[5:6], EYE[6:7], "image_text")
        margin = np.sort(kinds @ query[0])[-2:]
        plain = np.sort(kinds @ both[0])[-2:]
        assert margin[1] - margin[0] > plain[1] - plain[0]

    def test_the_same_seed_gives_the_same_bytes_and_another_does_not(self):
        first, again = (fit_combiner(learner(epochs=1), {}).queries(EYE, EYE) for _ in range(2))
        assert first.tobytes() == again.tobytes()
        assert fit_combiner(learner(epochs=1, seed=1), {}).queries(EYE, EYE).tobytes() != (
            first.tobytes()
        )

    def test_a_run_that_was_stopped_ends_in_the_same_bytes(self, tmp_path):
        class Stop(Silent):
            def update(self, n_done, *_, **__):
                if n_done == 17:
                    raise KeyboardInterrupt

        whole, cut = tmp_path / "whole", tmp_path / "cut"
        fit_combiner(learner(epochs=2), {}, folder=whole, every=5)
        with pytest.raises(KeyboardInterrupt):
            fit_combiner(learner(epochs=2), {}, folder=cut, every=5, progress=Stop())
        fit_combiner(learner(epochs=2), {}, folder=cut, every=5)
        for name in (CHECKPOINT, CURVE):
            assert (cut / name).read_bytes() == (whole / name).read_bytes()

    def test_a_checkpoint_of_another_recipe_is_refused(self, tmp_path):
        fit_combiner(learner(epochs=1), {}, folder=tmp_path)
        with pytest.raises(Refused, match="holds a run of other data or settings"):
            fit_combiner(learner(epochs=1, rate=1e-2), {}, folder=tmp_path)

    def test_a_loss_that_is_no_number_stops_with_step_and_batch(self):
        one = learner()
        with torch.no_grad():
            one.network.out.bias.fill_(float("nan"))
        with pytest.raises(Refused, match=r"loss: is nan at step 3 \(epoch 0, batch 3, triplets"):
            one.step(3)

    def test_triplets_of_unknown_images_are_refused_by_name(self):
        with pytest.raises(Refused, match="triplet 2 names 'z', of which there is no vector"):
            ComposedTriplets.of([("a", "b", "x"), ("a", "z", "x")], {"a": 0, "b": 1})
        with pytest.raises(Refused, match="triplets: there is none"):
            ComposedTriplets.of([], {})
        found = ComposedTriplets.of([("a", "b", "x"), ("b", "a", "y")], {"a": 4, "b": 7})
        assert (found.conditions, found.rows.tolist()) == (("x", "y"), [[4, 7, 0], [7, 4, 1]])

    @pytest.mark.parametrize(
        ("changed", "reason"),
        [
            (
                {"rows": np.array([[0, 1, 0], [0, 900, 0]])},
                r"triplet 1 is \[0, 900, 0\], there are",
            ),
            ({"rows": np.array([[0, 1, 4], [0, 1, 0]])}, r"300 images and 4 conditions"),
            ({"rows": np.array([[0, 1, 0]])}, "with n from 2"),
            ({"images": np.full((300, 8), np.nan, np.float32)}, "images: vector 1 holds NaN"),
            ({"texts": np.zeros((4, 8), np.float32)}, "texts: vector 1 has length 0"),
            ({"texts": np.ones((4, 5), np.float32)}, r"where \(n, 8\) is needed"),
        ],
    )
    def test_what_cannot_be_learnt_from_is_refused(self, changed, reason):
        images, texts, triplets = drawn()
        rows = changed.pop("rows", triplets.rows)
        said = {"images": images, "texts": texts} | changed
        with pytest.raises(Refused, match=reason):
            CombinerLearner(
                said["images"], said["texts"], replace(triplets, rows=rows), WIDTHS, TRAINING
            )

    @pytest.mark.parametrize("wrong", [{"batch": 1}, {"epochs": 0}, {"rate": 0.0}, {"seed": -1}])
    def test_settings_that_make_no_sense_are_refused(self, wrong):
        with pytest.raises(Refused, match="training"):
            CombinerTraining(**wrong)
        with pytest.raises(Refused, match="widths"):
            Widths(8, dropout=1.0)


class TestComposers:
    texts = {"red": EYE[4], "blue": EYE[5], "colour": EYE[7]}
    reference = EYE[0] + EYE[4]
    candidates = np.array([EYE[0] + EYE[5], EYE[1] + EYE[5], EYE[0] + EYE[4]])

    @pytest.mark.parametrize(
        ("baseline", "best"), [("image", {2}), ("text", {0, 1}), ("image_text", {0, 2})]
    )
    def test_baselines_look_for_image_text_or_half_of_each(self, baseline, best):
        scores = BaselineComposer(baseline, self.texts.__getitem__).scores(
            self.reference, self.candidates, "blue"
        )
        assert set(np.flatnonzero(scores > scores.max() - 1e-9)) == best

    def test_half_of_each_weighs_raw_lengths_unless_told_otherwise(self):
        raw, even = (
            BaselineComposer("image_text", {"x": EYE[1]}.__getitem__, normalised).scores(
                10 * EYE[0], EYE[:2], "x"
            )
            for normalised in (False, True)
        )
        assert_allclose(raw, [0.995037, 0.099504], atol=1e-6)
        assert_allclose(even, [0.707107, 0.707107], atol=1e-6)

    def test_a_combiner_scores_candidates_by_what_it_makes(self):
        combiner = TrainedCombiner(Combiner(WIDTHS).eval(), {})
        scores = CombinerComposer(combiner, self.texts.__getitem__).scores(
            self.reference, self.candidates, "blue"
        )
        query = combiner.queries(self.reference[None], self.texts["blue"][None])[0]
        expected = self.candidates @ query / np.linalg.norm(self.candidates, axis=1)
        assert_allclose(scores, expected, atol=1e-6)

    def test_the_value_of_the_reference_is_told_and_looked_for(self):
        composer = ValueComposer({"colour": EYE[4:6]})
        assert composer.scores(self.reference, self.candidates, "colour").argmax() == 2
        with pytest.raises(Refused, match="no values are known of 'cut'"):
            composer.scores(self.reference, self.candidates, "cut")

    def test_the_object_of_the_reference_is_told_and_looked_for_with_the_condition(self):
        read = []

        def both(name, condition):
            read.append((name, condition))
            return EYE[0] + self.texts[condition]

        composer = ObjectComposer(["bag", "shoe"], EYE[:2], both)
        assert composer.scores(self.reference, self.candidates, "blue").argmax() == 0
        assert read == [("bag", "blue")]

    def test_of_bags_of_words_the_condition_comes_first_and_the_scene_second(self):
        words = ("car", "tree", "sky", "dog")
        shown = {"ref": [1, 1, 1, 0], "same scene": [1, 1, 1, 0], "with it": [0, 1, 1, 1],
                 "it alone": [0, 0, 0, 1]}  # fmt: skip
        vectors = np.array(list(shown.values()), np.float32)
        composer = BagComposer(words, lambda rows: rows > 0.5)
        changed = composer.scores(vectors[0], vectors[1:], "dog")
        assert_allclose(changed, [1.0, 1 + 2 / 3, 1.0])
        focused = composer.scores(vectors[0], vectors[1:], "car")
        assert focused.argmax() == 0
        with pytest.raises(Refused, match="'cat' is none of the words"):
            composer.scores(vectors[0], vectors[1:], "cat")
