"""What an embedding does on classes that it has not seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import torch

from lookalike.core.arrays import Float32s, Ints
from lookalike.learning.engine.determinism import one_thread
from lookalike.learning.losses.matching import matching
from lookalike.learning.metric.language import Language
from lookalike.metrics.classes import class_retrieval, cluster_agreement
from lookalike.stats.defined_values import mean_defined

MEASURES = ("R@1", "R@1, other products", "mAP@R", "NMI")
NEAREST = 20


def divergence(vectors: Float32s, codes: Ints, language: Language) -> float:
    """Return how far the similarities of images are from those of their words.

    Source: Roth, Vinyals and Akata (CVPR 2022), equation 2 over all images at once, as in their
    section 4.5.

    Args:
        vectors: unit rows, shape (n, d).
        codes: classes of the images.
        language: of the classes, or of these images.
    """
    words = language.of(np.arange(len(codes)), codes)
    with one_thread(), torch.no_grad():
        found = matching(torch.from_numpy(vectors), torch.from_numpy(codes), words)
    return float(found)


def neighbour_words(vectors: Float32s, codes: Ints, language: Language) -> float:
    """Return how alike images' words are with those of their nearest images of other classes.

    Source: Roth, Vinyals and Akata (CVPR 2022), section 4.5 and Figure 3, which counts the classes
    of the nearest 20; here the query's own class does not count, and the mean is taken.

    Args:
        vectors: unit rows, shape (n, d).
        codes: classes of the images, two or more.
        language: of the classes, or of these images.
    """
    cosines = vectors @ vectors.T
    cosines[codes[:, None] == codes] = -np.inf
    k = min(NEAREST, int((cosines > -np.inf).sum(axis=1).min()))
    nearest = np.argpartition(-cosines, k - 1, axis=1)[:, :k]
    words = language.of(np.arange(len(codes)), codes).numpy()
    return float(np.take_along_axis(words, nearest, axis=1).mean())


def class_scores(
    vectors: Float32s,
    codes: Ints,
    products: Sequence[str],
    languages: Mapping[str, Language],
    seed: int,
) -> dict[str, float]:
    """Return each of MEASURES, and for each language "KL to NAME" and "neighbours' NAME".

    Args:
        vectors: unit rows of the images asked about, shape (n, d).
        codes: their classes.
        products: their products; a nearest image of the same one tells little.
        languages: by name.
        seed: of the clusters' start.
    """
    groups = [product or f"image {row}" for row, product in enumerate(products)]
    among_all = class_retrieval(vectors, codes)
    others = class_retrieval(vectors, codes, groups=groups)
    clusters = cluster_agreement(vectors, codes, seed=seed, n_starts=1)
    values = (
        float(mean_defined(among_all.precision_at_1)[0]),
        float(mean_defined(others.precision_at_1)[0]),
        float(mean_defined(among_all.map_at_r)[0]),
        float(clusters.nmi[0]),
    )
    found = dict(zip(MEASURES, values, strict=True))
    for name, language in languages.items():
        found[f"KL to {name}"] = divergence(vectors, codes, language)
        found[f"neighbours' {name}"] = neighbour_words(vectors, codes, language)
    return found
