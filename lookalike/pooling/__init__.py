"""Efficient discovery of similarities (EDS): what goes into a pool, and what that costs."""
