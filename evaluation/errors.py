"""What a person gave and cannot be evaluated."""


class InputError(ValueError):
    """Input that cannot be evaluated; the message tells its giver why."""
