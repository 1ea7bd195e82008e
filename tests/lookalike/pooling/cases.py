"""Proposals as rows."""

from __future__ import annotations

import numpy as np

from lookalike.pooling.eds import Proposals


def proposals_of(rows):
    """Proposals from (query, candidate, model, rank)."""
    table = np.array(rows, np.int64).reshape(-1, 4)
    query, candidate, model, rank = table.T
    return Proposals(query, candidate, model, rank, np.zeros(len(table), np.float32), n_models=3)
