"""Guess the encoding of text that does not say it: names in archives, tables of spreadsheets."""

from __future__ import annotations

import codecs
from collections.abc import Sequence

# Of equally good guesses the first wins: Western, East Asian, Cyrillic, others.
OF_NAMES = (
    *("cp437", "cp850", "cp1252", "cp932", "gb18030", "big5", "cp949", "cp866", "cp1251"),
    *("koi8_r", "cp1250", "cp852", "cp1253", "cp737", "cp1254", "cp857", "mac_roman"),
)
OF_TABLES = tuple(
    name for name in ("cp1252", *OF_NAMES[2:]) if name not in {"cp866", "cp852", "cp737", "cp857"}
)
_HALF_WIDTH = range(0xFF61, 0xFFA0)  # katakana of one byte, as most single bytes look in cp932
MOST = 2**16  # bytes that a guess uses


def guess_encoding(raw: bytes, among: Sequence[str]) -> str:
    """Return the encoding in which bytes read most like text; "utf-8" where they are UTF-8.

    Source: charset_normalizer's measure of disorder; of equal ones the first of `among`.

    Args:
        raw: all text of one encoding; a single word is too little for a guess.
        among: names of encodings that Python knows.

    >>> guess_encoding("Möbel/grün.jpg".encode("cp850"), OF_NAMES)
    'cp437'
    """
    if is_utf8(raw):
        return "utf-8"
    from charset_normalizer import from_bytes  # noqa: PLC0415  (few files need it)

    lines = [line for line in raw.splitlines(keepends=True) if not line.isascii()]
    sample = b"".join(lines)[:MOST] or raw[:MOST]
    disorder: dict[str, tuple[bool, float]] = {}
    for match in from_bytes(sample, steps=1, cp_isolation=[*among], preemptive_behaviour=False):
        is_odd = _is_half_width(str(match))
        for name in match.could_be_from_charset:
            disorder[name] = (is_odd, round(match.chaos, 2))
    found = sorted((disorder[name], at) for at, name in enumerate(among) if name in disorder)
    for _, at in found:
        if can_decode(raw, among[at]):
            return among[at]
    return next(name for name in among if can_decode(raw, name))


def is_utf8(raw: bytes) -> bool:
    """Whether bytes are UTF-8."""
    return can_decode(raw, "utf-8")


def can_decode(raw: bytes, encoding: str) -> bool:
    """Whether bytes are text of an encoding."""
    try:
        raw.decode(encoding)
    except UnicodeError:
        return False
    return True


def encoding_name(text: str) -> str | None:
    """Return Python's name of an encoding of text; None if it knows none of that name.

    >>> encoding_name("Shift-JIS"), encoding_name("rot13")
    ('shift_jis', None)
    """
    try:
        found = codecs.lookup(text.strip())
    except (LookupError, ValueError):
        return None
    return found.name if found._is_text_encoding else None


def _is_half_width(text: str) -> bool:
    odd = sum(ord(character) in _HALF_WIDTH for character in text)
    return 2 * odd > sum(not character.isascii() for character in text)
