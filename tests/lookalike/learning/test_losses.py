"""The losses: numbers worked out by hand, the authors' formulas, and another library."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import pytest
import torch
from torch.nn.functional import cosine_similarity, normalize

from lookalike.core.errors import Refused
from lookalike.learning.engine.determinism import stream
from lookalike.learning.losses.infonce import infonce
from lookalike.learning.losses.margin import distance_weighted, margin_loss, negative_weights
from lookalike.learning.losses.matching import language_rows, matching
from lookalike.learning.losses.multisimilarity import multisimilarity
from lookalike.learning.losses.pairs import sides_of
from lookalike.learning.losses.s2sd import Distillation, s2sd
from lookalike.learning.losses.triplet import triplet_loss

LABELS = torch.arange(20) // 4


def batch(n: int = 20, dim: int = 8, seed: int = 0) -> torch.Tensor:
    drawn = stream(seed, "batch").standard_normal((n, dim))
    return normalize(torch.from_numpy(drawn), dim=1).requires_grad_()


def slope(loss: torch.Tensor, of: torch.Tensor) -> torch.Tensor:
    return torch.autograd.grad(loss, of)[0]


class TestMultisimilarity:
    E = torch.tensor([[1, 0], [0.8, 0.6], [0.6, 0.8], [0, 1]], dtype=torch.float64)
    y = torch.tensor([0, 0, 1, 1])

    @pytest.mark.parametrize(("form", "value"), [("official", 0.634247), ("original", 0.339372)])
    def test_the_golden_batch(self, form, value):
        assert multisimilarity(self.E, self.y, form=form).item() == pytest.approx(value, abs=1e-6)

    def test_the_golden_batch_mines_a_pair_of_each_sort_in_two_of_its_columns(self):
        near, far = 2 * 0.437488 / 4, 2 * 18.4 / 4  # means over four columns
        official = math.log1p(math.exp(near)) / 2 + math.log1p(math.exp(far)) / 40
        found = [multisimilarity(self.E, self.y, form=of).item() for of in ("official", "original")]
        assert found == pytest.approx([official, near / 2 + far / 40], abs=1e-6)

    @pytest.mark.parametrize("form", ["official", "original"])
    def test_it_is_the_formula_written_out_pair_by_pair(self, form):
        E = batch()
        S = (E @ E.T).tolist()
        near, far = [], []
        for i in range(20):
            own = [S[i][j] for j in range(20) if j != i and LABELS[j] == LABELS[i]]
            others = [S[i][j] for j in range(20) if LABELS[j] != LABELS[i]]
            hard = [s for s in own if s - 0.1 < max(others)]
            easy = [s for s in others if s + 0.1 > min(own)]
            near.append(math.log(1 + sum(math.exp(-2 * (s - 0.5)) for s in hard)))
            far.append(math.log(1 + sum(math.exp(40 * (s - 0.5)) for s in easy)))
        if form == "official":
            both = [math.log1p(math.exp(sum(of) / 20)) for of in (near, far)]
            wanted = both[0] / 2 + both[1] / 40
        else:
            wanted = sum(near) / 20 / 2 + sum(far) / 20 / 40
        assert multisimilarity(E, LABELS, form=form).item() == pytest.approx(wanted, rel=1e-9)

    def test_the_original_form_and_its_slope_are_those_of_another_library(self):
        from pytorch_metric_learning import losses, miners

        X = batch(40, 16)
        E, y = normalize(X, dim=1), torch.arange(40) // 3  # theirs takes the length away
        theirs = losses.MultiSimilarityLoss(alpha=2, beta=40, base=0.5)(
            E, y, miners.MultiSimilarityMiner(epsilon=0.1)(E, y)
        )
        ours = multisimilarity(E, y, form="original")
        assert ours.item() == pytest.approx(theirs.item(), rel=1e-6)
        torch.testing.assert_close(
            torch.autograd.grad(ours, X, retain_graph=True)[0],
            slope(theirs, X),
            rtol=1e-5,
            atol=1e-9,
        )

    @pytest.mark.parametrize("form", ["official", "original"])
    def test_its_slope_is_that_of_small_differences(self, form):
        loss = partial(multisimilarity, labels=LABELS[:8], form=form)
        assert torch.autograd.gradcheck(loss, batch(8, 3), eps=1e-7)

    @pytest.mark.parametrize("labels", [torch.zeros(20).long(), torch.arange(20)])
    def test_without_pairs_of_one_sort_nothing_pulls(self, labels):
        E = batch()
        loss = multisimilarity(E, labels)
        assert loss.item() == pytest.approx(math.log(2) / 2 + math.log(2) / 40)
        assert not slope(loss, E).any()

    def test_a_form_that_is_not_known_is_refused(self):
        with pytest.raises(Refused, match="neither official nor original"):
            multisimilarity(self.E, self.y, form="wang")  # type: ignore[arg-type]

    def test_labels_of_another_batch_are_refused(self):
        with pytest.raises(Refused, match=r"\(3,\) labels for vectors of shape \(4, 2\)"):
            multisimilarity(self.E, self.y[:3])


class TestMargin:
    def test_both_parts_of_a_triplet_count_once(self):
        near, far = torch.tensor([1.3, 0.5]), torch.tensor([1.1, 1.6])
        assert margin_loss(near, far, torch.full((2,), 1.2)).item() == pytest.approx(0.6)

    def test_what_is_right_costs_nothing_and_is_not_divided_by_zero(self):
        near, far = torch.zeros(2), torch.full((2,), 2.0)
        assert margin_loss(near, far, torch.full((2,), 1.2)).item() == 0

    def test_the_boundary_moves_outwards_for_a_class_that_is_too_wide(self):
        boundary = torch.tensor([1.2], requires_grad=True)
        loss = margin_loss(torch.tensor([1.9]), torch.tensor([1.95]), boundary.expand(1))
        assert slope(loss, boundary).item() < 0

    def test_the_loss_is_that_of_another_library_where_it_counts_alike(self):
        from pytorch_metric_learning import losses

        E = batch()
        triplets = distance_weighted(E, LABELS, stream(0, "mine"))
        near, far = sides_of(E, triplets)
        boundaries = torch.full((len(near),), 1.2)
        theirs = losses.MarginLoss()(E, LABELS, tuple(triplets.T)).item()
        parts = (near - 1.0 > 0).sum() + (1.4 - far > 0).sum()  # it counts both parts of a triplet
        either = ((near - 1.0 > 0) | (1.4 - far > 0)).sum()
        ours = margin_loss(near, far, boundaries).item()
        assert ours == pytest.approx(theirs * int(parts) / int(either), rel=1e-5)


class TestDistanceWeightedMining:
    def test_the_golden_weights(self):
        row = np.array([[0.3, 0.7, 1.0, 1.3]])
        weights = negative_weights(row, np.ones((1, 4), bool), 4)
        np.testing.assert_allclose(weights, [[0.501166, 0.26429, 0.14008, 0.094459]], atol=5e-6)

    def test_a_vector_opposite_to_the_anchor_has_a_finite_weight(self):
        weights = negative_weights(np.array([[2.0, 1.0, 0.0]]), np.array([[1, 1, 0]]) > 0, 512)
        assert np.isfinite(weights).all()
        assert weights.sum() == pytest.approx(1)
        assert weights[0, 2] == 0

    def test_negatives_are_drawn_as_often_as_they_weigh(self):
        E, counts = batch(), np.zeros((20, 20))
        for number in range(500):
            anchors, positives, negatives = distance_weighted(E, LABELS, stream(1, "m", number)).T
            assert (LABELS[anchors] == LABELS[positives]).all()
            assert (anchors != positives).all()
            counts[anchors, negatives] += 1
        apart = torch.cdist(E, E).detach().numpy()
        other = (LABELS[:, None] != LABELS).numpy()
        wanted = negative_weights(apart, other, 8)
        assert not counts[~other].any()
        assert np.abs(counts / 500 - wanted).max() < 0.1

    def test_one_alone_is_its_own_positive_and_one_class_has_no_triplets(self):
        labels = torch.tensor([0, 0, 1])
        triplets = distance_weighted(batch(3), labels, stream(0, "mine"))
        assert triplets[2, 1] == 2
        assert not len(distance_weighted(batch(3), torch.zeros(3).long(), stream(0, "mine")))


class TestMatching:
    E = torch.tensor([[1, 0], [0.8, 0.6], [0, 1]], dtype=torch.float64)
    y = torch.tensor([0, 0, 1])
    L = torch.tensor([[1, 1, 0.5], [1, 1, 0.5], [0.5, 0.5, 1]], dtype=torch.float64)

    @pytest.mark.parametrize(
        ("settings", "value"),
        [
            ({}, 0.105847),
            ({"direction": "forward"}, 0.132447),
            ({"temperature": 2.0}, 0.145799),
            ({"shift": 0.0}, 0.014740),
        ],
    )
    def test_the_golden_batch(self, settings, value):
        assert matching(self.E, self.y, self.L, **settings).item() == pytest.approx(value, abs=1e-6)

    def test_the_golden_distributions_are_what_pulls(self):
        P = torch.tensor([[0.468311, 0.468311, 0.063379], [0.445118, 0.445118, 0.109765],
                          [0.097932, 0.178444, 0.723624]], dtype=torch.float64)  # fmt: skip
        Q = torch.tensor([[0.383652, 0.383652, 0.232697]] * 2 + [[0.274069, 0.274069, 0.451863]],
                         dtype=torch.float64)  # fmt: skip
        assert ((P * (P / Q).log()).sum() / 3).item() == pytest.approx(0.105847, abs=2e-6)
        E = self.E.clone().requires_grad_()
        pull = torch.where(self.y[:, None] == self.y, 0, P - Q) / 3  # of a forward step
        found = slope(matching(E, self.y, self.L, direction="forward"), E)
        torch.testing.assert_close(found, (pull + pull.T) @ self.E, rtol=0, atol=2e-6)

    def test_how_alike_images_of_a_class_are_does_not_matter(self):
        G = (batch(6, 4) @ batch(6, 4).T).detach() + 2 * torch.eye(6)
        y, words = torch.arange(6) // 2, torch.rand(6, 6, dtype=torch.float64)

        def changed(i: int, j: int) -> float:
            other = G.clone()
            other[i, j] = other[j, i] = G[i, j] + 0.1
            return matching(torch.linalg.cholesky(other), y, words).item()

        as_it_is = matching(torch.linalg.cholesky(G), y, words).item()
        assert [changed(0, 0), changed(2, 3)] == pytest.approx([as_it_is] * 2, abs=1e-12)
        assert changed(0, 2) != pytest.approx(as_it_is, abs=1e-4)

    def test_it_is_zero_only_where_images_are_a_shift_more_alike_than_words(self):
        E = batch(6, 4).detach()
        y = torch.arange(6) // 2
        met = E @ E.T - 1
        assert matching(E, y, met).item() == pytest.approx(0, abs=1e-12)
        missed = met.clone()
        missed[0, 5] += 0.1
        assert matching(E, y, missed).item() > 1e-5

    @pytest.mark.parametrize("direction", ["backward", "forward"])
    def test_it_is_never_below_zero(self, direction):
        for seed in range(5):
            words = batch(20, 3, seed + 50).detach()
            loss = matching(batch(seed=seed), LABELS, words @ words.T, direction=direction)
            assert loss.item() >= 0

    @pytest.mark.parametrize("settings", [
        {}, {"temperature": 2.0, "direction": "forward"}, {"mask": "image", "shift": 0.5},
        {"compare": "matrix", "temperature": 0.5},
    ])  # fmt: skip
    def test_its_slope_is_how_it_changes(self, settings):
        words = batch(8, 3, 9).detach()

        def loss(E: torch.Tensor) -> torch.Tensor:
            given = matching(E, LABELS[:8], words @ words.T, **settings)
            shared = matching(E, LABELS[:8], words @ words.T, cosines=E @ E.T, **settings)
            return (given + shared) / 2

        assert torch.autograd.gradcheck(loss, (batch(8),))

    def test_nothing_flows_to_the_words_nor_to_pairs_of_a_class(self):
        E, words = batch(), batch(20, 3, 9)
        assert slope(matching(E, LABELS, words @ words.T), E).any()
        loss = matching(E, LABELS, words @ words.T)
        assert [*torch.autograd.grad(loss, words, allow_unused=True)] == [None]
        one_class = torch.zeros(20).long()
        loss = matching(E, one_class, words @ words.T)
        assert loss.item() == pytest.approx(0, abs=1e-12)
        assert not slope(loss, E).any()

    def test_the_order_of_a_batch_does_not_matter(self):
        E, words = batch(), batch(20, 3, 9).detach()
        order = torch.from_numpy(stream(0, "order").permutation(20))
        turned = matching(E[order], LABELS[order], words[order] @ words[order].T)
        assert turned.item() == pytest.approx(matching(E, LABELS, words @ words.T).item())

    def test_the_masks_differ_only_where_a_class_has_several_words(self):
        by_class = language_rows(batch(5, 3, 9).detach()[LABELS])
        by_image = language_rows(batch(20, 3, 9).detach())
        for rows, is_same in ((by_class, True), (by_image, False)):
            both, image = (matching(batch(), LABELS, rows @ rows.T, mask=m).item()
                           for m in ("both", "image"))  # fmt: skip
            assert (both == pytest.approx(image, abs=1e-12)) is is_same

    def test_the_same_word_several_times_is_that_word_and_others_are_averaged_as_similarities(self):
        words = stream(0, "words").standard_normal((4, 3, 5))
        rows = language_rows(torch.from_numpy(words))
        alike = [cosine_similarity(torch.from_numpy(words[0, k]), torch.from_numpy(words[1, k]), 0)
                 for k in range(3)]  # fmt: skip
        assert (rows[0] @ rows[1]).item() == pytest.approx(torch.stack(alike).mean().item())
        one = torch.from_numpy(words[:, :1])
        several = language_rows(one.expand(4, 7, 5))
        torch.testing.assert_close(
            several @ several.T, language_rows(one[:, 0]) @ language_rows(one).T
        )

    def test_a_word_without_direction_is_named(self):
        words = torch.ones(3, 2, 4)
        words[1, 1] = 0
        with pytest.raises(Refused, match="word 2 of row 1 has no direction"):
            language_rows(words)

    @pytest.mark.parametrize("settings", [{"direction": "up"}, {"mask": "none"}])
    def test_a_setting_that_is_not_known_is_refused(self, settings):
        with pytest.raises(Refused, match="is neither"):
            matching(self.E, self.y, self.L, **settings)


class TestS2sd:
    loss = staticmethod(partial(multisimilarity, labels=LABELS))

    def test_branches_that_agree_leave_the_loss_as_it_is(self):
        E = batch()
        assert s2sd(self.loss, E, [E, E], E).item() == pytest.approx(self.loss(E).item())

    def test_it_is_the_authors_formula(self):
        E, branch, features = batch(), batch(20, 12, 1), batch(20, 30, 2) * 3
        teachers = [branch @ branch.T, normalize(features, dim=1) @ normalize(features, dim=1).T]
        follow = [
            torch.nn.functional.kl_div(
                (E @ E.T).log_softmax(1), S.detach().softmax(1), reduction="batchmean"
            ) for S in teachers
        ]  # fmt: skip
        wanted = (self.loss(E) + self.loss(branch)) / 2 + 3 * follow[0] + 5 * follow[1]
        found = s2sd(self.loss, E, [branch], features, Distillation(3.0, 5.0))
        assert found.item() == pytest.approx(wanted.item())
        torch.testing.assert_close(slope(found, E), slope(wanted, E))

    def test_teachers_learn_nothing_from_what_follows_them(self):
        E, branch, features = batch(), batch(20, 12, 1), batch(20, 30, 2)
        alone = slope(self.loss(branch) / 2, branch)
        total = s2sd(self.loss, E, [branch], features, Distillation(100.0, 100.0))
        torch.testing.assert_close(slope(total, branch), alone)

    def test_no_branch_is_refused(self):
        with pytest.raises(Refused, match="needs a branch"):
            s2sd(self.loss, batch(), [], batch())


def test_infonce_is_the_cross_entropy_of_a_query_among_all_targets():
    Q, T = batch(), batch(seed=1)
    cosines = (100 * Q @ T.T).tolist()
    each = [math.log(sum(math.exp(s - row[i]) for s in row)) for i, row in enumerate(cosines)]
    assert infonce(Q, T).item() == pytest.approx(sum(each) / 20)
    with pytest.raises(Refused, match="for queries"):
        infonce(Q, T[:3])


def test_the_triplet_loss_is_that_of_torch():
    E = batch()
    triplets = distance_weighted(E, LABELS, stream(0, "mine"))
    near, far = sides_of(E, triplets)
    anchors, positives, negatives = E[triplets.T]
    peer = torch.nn.functional.triplet_margin_loss(anchors, positives, negatives, margin=0.2, eps=0)
    assert triplet_loss(near, far).item() == pytest.approx(peer.item(), rel=1e-6)


@pytest.mark.parametrize("compare", ["rows", "matrix", "distance"])
def test_a_slope_is_the_same_wherever_the_cosines_come_from(compare):
    torch.manual_seed(0)
    E = normalize(torch.randn(8, 5, dtype=torch.float64), dim=1).requires_grad_()
    words = normalize(torch.randn(8, 3, dtype=torch.float64), dim=1)
    labels = torch.arange(8) // 2

    def slope(cosines: torch.Tensor | None) -> torch.Tensor:
        found = matching(E, labels, words @ words.T, compare=compare, cosines=cosines)
        return torch.autograd.grad(found, E)[0]

    for cosines in (E @ E.T, (E @ E.T).detach()):
        torch.testing.assert_close(slope(cosines), slope(None))
