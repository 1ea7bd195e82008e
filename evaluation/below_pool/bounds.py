"""Ranks that bound the strata below a pool; apart from the draw, which loads networks."""

from __future__ import annotations

BOUNDS = (20, 100, 500)
