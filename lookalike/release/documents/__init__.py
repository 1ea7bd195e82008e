"""The documents of a release: each is a function of what the release holds."""

from __future__ import annotations

from collections.abc import Callable

from lookalike.release.documents.card import card
from lookalike.release.documents.citation import changelog, citation, licence
from lookalike.release.documents.croissant import croissant
from lookalike.release.documents.datasheet import datasheet, datasheet_page
from lookalike.release.documents.facts import Facts

DOCUMENTS: dict[str, Callable[[Facts], str]] = {
    "CITATION.cff": citation,
    "CHANGELOG.md": changelog,
    "LICENSE.txt": licence,
    "datasheet.md": datasheet,
    "datasheet.html": datasheet_page,
    "README.md": card,
    "croissant.json": croissant,
}

__all__ = ["DOCUMENTS", "Facts"]
