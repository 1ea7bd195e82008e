"""Text files as people save them: encodings, separators, and lines of bounded length."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

from lookalike.io.errors import FormatError

MAX_LINE = 2**20  # characters; a row of CSV may have no more in all its lines
HEAD = 2**16  # bytes that tell encoding, separator and format
SEPARATORS = (",", ";", "\t", "|")
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_QUOTED = re.compile(r'"[^"]*"')
EXCEL_HINT = re.compile(r"sep=(.)\s*\Z", re.IGNORECASE)


def encoding_of(head: bytes) -> str:
    """Return the encoding of a text by its first bytes: UTF-8, or UTF-16 or UTF-32 where marked.

    UTF-16 without a mark is known by the zero bytes of its ASCII characters.

    >>> [encoding_of(text) for text in ("a,b".encode("utf-16"), b"a,b", "a,b".encode("utf-16-be"))]
    ['utf-16', 'utf-8-sig', 'utf-16-be']
    """
    for mark, encoding in _MARKS:
        if head.startswith(mark):
            return encoding
    even, odd = head[0:200:2], head[1:200:2]
    for zeros, other, encoding in ((odd, even, "utf-16-le"), (even, odd, "utf-16-be")):
        if len(zeros) > 1 and 2 * zeros.count(0) > len(zeros) and not other.count(0):
            return encoding
    return "utf-8-sig"


def decode_text(content: bytes) -> str:
    """Return the text of a whole file.

    Raises:
        UnicodeDecodeError: it is not in the encoding that it begins in.
    """
    return content.decode(encoding_of(content[:HEAD]))


def open_text(path: Path) -> TextIO:
    """Open a text file in its encoding, line ends as they stand.

    Raises:
        OSError: it cannot be opened.
    """
    with path.open("rb") as file:
        encoding = encoding_of(file.read(HEAD))
    return path.open(encoding=encoding, newline="")


def head_lines(path: Path) -> list[str]:
    """Return the first lines of a text file that are not blank; the last one may be cut.

    Raises:
        FormatError: they are not in the encoding that the file begins in.
        OSError: it cannot be opened.
    """
    with path.open("rb") as file:
        content = file.read(HEAD)
        while content and not content.strip(b" \t\r\n\xef\xbb\xbf") and (more := file.read(HEAD)):
            content = more
    decoder = codecs.getincrementaldecoder(encoding_of(content))()
    try:
        text = decoder.decode(content)
    except UnicodeDecodeError as error:
        raise not_decodable(path) from error
    return [line for line in text.splitlines() if line.strip()]


def separator_of(header: str) -> str:
    """Return what separates the cells of a table by its first line; a comma where nothing does.

    >>> [separator_of(line) for line in ("a;b,c;d", 'a,"b;c;d",e', "a\\tb", "a", "sep=;")]
    [';', ',', '\\t', ',', ';']
    """
    if hint := EXCEL_HINT.match(header):
        return hint[1]
    bare = _QUOTED.sub("", header)
    return max(SEPARATORS, key=bare.count)


def text_lines(path: Path, file: TextIO) -> Iterator[tuple[int, str]]:
    """Yield (line number, line with its end) of an open file; no line is held without bounds.

    Raises:
        FormatError: a line of more than MAX_LINE characters.
        UnicodeDecodeError: as the file does.
    """
    number = 0
    while text := file.readline(MAX_LINE + 1):
        number += 1
        if len(text) > MAX_LINE:
            raise too_long(path, number)
        yield number, text


def too_long(path: Path, line: int) -> FormatError:
    """Return the error for a line without end."""
    return FormatError(path, line, f"the line has more than {MAX_LINE:,} characters")


def not_decodable(path: Path) -> FormatError:
    """Return the error for the first line that cannot be decoded (text is read in large blocks)."""
    with path.open("rb") as file:
        encoding = encoding_of(file.read(HEAD))
        file.seek(0)
        decoder, line = codecs.getincrementaldecoder(encoding)(), 1
        try:
            while block := file.read(MAX_LINE):
                line += decoder.decode(block).count("\n")
            decoder.decode(b"", final=True)
        except UnicodeDecodeError as error:
            if encoding != "utf-8-sig":
                reason = f"not readable as {encoding.upper()}: {error.reason}"
                return FormatError(path, None, reason)
            line += error.object[: error.start].count(b"\n")
            byte = error.object[error.start]
            reason = f"byte 0x{byte:02x} is not UTF-8; save the file as UTF-8"
            return FormatError(path, line, reason)
    return FormatError(path, None, "the file is not UTF-8")
