"""The sub-commands of `python -m conditional`."""
