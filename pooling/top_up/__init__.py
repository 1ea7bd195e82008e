"""A finished pool that gains sources or depth."""
