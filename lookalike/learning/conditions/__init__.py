"""Similarity under conditions: what compares two images in one respect."""
