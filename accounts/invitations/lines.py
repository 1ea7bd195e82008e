"""Read a list of people to invite, as it is pasted from a mail, a table or a sheet."""

from __future__ import annotations

import re
from dataclasses import dataclass
from email.utils import parseaddr

MAX_LINES = 200
_SEPARATORS = re.compile(r"[,;\t]")
_NO_NAME = re.compile(r"[^\w.@+-]+")


@dataclass(frozen=True)
class Line:
    """One person of a list.

    Attributes:
        number: of the line, from 1.
        text: as it was written.
        username: as given; "" where it shall be made from the address.
        email: "" for none.
        first_name: "" for none.
        last_name: "" for none.
    """

    number: int
    text: str
    username: str = ""
    email: str = ""
    first_name: str = ""
    last_name: str = ""

    @property
    def stem(self) -> str:
        """The user name, or what one is made from."""
        return self.username or _NO_NAME.sub("", self.email.partition("@")[0]).lower()


def parse_lines(text: str) -> list[Line]:
    """Return the people that a list names; empty lines are passed over.

    A line is an address, `Name <address>`, a user name, or a user name and an address, with a
    comma, semicolon or tab between them.
    """
    numbered = enumerate(text.splitlines(), start=1)
    return [_line(number, line.strip()) for number, line in numbered if line.strip()]


def _line(number: int, text: str) -> Line:
    if "<" in text:
        name, email = parseaddr(text)
        first, _, last = name.rpartition(" ")
        return Line(
            number, text, "", email or text, (first or last)[:150], last[:150] * bool(first)
        )
    parts = [part.strip() for part in _SEPARATORS.split(text) if part.strip()]
    addresses = [part for part in parts if "@" in part]
    names = [part for part in parts if "@" not in part]
    if len(addresses) > 1 or len(names) > 1:
        return Line(number, text, text)  # refused: that is no user name
    return Line(number, text, "".join(names), "".join(addresses))
