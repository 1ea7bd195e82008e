"""What a person gave and cannot be evaluated."""

from catalog.formats.errors import InputError

__all__ = ["InputError"]
