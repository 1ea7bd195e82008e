"""A whole network that learns from a catalog's pictures."""
