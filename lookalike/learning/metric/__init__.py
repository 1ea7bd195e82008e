"""Embeddings learnt from classes, guided by language."""
