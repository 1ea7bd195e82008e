"""What can be wrong with a backbone. Messages name the model and what to do."""

from __future__ import annotations


class BackboneError(Exception):
    """A backbone cannot be used; the message says which, why, and what to do."""


class SpecError(BackboneError, ValueError):
    """The text does not name a backbone."""


class UnknownModelError(BackboneError):
    """The library that the spec names has no such model or no such weights."""


class WeightsUnavailableError(BackboneError):
    """The model is known, but its weights are not here and could not be fetched."""


class WeightsError(BackboneError):
    """The weights are here, but are damaged, unsafe to read, or do not fit the model."""
