"""Turn JSON into dataclasses; fields that a newer site adds are left out."""

from __future__ import annotations

import dataclasses
import types
from datetime import datetime
from typing import Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from lookalike.client.errors import UnexpectedAnswerError

Made = TypeVar("Made")


def made(kind: type[Made], data: Any) -> Made:
    """Return `data` as an instance of the dataclass `kind`.

    Raises:
        UnexpectedAnswerError: a field is missing or of another type.
    """
    try:
        return cast(Made, _value(kind, data))
    except (KeyError, TypeError, ValueError, AttributeError) as problem:
        raise UnexpectedAnswerError(f"This is no {kind.__name__}: {problem!r}") from problem


def _value(kind: Any, data: Any) -> Any:
    origin = get_origin(kind)
    if origin in {Union, types.UnionType}:
        if data is None:
            return None
        [inner] = [one for one in get_args(kind) if one is not type(None)]
        return _value(inner, data)
    if origin is list:
        return [_value(get_args(kind)[0], one) for one in data]
    if origin is dict:
        return {str(name): _value(get_args(kind)[1], one) for name, one in data.items()}
    return _whole(kind, data) if dataclasses.is_dataclass(kind) else _plain(kind, data)


def _whole(kind: Any, data: Any) -> Any:
    hints = get_type_hints(kind)
    names = [field.name for field in dataclasses.fields(kind)]
    return kind(**{name: _value(hints[name], data[name]) for name in names})


def _plain(kind: Any, data: Any) -> Any:
    if kind is datetime:
        return datetime.fromisoformat(str(data).replace("Z", "+00:00"))
    if kind is Any or isinstance(data, kind):
        return data
    if kind is float and isinstance(data, int):
        return float(data)
    raise TypeError(f"{data!r} is not {kind.__name__}")
