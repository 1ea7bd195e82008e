"""Pairs below a pool: a drawn sample, and how many positives it says there are."""
