"""Values of options, read without torch."""

from __future__ import annotations

import argparse


def rank(text: str) -> int:
    """Return a rank, from 1."""
    if not (text.isascii() and text.isdecimal()) or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1")
    return int(text)


def comma_list(text: str) -> list[str]:
    """Return the parts of a list with commas between them."""
    return [part.strip() for part in text.split(",") if part.strip()]


def numbers(text: str) -> list[int]:
    """Return the whole numbers of a list with commas between them."""
    parts = comma_list(text)
    if not all(part.isdecimal() for part in parts):
        raise argparse.ArgumentTypeError(f"{text!r} is not numbers with commas between, as 2,4,8")
    return [int(part) for part in parts]


def seed(text: str) -> int:
    """Return a number that random draws start from."""
    try:
        number = int(text)
    except ValueError:
        number = -1
    if number < 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 0")
    return number


def captions(text: str) -> tuple[str, str]:
    """Return column and caption from COLUMN=CAPTION."""
    column, equals, caption = text.partition("=")
    if not equals or "{}" not in caption:
        raise argparse.ArgumentTypeError(f"{text!r} is not COLUMN=CAPTION with {{}} in the caption")
    return column.strip(), caption.strip()


def number_list(text: str) -> list[int]:
    """Return the whole numbers of a list with commas between them."""
    try:
        return [int(part) for part in comma_list(text)]
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no list of whole numbers") from None
