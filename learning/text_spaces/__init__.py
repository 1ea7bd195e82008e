"""Spaces in which a catalog's pictures and texts meet."""
