"""A catalog's vectors laid out in the plane, so that people can look at all of them at once."""

from __future__ import annotations

import re
import warnings
from importlib.metadata import version

import numpy as np
from numpy.typing import NDArray

from lookalike.core.arrays import Float32s
from lookalike.core.progress import SILENT, Progress
from lookalike.search.filters import Filters
from lookalike.search.numpy_search import top_k

N_NEIGHBOURS = 15
MIN_DISTANCE = 0.1
LEAST = N_NEIGHBOURS + 1  # points; of fewer, each is a neighbour of all others
BLOCK = 4096  # points whose neighbours are searched between two reports


def map_card(seed: int) -> dict[str, object]:
    """Return all that decides how the same vectors are laid out."""
    return {
        "method": "UMAP",
        "metric": "cosine",
        "n_neighbours": N_NEIGHBOURS,
        "min_distance": MIN_DISTANCE,
        "start": "PCA",
        "seed": seed,
        "umap-learn": version("umap-learn"),
    }


def planar_map(
    vectors: NDArray[np.floating], *, seed: int = 0, progress: Progress = SILENT
) -> Float32s:
    """Lay vectors out in the unit square so that near ones stay near (UMAP, cosine).

    L. McInnes, J. Healy, J. Melville: UMAP (arXiv:1802.03426), over exact neighbours, begun at
    the first two principal components. Distances between far groups mean little. The same
    vectors and seed give the same map on one machine and one version of the library.

    Args:
        vectors: shape (n, d), finite; a vector of length zero is near nothing.
        seed: of the layout.
        progress: told how many neighbours are found, then how many epochs are done.

    Returns:
        Shape (n, 2), in [0, 1]; both axes have one scale. Fewer than sixteen vectors, which are
        all neighbours, are shown by their principal components alone.

    Raises:
        ValueError: not two-dimensional, or holding NaN or infinity.

    >>> planar_map(np.array([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]])).round(2)
    array([[0.  , 0.42],
           [0.61, 0.61],
           [1.  , 0.39]], dtype=float32)
    """
    if vectors.ndim != 2 or not np.isfinite(vectors).all():
        raise ValueError(f"Expected finite vectors (n, d), got shape {vectors.shape}.")
    rows = np.asarray(vectors, np.float32)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    units: Float32s = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)
    start = principal_plane(units)
    if len(units) < LEAST:
        return in_unit_square(start)
    neighbours = nearest_others(units, N_NEIGHBOURS, progress)
    return in_unit_square(_layout(units, neighbours, start, seed, progress))


def principal_plane(units: Float32s) -> Float32s:
    """Return the first two principal components, shape (n, 2); zeros where there are fewer."""
    from sklearn.decomposition import PCA  # noqa: PLC0415  (slow to load)

    start = np.zeros((len(units), 2), np.float32)
    n_found = min(2, *units.shape) if len(units) > 1 else 0
    if n_found and np.ptp(units, axis=0).any():
        start[:, :n_found] = PCA(n_found, random_state=0).fit_transform(units)
    return start


def nearest_others(
    units: Float32s, n_neighbours: int, progress: Progress = SILENT
) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """Return each point and its nearest others, and their cosine distances, shape (n, k)."""
    n = len(units)
    k = min(n_neighbours, n)
    indices = np.empty((n, k), np.int32)
    distances = np.zeros((n, k), np.float32)
    indices[:, 0] = own = np.arange(n)
    progress.start(0, n, "Finding each image’s neighbours", is_long=True)
    for begin in range(0, n, BLOCK):
        part = slice(begin, min(begin + BLOCK, n))
        found = top_k(units[part], units, k - 1, filters=Filters(own=own[part]))
        indices[part, 1:] = found.indices
        distances[part, 1:] = np.clip(1 - found.scores, 0, 2)
        progress.update(part.stop)
    return indices, distances


class _Epochs:
    """A file that reads from a progress bar how many epochs are done, and tells it."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress

    def write(self, text: str) -> None:
        if (found := re.search(r"(\d+)/(\d+)", text)) is not None:
            self._progress.update(int(found[1]), int(found[2]))

    def flush(self) -> None:
        pass


def _layout(
    units: Float32s,
    neighbours: tuple[NDArray[np.int32], NDArray[np.float32]],
    start: Float32s,
    seed: int,
    progress: Progress,
) -> Float32s:
    progress.start(0, None, "Loading the layout’s compiled code", is_long=True)
    from umap import UMAP  # noqa: PLC0415  (loads numba, which compiles)

    scale = np.abs(start).max()
    progress.start(0, None, "Laying the images out")
    progress.update(0, is_long=True)
    with warnings.catch_warnings():
        # one thread for the seed's sake, and no index for points to come: both are meant
        warnings.filterwarnings("ignore", module="umap")
        model = UMAP(
            n_neighbors=neighbours[0].shape[1],
            min_dist=MIN_DISTANCE,
            metric="cosine",
            init=start * (10 / scale) if scale > 0 else "random",
            random_state=seed,
            precomputed_knn=neighbours,
            tqdm_kwds={
                "file": _Epochs(progress), "disable": False, "bar_format": "{n_fmt}/{total_fmt}"
            },
        )  # fmt: skip
        points: Float32s = np.asarray(model.fit_transform(units), np.float32)
    return points


def in_unit_square(points: Float32s) -> Float32s:
    """Move and scale points into [0, 1]², the narrower axis in the middle."""
    if not len(points):
        return points
    low, high = points.min(axis=0), points.max(axis=0)
    size = float((high - low).max())
    if not size > 0:
        return np.full_like(points, 0.5)
    placed: Float32s = ((points - (low + high) / 2) / size + 0.5).clip(0, 1)
    return placed
