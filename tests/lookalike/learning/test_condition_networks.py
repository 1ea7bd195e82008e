"""Networks for several conditions: their parts by hand, and what they learn of a small world."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.nn.functional import normalize

from lookalike.conditional.criterion import measure, seen_by
from lookalike.core.errors import Refused
from lookalike.learning.conditions.branches import BRANCHES, ConditionBranch, overlap
from lookalike.learning.conditions.networks import (
    METHODS,
    Architecture,
    ConditionNetwork,
    fuse,
)
from lookalike.learning.conditions.training import ConditionLearner, Training, fit_conditions
from lookalike.learning.conditions.triplets import (
    ConditionTriplets,
    draw_conditions,
    half_reversed,
)
from lookalike.learning.engine.determinism import stream
from lookalike.learning.losses.pairs import Sides, distances
from lookalike.learning.losses.triplet import triplet_loss

SMALL = Architecture("CSN", n_conditions=2, dim=8, hidden=0)
N = 120


def world() -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Images of two attributes with four values each, on axes of their own."""
    rng = stream(0, "world")
    codes = {name: rng.integers(0, 4, N) for name in ("colour", "cut")}
    vectors = np.hstack([np.eye(4)[of] for of in codes.values()])
    return (vectors + 0.2 * rng.standard_normal((N, 8))).astype(np.float32), codes


def drawn(n: int = 300, purpose: str = "learnt") -> ConditionTriplets:
    return draw_conditions(world()[1], np.ones(N, bool), n, seed=0, purpose=purpose)


def learner(
    architecture: Architecture = SMALL, *, epochs: int = 2, seed: int = 0
) -> ConditionLearner:
    how = Training(epochs=epochs, batch=64, rate=0.03, seed=seed)
    return ConditionLearner(world()[0], drawn(), architecture, how)


def parts(n: int = 6, dim: int = 8) -> torch.Tensor:
    return torch.from_numpy(stream(0, "parts").standard_normal((3, n, dim)).astype(np.float32))


class TestTriplets:
    def test_each_condition_has_as_many_and_half_of_them_are_reversed(self):
        triplets = drawn(31)
        swapped = half_reversed(triplets, stream(0, "reversed"))
        assert Counter(triplets.conditions.tolist()) == {0: 31, 1: 31}
        assert Counter(triplets.conditions[swapped].tolist()) == {0: 15, 1: 15}
        for (anchor, closer, farther), condition in zip(
            triplets.rows, triplets.conditions, strict=True
        ):
            codes = list(world()[1].values())[condition]
            assert codes[anchor] == codes[closer] != codes[farther]
            assert anchor != closer

    def test_images_that_are_held_out_are_in_no_triplet(self):
        seen = np.arange(N) % 3 > 0
        triplets = draw_conditions(world()[1], seen, 200, seed=0, purpose="learnt")
        assert seen[triplets.rows].all()

    def test_an_attribute_without_triplets_is_named(self):
        with pytest.raises(Refused, match="'cut': triplets need two values"):
            draw_conditions({"cut": np.zeros(9, np.int64)}, np.ones(9, bool), 5, seed=0, purpose="")

    def test_where_all_images_fall_together_half_is_right(self):
        triplets = drawn(40)
        table = triplets.table(half_reversed(triplets, stream(0, "reversed")))
        same = np.ones((len(table.images), 3), np.float32)
        assert measure(table, [seen_by(table, "one", same, "cosine")], 0).whole.accuracy == (
            pytest.approx(0.5)
        )


