"""The runs that an evaluation scores: uploaded ones, and those of embedding sets."""
