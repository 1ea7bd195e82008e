"""The judges' guide says the same in each language: a part that one lacks is seen by its shape."""

from __future__ import annotations

import re

import pytest

from tests.paths import ROOT

GUIDE = ROOT / "docs" / "judging.md"
OTHERS = sorted(folder.name for folder in (ROOT / "locale").iterdir() if folder.is_dir())


def shape(section: str) -> dict[str, object]:
    """What of a section is the same in any language."""
    return {
        "paragraphs": len(re.findall(r"^[^\s|!#-].*", section, re.MULTILINE)),
        "points": len(re.findall(r"^(?:-|\d\.) ", section, re.MULTILINE)),
        "rows": len(re.findall(r"^\|", section, re.MULTILINE)),
        "pictures": re.findall(r"\(images/([\w-]+)", section),
        "keys": set(re.findall(r"<kbd>(.)</kbd>", section)),
    }


@pytest.mark.parametrize("language", OTHERS)
def test_the_guide_has_the_same_parts_in_every_language(language: str) -> None:
    sections, others = (
        re.split(r"^## ", path.read_text(), flags=re.MULTILINE)
        for path in (GUIDE, GUIDE.with_suffix(f".{language}.md"))
    )
    assert [shape(one) for one in others] == [shape(one) for one in sections]
