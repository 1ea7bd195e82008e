"""Asking for a pool: the form, what it will cost, whether it is possible."""
