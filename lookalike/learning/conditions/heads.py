"""A linear head for each condition, learnt from its triplets: the bound that labels give."""

from __future__ import annotations

import numpy as np
import torch
from torch.nn.functional import normalize

from lookalike.core.arrays import Float32s, Ints
from lookalike.core.progress import SILENT, Progress
from lookalike.learning.engine.adam import Adam
from lookalike.learning.engine.determinism import normal, one_thread, stream
from lookalike.learning.losses.triplet import triplet_loss
from lookalike.learning.projection import Layer, Layers, check_vectors

MARGIN = 0.2
RATE = 1e-2
BATCH = 512


def fit_head(
    vectors: Float32s,
    triplets: Ints,
    dim: int,
    *,
    seed: int,
    epochs: int = 10,
    progress: Progress = SILENT,
) -> Layers:
    """Return a linear map under which the closer image of each triplet is nearer.

    Source: the triplet loss on squared distances of unit vectors with margin 0.2, as in Veit,
    Belongie and Karaletsos, "Conditional Similarity Networks" (CVPR 2017). In place of a mask on
    a network's last layer, each condition has a linear layer on vectors that stay as they are.

    Args:
        vectors: shape (n, d).
        triplets: shape (m, 3), rows of anchor, closer and farther image.
        dim: of the map.
        seed: of its start and of the batches.
        epochs: how often each triplet is seen.
        progress: told the epochs.

    Raises:
        Refused: a vector holds NaN or has length 0.
    """
    check_vectors("vectors", vectors)
    X = normalize(torch.from_numpy(np.array(vectors, np.float32)), dim=1)
    W = normal((dim, X.shape[1]), X.shape[1] ** -0.5, stream(seed, "head"))
    adam = Adam([W], RATE)
    with one_thread(), torch.enable_grad():
        for epoch in range(epochs):
            order = stream(seed, "triplets", epoch).permutation(len(triplets))
            for start in range(0, len(order), BATCH):
                rows = torch.from_numpy(triplets[order[start : start + BATCH]])
                mapped = normalize(X[rows.flatten()] @ W.T, dim=1).reshape(len(rows), 3, dim)
                near = (mapped[:, 0] - mapped[:, 1]).square().sum(dim=1)
                far = (mapped[:, 0] - mapped[:, 2]).square().sum(dim=1)
                adam.step(triplet_loss(near, far, margin=MARGIN))
            progress.update(epoch + 1, epochs)
    card = {"method": "triplet head", "dim": dim, "seed": seed, "n_triplets": len(triplets),
            "epochs": epochs}  # fmt: skip
    return Layers(X.shape[1], (Layer.linear(W.detach().numpy()),), card)
