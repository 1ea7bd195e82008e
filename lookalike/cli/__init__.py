"""The command `lookalike`."""
