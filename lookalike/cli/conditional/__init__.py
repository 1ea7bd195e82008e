"""The sub-commands of `lookalike conditional`."""
