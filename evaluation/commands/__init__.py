"""The sub-commands of `python -m evaluation`, one module each with a function `add_to`."""
