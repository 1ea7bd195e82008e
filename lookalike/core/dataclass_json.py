"""Trees of dataclasses as JSON and back.

NaN and infinities become null, which is what JSON has for "undefined"; a null where a plain
number belongs is read as NaN.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from functools import cache
from types import NoneType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

T = TypeVar("T")


def as_json(value: object) -> Any:
    """Return a dataclass, or a tree of them, as dicts, lists, strings and numbers.

    A dataclass with a method `as_json` of its own is asked for its JSON.

    Args:
        value: a dataclass, mapping, sequence or scalar.

    Returns:
        What `json.dumps` takes as it is.

    >>> as_json({"a": (float("nan"), 1, None)})
    {'a': [None, 1, None]}
    """
    if dataclasses.is_dataclass(value):
        if hasattr(value, "as_json"):
            return value.as_json()
        return {f.name: as_json(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(k): as_json(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_json(v) for v in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value


def from_json(kind: type[T], value: Any) -> T:
    """Return the dataclass that `as_json` wrote; a field that is not there has its default.

    A dataclass with a class method `from_json` of its own reads itself.

    Args:
        kind: the dataclass. Its fields are dataclasses, scalars, or lists, tuples of any length
            and dicts by string of such; any of these or None.
        value: what `as_json` returned, now or in an earlier version.

    Raises:
        TypeError: a field without a default is not there.
    """
    read: T = _read(kind, value)
    return read


def _read(kind: Any, value: Any) -> Any:
    if kind is float:
        return math.nan if value is None else float(value)
    if value is None or _is_plain(kind):
        return value
    if dataclasses.is_dataclass(kind):
        return _read_dataclass(kind, value)
    origin, (first, *others) = get_origin(kind), get_args(kind)
    if origin is dict:
        return {name: _read(others[0], entry) for name, entry in value.items()}
    if origin in (list, tuple):
        return origin(_read(first, entry) for entry in value)
    return _read(next(of for of in (first, *others) if of is not NoneType), value)


def _read_dataclass(kind: Any, value: Mapping[str, Any]) -> Any:
    if hasattr(kind, "from_json"):
        return kind.from_json(value)
    present = {name: of for name, of in _fields(kind).items() if name in value}
    return kind(**{name: _read(of, value[name]) for name, of in present.items()})


@cache
def _is_plain(kind: Any) -> bool:
    """Whether a type is read as it stands in the JSON."""
    if kind in (str, int, bool, Any, NoneType):
        return True
    args = get_args(kind)
    if NoneType in args:
        return all(_is_plain(of) or of is float for of in args)
    return get_origin(kind) in (list, dict) and all(map(_is_plain, args))


@cache
def _fields(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind)
