"""The page of a catalog's map, with the pairs of a pool on it."""
