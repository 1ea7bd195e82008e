"""Pools: made, filled, settled, shown."""
