"""Embeddings learned from a catalog's classes or products, as models of pools."""
