"""A campaign opened from a pool."""
