"""A JSON file with the lines of its entries, and the way it is laid out, to be written so again."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from lookalike.io.errors import FormatError
from lookalike.io.text_files import decode_text

MAX_BYTES = 256 * 2**20
_SPACE = re.compile(r"[ \t\r\n]*")
_INDENT = re.compile(r"[\[{]\n([ \t]+)")
_COLON = re.compile(r'":( ?)')


@dataclass(frozen=True)
class JsonStyle:
    """How JSON is laid out.

    Attributes:
        indent: as of `json.dumps`: text a level, None for one line.
        is_compact: no space after commas and colons.
        is_ascii: other characters are escaped.
        by_line: each entry of the array, or of the only array of an object, has its own line.
        end: white space after it.
    """

    indent: str | None = None
    is_compact: bool = False
    is_ascii: bool = False
    by_line: bool = True
    end: str = "\n"

    def dumps(self, value: object) -> str:
        """Return a value as JSON."""
        if not self.by_line:
            return self._dumped(value) + self.end
        before, entries, after = "", value, ""
        if isinstance(value, dict):
            ((key, entries),) = value.items()
            before, after = f"{{{self._dumped(key)}:{'' if self.is_compact else ' '}", "}"
        if not isinstance(entries, list):
            raise ValueError("only an array has entries to stand on lines of their own")
        lines = ",\n".join(map(self._dumped, entries))
        return (
            f"{before}[\n{lines}\n]{after}{self.end}" if entries else f"{before}[]{after}{self.end}"
        )

    def _dumped(self, value: object) -> str:
        colon = ":" if self.is_compact else ": "
        comma = "," if self.is_compact or self.indent is not None else ", "
        indent = None if self.by_line else self.indent
        return json.dumps(
            value, indent=indent, ensure_ascii=self.is_ascii, separators=(comma, colon)
        )


@dataclass(frozen=True)
class JsonText:
    """The content of a JSON file.

    Attributes:
        path: to name in messages.
        text: as it stands in the file, without a byte order mark.
        value: the parsed JSON.
    """

    path: Path
    text: str
    value: object

    @cached_property
    def style(self) -> JsonStyle | None:
        """The layout that reproduces the text, or None if no known layout does."""
        body = self.text.rstrip(" \t\r\n")
        indent, colon = _INDENT.match(body), _COLON.search(body)
        style = JsonStyle(
            indent=indent[1] if indent else None,
            is_compact=bool(colon and not colon[1]),
            is_ascii=body.isascii(),
            by_line=not indent and "[\n" in body[:1000],
            end=self.text[len(body) :],
        )
        try:
            return style if style.dumps(self.value) == self.text else None
        except ValueError:
            return None

    def entries(self, key: str | None = None) -> Iterator[tuple[int, object]]:
        """Yield line and value of each entry of the array, or of the array under a key.

        Raises:
            FormatError: there is no such array.
        """
        entries = self.value
        if key is not None:
            entries = entries.get(key) if isinstance(entries, dict) else None
        if not isinstance(entries, list):
            where = "the file" if key is None else f'"{key}"'
            raise FormatError(self.path, 1, f"{where} is not a JSON array")
        start = self.text.find("[")
        if key is not None:
            match = re.search(rf'"{re.escape(key)}"\s*:\s*', self.text)
            start = match.end() if match else 0
        yield from zip(self._lines(start, len(entries)), entries, strict=True)

    def _lines(self, start: int, n_entries: int) -> Iterator[int]:
        """Yield the line on which each entry of the array at `start` begins."""
        decoder = json.JSONDecoder()
        place, line, counted = start + 1, 1, 0
        for _ in range(n_entries):
            space = _SPACE.match(self.text, place)
            begin = space.end() if space else place
            line += self.text.count("\n", counted, begin)
            counted = begin
            yield line
            _, place = decoder.raw_decode(self.text, begin)
            comma = _SPACE.match(self.text, place)
            place = (comma.end() if comma else place) + 1


def read_json(path: Path) -> JsonText:
    """Return the content of a JSON file.

    Raises:
        FormatError: too large, not UTF-8, not JSON, or nested too deep.
        OSError: if the file cannot be opened.
    """
    if path.stat().st_size > MAX_BYTES:
        raise FormatError(path, None, f"at most {MAX_BYTES:,} bytes of JSON are read")
    return parse_json(path, path.read_bytes())


def parse_json(path: Path, content: bytes) -> JsonText:
    """Parse the bytes of a JSON file; see `read_json`."""
    try:
        text = decode_text(content)
        return JsonText(path, text, json.loads(text))
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        byte = error.object[error.start]
        raise FormatError(path, line, f"byte 0x{byte:02x} is not UTF-8") from error
    except json.JSONDecodeError as error:
        raise FormatError(path, error.lineno, f"not JSON: {error.msg}") from error
    except (RecursionError, ValueError) as error:  # ValueError: a number of thousands of digits
        raise FormatError(
            path, None, "the JSON is nested too deep, or a number too long"
        ) from error