class TestBranches:
    @pytest.mark.parametrize("kind", BRANCHES)
    def test_weights_sum_to_one(self, kind):
        weights = ConditionBranch(kind, 8, 3).eval()(parts())
        assert weights.shape == (6, 3)
        torch.testing.assert_close(weights.sum(dim=1), torch.ones(6))

    def test_the_set_does_not_tell_candidates_apart_and_so_a_swap_negates_the_difference(self):
        torch.manual_seed(0)
        network = ConditionNetwork(8, replace(SMALL, method="DiscoverNet"))
        common = parts()
        weights, swapped = network.weights(common), network.weights(common[[0, 2, 1]])
        torch.testing.assert_close(weights, swapped)
        sides = Sides(torch.rand(6, 2), torch.rand(6, 2))
        there, back = fuse(sides, weights), fuse(Sides(sides.far, sides.near), swapped)
        torch.testing.assert_close(there.far - there.near, back.near - back.far)
        lstm = ConditionBranch("lstm", 8, 2)
        assert not torch.allclose(lstm(common), lstm(common[[0, 2, 1]]))

    def test_a_low_temperature_decides(self):
        logits = torch.tensor([1.0, 0.0, -1.0])
        branch = ConditionBranch("set", 3, 3, 0.1)
        with torch.no_grad():
            branch.anchors.copy_(torch.eye(3))
            for p in branch.last_layers.parameters():
                p.zero_()
            branch.last_layers[-1].bias.copy_(logits)  # type: ignore[index]
        wanted = torch.tensor([[0.999955, 0.000045, 0.0]])
        torch.testing.assert_close(branch(parts(1, 3)), wanted, atol=1e-6, rtol=0)
        branch.temperature = 1.0
        wanted = torch.tensor([[0.665241, 0.244728, 0.090031]])
        torch.testing.assert_close(branch(parts(1, 3)), wanted, atol=1e-6, rtol=0)

    def test_what_two_guesses_share(self):
        both = (
            torch.tensor([[0.7, 0.2, 0.1], [1, 0, 0]]),
            torch.tensor([[0.1, 0.3, 0.6], [1, 0, 0]]),
        )
        torch.testing.assert_close(overlap(*both), torch.tensor([0.4, 1.0]))

    def test_the_golden_triplet_is_told_apart_by_more_than_the_margin(self):
        sides = Sides(torch.tensor([[0.5, 0.9]]), torch.tensor([[1.0, 0.4]]))
        near, far = fuse(sides, torch.tensor([[0.8, 0.2]]))
        assert near.item() == pytest.approx(0.58)
        assert far.item() == pytest.approx(0.88)
        assert triplet_loss(near, far).item() == 0
        assert triplet_loss(near, far, margin=0.4).item() == pytest.approx(0.1)


