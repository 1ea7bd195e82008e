"""Who made a release: people, with ORCID where it is given, and institutions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_ORCID = re.compile(r"(?:https://orcid\.org/)?\b(\d{4}-\d{4}-\d{4}-\d{3}[\dX])\s*$")


@dataclass(frozen=True)
class Author:
    """An author as cited.

    Attributes:
        family, given: of a person; empty for an institution.
        name: as in a sentence.
        orcid: 0000-0000-0000-0000, empty where none is given.
    """

    name: str
    family: str = ""
    given: str = ""
    orcid: str = ""

    @property
    def address(self) -> str:
        """The ORCID as an address, "" without one."""
        return f"https://orcid.org/{self.orcid}" if self.orcid else ""

    @property
    def sorted_name(self) -> str:
        """Family name first, as lists of references have it."""
        return f"{self.family}, {self.given}" if self.family else self.name


def parse_author(line: str) -> Author:
    """Read an author: "Family, Given 0000-0000-0000-0000", or the name of an institution.

    >>> parse_author("Lovelace, Ada 0000-0002-1825-0097").orcid
    '0000-0002-1825-0097'
    >>> parse_author("The Institute").family
    ''
    """
    found = _ORCID.search(line)
    rest = line[: found.start()].strip(" ,;(<") if found else line.strip()
    family, comma, given = (part.strip() for part in rest.partition(","))
    orcid = found[1] if found else ""
    if comma and family and given:
        return Author(f"{given} {family}", family, given, orcid)
    return Author(rest, orcid=orcid)


def is_orcid(orcid: str) -> bool:
    """Whether the last character of an ORCID fits the others (ISO 7064, MOD 11-2)."""
    total = 0
    plain = orcid.replace("-", "")
    for digit in plain[:-1]:
        total = (total + int(digit)) * 2
    check = (12 - total % 11) % 11
    return plain[-1] == ("X" if check == 10 else str(check))


def authors_of(info: Mapping[str, Any]) -> list[Author]:
    """Return the authors of the release whose release.json is given."""
    return [parse_author(line) for line in info["authors"]]
