"""Values of any Arrow type as the text that they mean."""

from __future__ import annotations

import datetime
import json
import math
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

MOST = 2000  # characters of a list or structure; longer ones are data, not attributes
JOINT = "|"
_SHORT_BINARY = 64  # bytes; longer ones are files or vectors


def plain_array(column: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """Return a column without packing: codes, runs, views and extensions as their values."""
    kind = column.type
    if isinstance(kind, pa.BaseExtensionType):
        chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
        storage = [chunk.storage for chunk in chunks]
        return plain_array(pa.chunked_array(storage, type=column.type.storage_type))
    if pa.types.is_run_end_encoded(column.type):
        return plain_array(pc.run_end_decode(column))
    if pa.types.is_dictionary(column.type):
        return plain_array(column.cast(column.type.value_type))
    if getattr(column.type, "unit", "") != "ns":  # Python counts microseconds
        return column
    if pa.types.is_timestamp(column.type):
        return column.cast(pa.timestamp("us", column.type.tz), safe=False)
    kind = pa.duration("us") if pa.types.is_duration(column.type) else pa.time64("us")
    return column.cast(kind, safe=False)


def column_texts(column: pa.Array | pa.ChunkedArray) -> list[str] | None:
    """Return the values of a column as text, "" where there is none.

    Numbers, decimals, dates and times are written as people write them; bytes are UTF-8, or else
    short ones hexadecimal; lists are joined by `|`; structures are JSON.

    Returns:
        None for what is no text: vectors, files, and lists or structures of more than MOST
        characters.

    >>> column_texts(pa.array([Decimal("1.50"), None]))
    ['1.50', '']
    >>> column_texts(pa.array([["a", "b"], []]))
    ['a|b', '']
    """
    if not may_be_text(column.type):
        return None
    values = plain_array(column).to_pylist()
    if any(isinstance(value, bytes) for value in values):
        return _binary_texts(values)
    texts = [value_text(value) for value in values]
    is_nested = pa.types.is_nested(column.type)
    return None if is_nested and any(len(text) > MOST for text in texts) else texts


def may_be_text(kind: pa.DataType) -> bool:
    """Whether values of a type may be text: no vectors, and no files in structures."""
    return not _is_vector(kind) and not _holds_file(kind)


def _is_vector(kind: pa.DataType) -> bool:
    is_list = any(
        test(kind)
        for test in (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
    )
    if not is_list:
        return False
    is_long = pa.types.is_fixed_size_list(kind) and kind.list_size > 16
    return is_long or (pa.types.is_nested(kind.value_type) and _is_vector(kind.value_type))


def _holds_file(kind: pa.DataType) -> bool:
    """Whether values are structures with bytes in them, as pictures and sounds are."""
    if not pa.types.is_struct(kind):
        return False
    return any(_is_binary(field.type) for field in kind)


def _is_binary(kind: pa.DataType) -> bool:
    tests = (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_binary_view)
    return any(test(kind) for test in tests)


def _binary_texts(values: Sequence[Any]) -> list[str] | None:
    filled = [bytes(value) for value in values if value is not None]
    try:
        read = {raw: raw.decode() for raw in filled}
        if any(not text.isprintable() for text in read.values()):
            raise ValueError("control characters")
    except ValueError:  # not UTF-8, or no text
        if any(len(raw) > _SHORT_BINARY for raw in filled):
            return None
        read = {raw: raw.hex() for raw in filled}
    return ["" if value is None else read[bytes(value)] for value in values]


def value_text(value: Any) -> str:
    """Return one value as text; see `column_texts`."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    return next((write(value) for kind, write in _WRITERS if isinstance(value, kind)), str(value))


def _moment(value: datetime.datetime) -> str:
    is_day = value.time() == datetime.time() and value.tzinfo is None
    return value.date().isoformat() if is_day else value.isoformat(" ")


def _dumped(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=value_text)


def _joined(values: Sequence[Any]) -> str:
    if any(isinstance(value, list | tuple | dict) for value in values):
        return _dumped(list(values))
    return JOINT.join(value_text(value) for value in values)


_WRITERS: tuple[tuple[Any, Callable[[Any], str]], ...] = (
    (bool, lambda value: str(value).lower()),
    (Decimal, lambda value: format(value, "f")),
    (datetime.datetime, _moment),
    ((datetime.date, datetime.time), lambda value: value.isoformat()),
    (bytes, lambda value: value.decode("utf-8", "backslashreplace")),
    ((list, tuple), _joined),
    (dict, _dumped),
)