class TestNetworks:
    @pytest.mark.parametrize(
        ("method", "is_residual"), [*((name, False) for name in METHODS), ("DiscoverNet", True)]
    )
    def test_rows_have_length_one_where_cosines_compare_them(self, method, is_residual):
        architecture = replace(SMALL, method=method, is_residual=is_residual)
        found = ConditionNetwork(8, architecture).embeddings(parts()[0])
        assert found.shape == (6, architecture.n_embeddings, 8)
        is_unit = torch.isclose(found.norm(dim=2), torch.ones(found.shape[:2])).all()
        assert bool(is_unit) is (architecture.metric == "cosine")
        assert architecture.metric == ("euclidean" if method == "CSN" else "cosine")

    def test_csn_gives_out_the_distances_that_it_learns_from(self):
        torch.manual_seed(0)
        network, vectors = ConditionNetwork(8, SMALL), parts()
        told = torch.arange(6) % 2
        anchors, closer, farther = (network.embeddings(of)[range(6), told] for of in vectors)
        near, far = distances(anchors, closer), distances(anchors, farther)
        length = sum(network.body(of).norm() / 6**0.5 for of in vectors) / 3
        rest = 5e-3 * length + 5e-4 * network.masks.relu()[told].sum() / 6
        by_hand = (near - far + 0.2).clamp(min=0).mean()
        assert by_hand > 0
        assert network.loss(vectors, told).item() == pytest.approx((by_hand + rest).item())

    def test_sce_net_joins_masked_vectors_by_what_it_guesses_of_all_three(self):
        torch.manual_seed(0)
        network, vectors = ConditionNetwork(8, replace(SMALL, method="SCE-Net")), parts()
        seen = network.body(vectors)
        guess = network.guess(torch.cat([normalize(of, dim=1) for of in seen], dim=1)).softmax(1)
        masked = normalize(network.masks.relu() * seen[:, :, None], dim=3)
        anchors, closer, farther = torch.einsum("nk,rnkd->rnd", guess, masked)
        wrong = (distances(anchors, closer) - distances(anchors, farther) + 0.2).clamp(min=0).mean()
        length = sum(of.norm() / 6**0.5 for of in seen) / 3
        wanted = wrong + 5e-3 * length + 5e-4 * network.masks.relu().sum() / 2
        assert wrong > 0
        assert network.loss(vectors, torch.zeros(6).long()).item() == pytest.approx(wanted.item())

    def test_the_best_condition_of_each_triplet_is_no_worse_than_that_of_a_batch(self):
        torch.manual_seed(0)
        network = ConditionNetwork(8, replace(SMALL, method="LSN"))
        each = network.loss(parts(), torch.zeros(6).long()).item()
        network.architecture = replace(SMALL, method="LSN", least_of_batch=True)
        assert each < network.loss(parts(), torch.zeros(6).long()).item()

    def test_squared_distances_are_those_of_equation_1(self):
        torch.manual_seed(0)
        network = ConditionNetwork(8, replace(SMALL, method="DiscoverNet", is_squared=True))
        vectors = parts(32)
        common = network.body(vectors)
        unit = normalize(torch.einsum("rnd,ked->rnke", common, network.maps), dim=3)
        near, far = ((unit[0] - unit[side]).square().sum(dim=2) for side in (1, 2))
        weights = network.weights(common)
        wanted = ((weights * (near - far)).sum(dim=1) + 0.2).clamp(min=0).mean()
        loss = network.loss(vectors, torch.zeros(32).long())
        assert loss.item() == pytest.approx(wanted.item(), rel=1e-4)

    @pytest.mark.parametrize("temperature", [1.0, 0.1])
    def test_conditions_are_matched_by_the_cosines_of_equation_7(self, temperature):
        torch.manual_seed(0)
        branch = ConditionBranch("regularised", 8, 3, temperature, is_cosine=True)
        plain = ConditionBranch("regularised", 8, 3, temperature)
        plain.load_state_dict(branch.state_dict())
        triplets = 20 * parts()
        g = branch.last_layers(
            torch.stack(
                [branch.body(torch.cat([triplets[a], triplets[b]], 1))
                 for a, b in ((0, 2), (0, 1), (2, 1))]
            ).amax(dim=0)
        )  # fmt: skip
        cosines = torch.cosine_similarity(g[:, None], branch.anchors[None], dim=2)
        torch.testing.assert_close(branch(triplets), (cosines / temperature).softmax(dim=1))
        assert not torch.allclose(branch(triplets), plain(triplets))

    @pytest.mark.parametrize("changes", [{}, {"is_masked": True}])
    def test_a_residual_map_adds_the_common_vector_as_equation_8(self, changes):
        torch.manual_seed(0)
        kind = replace(SMALL, method="DiscoverNet", is_residual=True, **changes)
        network, vectors = ConditionNetwork(8, kind), parts()[0]
        common = network.body(vectors)
        for place in range(2):
            wanted = normalize(common @ network.last_map(place).T, dim=1)
            torch.testing.assert_close(network.embeddings(vectors)[:, place], wanted)
        bare = ConditionNetwork(8, replace(kind, is_residual=False))
        bare.load_state_dict(network.state_dict())
        torch.testing.assert_close(network.last_map(0), bare.last_map(0) + torch.eye(8))

    def test_only_triplets_that_are_valid_both_ways_are_regularised(self):
        architecture = replace(SMALL, method="DiscoverNet", branch="concatenation")
        torch.manual_seed(1)
        network, common = ConditionNetwork(8, architecture), parts(32)
        network.branch.temperature = 0.01  # so that guesses differ
        plain = replace(architecture, branch="set")
        with torch.no_grad():
            full = network.loss(common, torch.zeros(32).long())
            network.architecture = plain
            without = network.loss(common, torch.zeros(32).long())
            seen = network.body(common)
            unit = normalize(torch.einsum("rnd,ked->rnke", seen, network.maps), dim=3)
            near, far = ((unit[0] - unit[side]).norm(dim=2) for side in (1, 2))
            w, back = network.weights(seen), network.weights(seen[[0, 2, 1]])
            both = ((w * (far - near)).sum(1) > 0) & ((back * (near - far)).sum(1) > 0)
            wanted = 0.1 * torch.minimum(w, back)[both].sum() * 2  # of a batch of 64
        assert both.any()
        assert not both.all()
        assert (full - without).item() == pytest.approx(wanted.item(), rel=1e-3)

    @pytest.mark.parametrize(
        ("changed", "reason"),
        [
            ({"method": "CSM"}, "there is no 'CSM'"),
            ({"branch": "sets"}, "there is no 'sets'"),
            ({"n_conditions": 0}, "needs a condition"),
            ({"is_residual": True}, "is_residual: is an option of DiscoverNet, not of CSN"),
            ({"method": "LSN", "is_masked": True}, "is_masked: .* not of LSN"),
            ({"method": "mixture", "is_squared": True}, "is_squared: .* DiscoverNet, not of mixt"),
            ({"temperature": 0.5}, "temperature: is an option of DiscoverNet, not of CSN"),
            ({"method": "DiscoverNet", "temperature": 0.0}, "temperature: 0.0 is not above 0"),
            ({"method": "LSN", "scale": 5.0}, "scale: is an option of mixture, not of LSN"),
        ],
    )
    def test_what_cannot_be_built_is_refused(self, changed, reason):
        with pytest.raises(Refused, match=reason):
            replace(SMALL, **changed)


