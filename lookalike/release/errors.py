"""What a person gave that is no release, or none that this program can read."""

from lookalike.io.errors import InputError


class ReleaseError(InputError):
    """A release that cannot be read, built or compared; the message says what is wrong."""
