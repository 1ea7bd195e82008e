"""Retrieval by an image and a condition: the network that joins both, and what it has to beat."""
