"""Frozen, verifiable benchmark releases: written once, checked offline, cited by version."""
