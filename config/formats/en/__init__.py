"""In English the day comes first, and there are 24 hours."""
