"""Authors: people with ORCID, and institutions, in every place that cites a release."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from lookalike.release.documents.people import is_orcid, parse_author
from tests.lookalike.release.derived import derive_again

ORCID = "0000-0002-1825-0097"


@pytest.mark.parametrize(
    "line",
    [f"Lovelace, Ada {ORCID}", f"Lovelace, Ada; https://orcid.org/{ORCID}",
     f"Lovelace, Ada ({ORCID}".replace("(", " ")],
)  # fmt: skip
def test_a_person_is_read_with_an_orcid(line: str) -> None:
    author = parse_author(line)
    assert (author.family, author.given, author.orcid) == ("Lovelace", "Ada", ORCID)
    assert author.name == "Ada Lovelace"


@pytest.mark.parametrize("line", ["The Institute", "Museum of 1900-1950", "Lovelace,", ", Ada"])
def test_other_lines_are_institutions(line: str) -> None:
    assert parse_author(line).family == ""


def test_a_wrong_digit_of_an_orcid_is_found() -> None:
    assert is_orcid(ORCID)
    assert is_orcid("0000-0001-5109-3700")
    assert is_orcid("0000-0002-1694-233X")
    for at, digit in enumerate(ORCID):
        if digit.isdigit():
            wrong = ORCID[:at] + str((int(digit) + 1) % 10) + ORCID[at + 1 :]
            assert not is_orcid(wrong), wrong


def test_the_citation_file_names_people_and_institutions(tmp_path: Path) -> None:
    folder = derive_again(tmp_path / "x", authors=[f"Lovelace, Ada {ORCID}", 'The "Institute"'])
    found = yaml.safe_load((folder / "CITATION.cff").read_text())
    assert found["authors"] == [
        {"family-names": "Lovelace", "given-names": "Ada", "orcid": f"https://orcid.org/{ORCID}"},
        {"name": 'The "Institute"'},
    ]
    assert "author = {Lovelace, Ada and {The" in (folder / "README.md").read_text()
