"""Frozen, verifiable benchmark releases: derived, checked and compared offline."""
