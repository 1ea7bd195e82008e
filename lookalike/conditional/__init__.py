"""Conditional similarity: images alike given a condition, as retrieval templates and triplets."""
