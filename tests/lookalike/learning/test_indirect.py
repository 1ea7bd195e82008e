"""InDiReCT: goldens worked by hand, and what must hold of every fit."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from torch.nn.functional import normalize

from lookalike.core.errors import Refused
from lookalike.learning.notions.descent import PATIENCE
from lookalike.learning.notions.indirect import (
    IndirectFit,
    fit_indirect,
    indirect_loss,
    safe_arccos,
)
from lookalike.learning.projection import Layer, Layers

X = [[1.0, 0.0, 0.0], [0.6, 0.8, 0.0], [0.0, 0.6, 0.8]]
PLAIN = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
SKEW = [[2.0, 1.0, 0.0], [0.0, 1.0, 1.0]]


def vectors(n: int, dim: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((n, dim), np.float32)


@pytest.fixture(scope="module")
def fit() -> IndirectFit:
    return fit_indirect(vectors(12, 8), 3, seed=0)


@pytest.mark.parametrize(
    ("U", "loss", "Z"),
    [
        (PLAIN, 0.309098, [[1, 0], [0.6, 0.8], [0, 1]]),
        (SKEW, 0.455857, [[1, 0], [0.928477, 0.371391], [0.393919, 0.919145]]),
    ],
)
def test_the_golden_losses_and_projections(U, loss, Z):
    assert float(indirect_loss(torch.tensor(U), torch.tensor(X))) == pytest.approx(loss, abs=1e-6)
    mapped = Layers(3, (Layer.linear(U),), {}).apply(np.array(X, np.float32))
    assert_allclose(mapped, Z, atol=1e-6)
    for scale in (0.01, 7.0):
        scaled = indirect_loss(scale * torch.tensor(U), torch.tensor(X))
        assert float(scaled) == pytest.approx(loss, abs=1e-6)


def test_the_arccos_is_zero_at_one_with_a_finite_slope_everywhere():
    x = torch.tensor([1.0, -1.0, 1.0000001, 0.5, 0.0], requires_grad=True)
    angles = safe_arccos(x)
    (slopes,) = torch.autograd.grad(angles.sum(), [x])
    assert float(angles[0].detach()) == 0.0
    expected = [0.0, math.pi, 0.0, math.pi / 3, math.pi / 2]
    assert_allclose(angles.detach(), expected, atol=1e-3)
    assert torch.isfinite(slopes).all()
    assert bool((slopes < 0).all())


def test_an_orthonormal_basis_of_the_prompts_loses_nothing():
    T = normalize(torch.from_numpy(vectors(4, 9)), dim=1)
    basis = torch.linalg.qr(T.T).Q.T
    assert float(indirect_loss(basis, T)) < 2e-3  # float32 is no finer near an angle of 0


def test_it_stops_a_hundred_iterations_after_the_best(fit):
    assert fit.last - fit.best == PATIENCE
    assert 0 < fit.loss < math.pi


def test_what_is_returned_has_the_best_loss_and_not_the_last(fit):
    T = normalize(torch.from_numpy(vectors(12, 8)), dim=1)
    U = torch.from_numpy(fit.projection.layers[0].weight)
    assert float(indirect_loss(U, T)) == pytest.approx(fit.loss, abs=1e-6)


def test_the_fit_beats_random_directions(fit):
    T = normalize(torch.from_numpy(vectors(12, 8)), dim=1)
    assert fit.loss < 0.9 * float(indirect_loss(torch.from_numpy(vectors(3, 8)), T))


def test_pictures_come_out_with_length_one_whatever_length_they_had(fit):
    images = vectors(5, 8, seed=1)
    mapped = fit.projection.apply(images)
    assert mapped.dtype == np.float32
    assert_allclose(np.linalg.norm(mapped, axis=1), 1, atol=1e-6)
    assert_allclose(fit.projection.apply(images * np.float32(9)), mapped, atol=1e-6)


def test_the_length_of_prompts_does_not_matter():
    lengths = np.array([[0.5], [2], [4]], np.float32)
    a, b = (
        fit_indirect(np.array(X, np.float32), 2, seed=1),
        fit_indirect(np.array(X, np.float32) * lengths, 2, seed=1),
    )
    assert b.loss == pytest.approx(a.loss, abs=1e-4)


def test_the_same_seed_gives_the_same_bytes_and_another_one_others(fit):
    again = fit_indirect(vectors(12, 8), 3, seed=0).projection
    assert again.fingerprint == fit.projection.fingerprint
    assert again.layers[0].weight.tobytes() == fit.projection.layers[0].weight.tobytes()
    other = fit_indirect(vectors(12, 8), 3, seed=1).projection
    assert other.fingerprint != again.fingerprint


def test_fewer_prompts_than_directions_are_enough():
    assert fit_indirect(vectors(3, 8), 6, seed=0).loss < 0.05


def test_a_start_at_the_span_has_nothing_left_to_lose():
    assert fit_indirect(vectors(3, 8), 6, seed=0, start="span", n_most=1).loss < 5e-3


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_prompts_without_a_direction_are_refused(bad):
    T = vectors(4, 8)
    T[2, 1] = bad
    with pytest.raises(Refused, match="prompts: vector 3 holds NaN or infinity"):
        fit_indirect(T, 2, seed=0)
    with pytest.raises(Refused, match="vector 1 has length 0"):
        fit_indirect(np.zeros((3, 8), np.float32), 2, seed=0)
