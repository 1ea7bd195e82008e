"""What can be wrong with a backbone. Messages name the model and what to do."""

from __future__ import annotations

from collections.abc import Sequence

from lookalike.core.did_you_mean import did_you_mean


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


def require_known(name: str, known: Sequence[str], problem: str) -> None:
    """Pass if the name is known.

    Args:
        name: what was asked for.
        known: what there is.
        problem: the message up to the name.

    Raises:
        UnknownModelError: with near matches, or with what there is.
    """
    if name not in known:
        raise UnknownModelError(f"{problem} {name!r}. {did_you_mean(name, known)}")
