"""What the pages of a result show beyond its numbers: scores of pairs, heads of lists, proposers.

Kept as one .npz file by content hash, since it is too large for a row of the database.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
from django.conf import settings
from numpy.typing import NDArray

from lookalike.core.arrays import Ints
from lookalike.core.atomic_files import write_atomically
from lookalike.io.errors import InputError

HEAD = 8


@dataclass(frozen=True)
class Details:
    """Arrays behind one result.

    Attributes:
        models: shape (n_models,), names.
        generators: shape (n_generators,), names of the pool's models; empty without a pool.
        query_ids: shape (n_queries,), image ids in the order of `by_query`.
        pair_queries: shape (n_pairs,), positions in `query_ids`.
        pair_candidates: shape (n_pairs,), image ids.
        labels: shape (n_pairs,), 1 for similar.
        scores: shape (n_models, n_pairs), -inf where a model has none, NaN where the pair is
            not compared (the query's own product).
        heads: shape (n_models, n_queries, HEAD), image ids of the best candidates, 0 past the
            end of a list.
        proposed: shape (n_generators, n_pairs), who proposed which labelled pair.
    """

    models: NDArray[np.str_]
    generators: NDArray[np.str_]
    query_ids: Ints
    pair_queries: Ints
    pair_candidates: Ints
    labels: NDArray[np.int8]
    scores: NDArray[np.float32]
    heads: Ints
    proposed: NDArray[np.bool_]

    def place(self, model: str) -> int:
        """Return where a model stands in `models`.

        Raises:
            InputError: it is not there.
        """
        places = np.flatnonzero(self.models == model)
        if not places.size:
            raise InputError(f"the result has no scores of {model}; evaluate again")
        return int(places[0])

    def labels_of(self, queries: Sequence[int]) -> dict[tuple[int, int], int]:
        """Return {(position of the query, image id): label} of some queries, by position."""
        rows = np.flatnonzero(np.isin(self.pair_queries, queries))
        pairs = zip(
            self.pair_queries[rows].tolist(), self.pair_candidates[rows].tolist(), strict=True
        )
        return dict(zip(pairs, self.labels[rows].tolist(), strict=True))

    def unique_positives(self, generator: str) -> Ints:
        """Return the labelled similar pairs that this model alone proposed."""
        at = np.flatnonzero(self.generators == generator)
        if not at.size:
            return np.zeros(0, np.int64)
        mine = self.proposed[int(at[0])]
        return np.flatnonzero(mine & (self.proposed.sum(axis=0) == 1) & (self.labels == 1))


def details_path(sha256: str) -> Path:
    """Return where the file of that content lies (or would lie)."""
    return Path(settings.DATA_DIR) / "results" / sha256[:2] / f"{sha256}.npz"


def store_details(details: Details) -> str:
    """Store the arrays whole or not at all, and return their SHA-256."""
    buffer = io.BytesIO()
    np.savez(buffer, **{field.name: getattr(details, field.name) for field in fields(Details)})
    sha256 = hashlib.sha256(buffer.getbuffer()).hexdigest()
    path = details_path(sha256)
    if not path.exists() or path.read_bytes() != buffer.getbuffer():  # a damaged one is mended
        write_atomically(path, lambda file: file.write(buffer.getbuffer()))
    return sha256


def load_details(sha256: str) -> Details:
    """Return stored arrays.

    Raises:
        InputError: the file is gone or damaged; the message says what to do.
    """
    try:
        content = details_path(sha256).read_bytes()
    except OSError as problem:
        raise InputError(
            f"the scores behind this result cannot be read ({problem}); evaluate again"
        ) from problem
    if hashlib.sha256(content).hexdigest() != sha256:
        raise InputError("the file of the scores behind this result is damaged; evaluate again")
    with np.load(io.BytesIO(content), allow_pickle=False) as stored:
        return Details(**{field.name: stored[field.name] for field in fields(Details)})
