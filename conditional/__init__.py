"""Conditional similarity: images alike given a condition, as RetrievalTemplates and as triplets."""
