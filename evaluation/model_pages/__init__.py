"""The pages of one model, and of two models against each other."""
