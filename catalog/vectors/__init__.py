"""Stored vectors of a catalog, and those derived from them."""
