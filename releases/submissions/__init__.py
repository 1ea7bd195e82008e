"""Runs submitted to a release: checked, scored, published."""
