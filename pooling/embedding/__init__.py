"""Embedding sets made by workers, shard by shard."""
