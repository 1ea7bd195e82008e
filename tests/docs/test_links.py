"""Links between documents, and the paths that they name, lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote

import pytest

from tests.docs.texts import FENCE, documents, name_of
from tests.paths import ROOT

LINK = re.compile(r"\]\(<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\)")
NAMED_PATH = re.compile(r"`((?:[\w.-]+/)+[\w.-]*)`")


def anchors(document: Path) -> set[str]:
    """The anchors of a document's headings, as GitHub and MkDocs make them."""
    headings = re.findall(r"^#+ +(.+?)\s*$", FENCE.sub("", document.read_text()), re.MULTILINE)
    plain = [re.sub(r"\[([^]]*)\]\([^)]*\)|[*`]", r"\1", heading).lower() for heading in headings]
    return {re.sub(r"[^\w\- ]", "", heading).strip().replace(" ", "-") for heading in plain}


@pytest.mark.parametrize("document", documents(), ids=name_of)
def test_every_link_leads_to_a_file_and_a_heading_of_it(document: Path) -> None:
    for link in LINK.findall(FENCE.sub("", document.read_text())):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = unquote(link).partition("#")
        target = (document.parent / path).resolve() if path else document
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


@pytest.mark.parametrize("name", ["docs/architecture.md", "CONTRIBUTING.md"])
def test_every_path_that_describes_the_house_exists(name: str) -> None:
    text = FENCE.sub("", (ROOT / name).read_text())
    data_folders = {"blobs/", "embeddings/", "projections/", "results/", "uploads/"}
    paths = set(NAMED_PATH.findall(text)) - data_folders
    assert paths
    assert [path for path in sorted(paths) if not (ROOT / path).exists()] == []


def test_every_decision_is_listed_and_short() -> None:
    listed = re.findall(r"\(adr/([^)]+)\)", (ROOT / "docs/architecture.md").read_text())
    decisions = sorted((ROOT / "docs/adr").glob("*.md"))
    assert [path.name for path in decisions] == sorted(set(listed))
    for path in decisions:
        assert len(path.read_text().splitlines()) <= 30, path.name
