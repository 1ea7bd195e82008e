"""Published tables, made again from their own data."""
