"""Combiners: an image and a text together ask for an image, learned in a text space."""
