"""Similarity that is learnt: from words, from labels, from triplets."""
