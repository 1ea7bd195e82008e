"""The baselines of InDiReCT, and projections in files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.decomposition import PCA

from lookalike.backbones.protocol import unit_rows
from lookalike.core.errors import Refused
from lookalike.learning.notions.autoencoders import autoencoder, linear_autoencoder, oracle
from lookalike.learning.notions.closed_forms import (
    principal_components,
    prompt_span,
    random_transformation,
    random_vectors,
    raw,
)
from lookalike.learning.projection import Layer, Layers

RNG = np.random.default_rng(0)
TEXTS = RNG.standard_normal((9, 12), np.float32)
IMAGES = RNG.standard_normal((40, 12), np.float32)


def test_raw_vectors_only_get_length_one():
    assert_allclose(raw(12).apply(IMAGES), unit_rows(IMAGES), atol=1e-6)
    assert raw(12).dim == 12


def test_random_baselines_are_fixed_by_their_numbers():
    a, b = (random_vectors(7, 5, np.random.default_rng(3)) for _ in range(2))
    assert a.tobytes() == b.tobytes()
    assert_allclose(np.linalg.norm(a, axis=1), 1, atol=1e-6)
    one, two = (random_transformation(12, 5, seed=s, rng=np.random.default_rng(s)) for s in (0, 1))
    assert one.fingerprint != two.fingerprint
    assert one.dim == 5


def test_pca_is_that_of_scikit_learn_with_the_mean_of_the_prompts():
    ours = principal_components(TEXTS, 4)
    theirs = PCA(4, svd_solver="full").fit(unit_rows(TEXTS)).transform(unit_rows(IMAGES))
    assert_allclose(np.abs(ours.apply(IMAGES)), np.abs(unit_rows(theirs)), atol=1e-5)


def test_pca_says_how_many_directions_it_has():
    found = principal_components(TEXTS, 128)
    assert found.dim == 8
    assert found.card["wanted_dim"] == 128
    assert found.card["dim"] == 8


def test_the_span_holds_every_prompt_and_nothing_else():
    found = prompt_span(TEXTS, 128)
    W = found.layers[0].weight
    assert found.dim == 9
    assert_allclose(W @ W.T, np.eye(9), atol=1e-5)
    X = unit_rows(TEXTS)
    assert_allclose(X @ W.T @ W, X, atol=1e-5)


def test_the_span_of_equal_prompts_is_one_direction():
    assert prompt_span(np.repeat(TEXTS[:1], 3, axis=0), 8).dim == 1


def test_a_linear_autoencoder_reconstructs_as_well_as_pca():
    X = unit_rows(TEXTS)
    centred = X - X.mean(axis=0)
    best = float((np.linalg.svd(centred)[1][3:] ** 2).sum())
    found = linear_autoencoder(TEXTS, 3, seed=0, n_most=800)
    code = X @ found.layers[0].weight.T + found.layers[0].bias
    design = np.hstack([code, np.ones((9, 1), np.float32)])
    left = X - design @ np.linalg.lstsq(design, X, rcond=None)[0]
    assert float((left**2).sum()) == pytest.approx(best, rel=0.05)
    assert found.dim == 3


def test_the_autoencoder_has_a_hidden_layer_and_the_same_bytes_again():
    a, b = (autoencoder(TEXTS, 3, seed=5, n_most=30) for _ in range(2))
    assert [layer.weight.shape for layer in a.layers] == [(512, 12), (3, 512)]
    assert a.fingerprint == b.fingerprint
    assert a.apply(IMAGES).tobytes() == b.apply(IMAGES).tobytes()


def test_the_oracle_draws_classes_together():
    labels = np.arange(40) % 4
    cosines = oracle(IMAGES, labels, 6, seed=0).apply(IMAGES)
    same = labels[:, None] == labels
    S = cosines @ cosines.T
    assert S[same].mean() > S[~same].mean() + 0.5
    with pytest.raises(Refused, match="at least two classes"):
        oracle(IMAGES, np.zeros(40), 6, seed=0)


def test_a_projection_is_the_same_from_its_file(tmp_path: Path):
    for projection in (raw(12), prompt_span(TEXTS, 4), autoencoder(TEXTS, 3, seed=0, n_most=2)):
        path = tmp_path / "p.safetensors"
        projection.save(path)
        read = Layers.load(path)
        assert read.fingerprint == projection.fingerprint
        assert read.apply(IMAGES).tobytes() == projection.apply(IMAGES).tobytes()


def test_a_leaky_relu_is_between_layers_alone():
    doubled = Layers(
        2,
        (Layer.linear(-np.eye(2, dtype=np.float32)), Layer.linear(np.eye(2, dtype=np.float32))),
        {},
        slope=0.5,
    )
    assert_allclose(
        doubled.apply(np.array([[0.6, -0.8]], np.float32)),
        unit_rows(np.array([[-0.3, 0.8]], np.float32)),
    )


def test_a_damaged_file_is_refused_and_a_missing_one_is_an_error(tmp_path: Path):
    path = tmp_path / "p.safetensors"
    prompt_span(TEXTS, 4).save(path)
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(Refused, match=r"p\.safetensors is no projection"):
        Layers.load(path)
    with pytest.raises(FileNotFoundError):
        Layers.load(tmp_path / "none.safetensors")


def test_vectors_that_do_not_fit_are_refused():
    with pytest.raises(Refused, match=r"shape \(40, 11\) where \(n, 12\) is needed"):
        raw(12).apply(IMAGES[:, :11])
    bad = IMAGES.copy()
    bad[3] = np.nan
    with pytest.raises(Refused, match="vector 4 holds NaN"):
        prompt_span(TEXTS, 4).apply(bad)