class TestTraining:
    def test_conditions_that_are_told_are_learnt_and_a_mixture_finds_them_untold(self):
        asked = drawn(300, "asked")
        table = asked.table(half_reversed(asked, stream(0, "reversed")))
        rows = np.array([int(name) for name in table.images])
        found = {}
        for method in ("single", "CSN", "mixture"):
            kind = replace(SMALL, method=method)
            embeddings, metric = fit_conditions(learner(kind, epochs=10)), kind.metric
            seen = [seen_by(table, f"{n}", of[rows], metric) for n, of in enumerate(embeddings)]
            found[method] = measure(table, seen, 0).alignment.ot
        assert found["CSN"] > 0.93
        assert found["CSN"] > found["single"] + 0.05
        assert found["mixture"] > found["single"] + 0.05

    def test_what_is_cut_short_goes_on_to_the_same_bytes(self, tmp_path):
        class Killed:
            def update(self, done: int, total: int) -> None:
                if done == 12:
                    raise KeyboardInterrupt

        kind = replace(SMALL, method="DiscoverNet", branch="attention")  # leaves out at random
        whole = fit_conditions(learner(kind), folder=tmp_path / "whole", every=5)
        with pytest.raises(KeyboardInterrupt):
            fit_conditions(learner(kind), folder=tmp_path / "cut", every=5, progress=Killed())  # type: ignore[arg-type]
        again = fit_conditions(learner(kind), folder=tmp_path / "cut", every=5)
        assert whole.tobytes() == again.tobytes() == fit_conditions(learner(kind)).tobytes()
        files = [sorted((tmp_path / of).iterdir()) for of in ("whole", "cut")]
        assert [f.read_bytes() for f in files[0]] == [f.read_bytes() for f in files[1]]
        with pytest.raises(Refused, match="a run of other data or settings"):
            fit_conditions(learner(kind, seed=1), folder=tmp_path / "cut")

    def test_a_network_is_drawn_from_its_seed_alone(self):
        torch.manual_seed(1)
        one, other = learner(), learner(seed=1)
        torch.manual_seed(2)
        again = learner()
        assert torch.equal(one.network.masks, again.network.masks)
        assert not torch.equal(one.network.masks, other.network.masks)

    @pytest.mark.parametrize("branch", BRANCHES)
    def test_the_optimiser_holds_the_embedding_alone_unless_the_branch_is_to_be_trained(
        self, branch
    ):
        kind = replace(SMALL, method="DiscoverNet", branch=branch)
        one = learner(kind)
        before = {name: of.detach().clone() for name, of in one.network.named_parameters()}
        fit_conditions(one)
        for name, after in one.network.named_parameters():
            assert torch.equal(before[name], after) is name.startswith("branch."), name

    def test_a_frozen_branch_stays_as_it_was_drawn(self):
        kind = replace(SMALL, method="DiscoverNet")
        for is_trained in (True, False):
            one = learner(replace(kind, is_branch_trained=is_trained))
            before = one.network.branch.anchors.detach().clone()
            fit_conditions(one)
            assert torch.equal(before, one.network.branch.anchors) is not is_trained

    def test_a_start_is_kept_where_nothing_is_learnt_yet(self):
        vectors = world()[0]
        start = np.stack([np.diag([1.0] * 4 + [0.0] * 4), np.diag([0.0] * 4 + [1.0] * 4)])
        kind = replace(SMALL, method="DiscoverNet")
        one = ConditionLearner(vectors, drawn(), kind, Training(), start.astype(np.float32))
        wanted = vectors[:, :4] / np.linalg.norm(vectors[:, :4], axis=1, keepdims=True)
        np.testing.assert_allclose(one.embeddings()[0][:, :4], wanted, atol=1e-5)
        with pytest.raises(Refused, match="only DiscoverNet's maps"):
            ConditionLearner(vectors, drawn(), SMALL, Training(), start.astype(np.float32))

    def test_a_loss_that_is_no_number_stops_with_step_and_batch_and_keeps_the_checkpoint(
        self, tmp_path
    ):
        class Kept:
            def update(self, done: int, total: int) -> None:
                after.append((tmp_path / "checkpoint.safetensors").read_bytes())

        after: list[bytes] = []
        much = Training(batch=64, rate=1e30)
        broken = ConditionLearner(world()[0], drawn(), SMALL, much)
        with pytest.raises(Refused, match=r"is (inf|nan) at step 1 \(epoch 0, batch 1, rows \d"):
            fit_conditions(broken, folder=tmp_path, every=1, progress=Kept())  # type: ignore[arg-type]
        assert (tmp_path / "checkpoint.safetensors").read_bytes() == after[-1]
        assert len(after) == 1

    def test_bad_input_is_named(self):
        vectors, triplets = world()[0], drawn()
        beyond = replace(triplets, rows=triplets.rows + 60)
        with pytest.raises(Refused, match=r"triplet \d+ names an image that has no vector"):
            ConditionLearner(vectors, beyond, SMALL, Training())
        with pytest.raises(Refused, match="CSN needs one for each of the 2"):
            ConditionLearner(vectors, triplets, replace(SMALL, n_conditions=3), Training())
        with pytest.raises(Refused, match=r"shape \(0, 3\) is not"):
            ConditionLearner(vectors, replace(triplets, rows=triplets.rows[:0]), SMALL, Training())
        with pytest.raises(Refused, match="epochs, batch and rate"):
            Training(epochs=0)
        with pytest.raises(Refused, match="NaN"):
            ConditionLearner(np.full((N, 8), np.nan, np.float32), triplets, SMALL, Training())
