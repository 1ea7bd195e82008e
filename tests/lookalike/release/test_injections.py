"""Texts of a release that open in a spreadsheet or in LaTeX are no commands."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pyarrow as pa
import pytest

from lookalike.release.documents.citation import bibtex
from lookalike.release.documents.facts import Facts
from lookalike.release.exports import _names_tsv


def cited(**changes: Any) -> str:
    info = {
        "name": "small", "version": "1.0.0", "title": "Small", "date": "2026-11-21",
        "authors": ["The curators"], "url": "https://example.org", **changes,
    }  # fmt: skip
    return bibtex(cast(Facts, SimpleNamespace(info=info)), changes.get("doi", ""))


@pytest.mark.parametrize(
    "changes",
    [
        {"title": "A},\n  author = {Mallory"},
        {"title": r"\input{/etc/passwd} \immediate\write18{id}"},
        {"authors": ["Lovelace}, note = {x, Ada"]},
        {"authors": [r"\input{x}"]},
        {"url": r"https://example.org/}, note = {\input{x}"},
        {"doi": r"10.5281/x}, note = {\input{x}"},
    ],
)
def test_no_text_leaves_its_bibtex_field(changes: dict[str, Any]) -> None:
    text = cited(**changes)
    assert "\\input{" not in text
    assert "\\write18" not in text
    depth, fields = 0, 0
    for at, sign in enumerate(text):
        is_escaped = at > 0 and text[at - 1] == "\\"
        depth += (sign == "{") - (sign == "}") if not is_escaped else 0
        fields += sign == "=" and depth == 1
        assert depth >= 0
    assert depth == 0
    assert fields == (6 if "doi" in changes else 5)


def test_an_author_called_and_is_one_author() -> None:
    assert "author = {Lovelace {and} Byron, Ada}" in cited(authors=["Lovelace and Byron, Ada"])


@pytest.mark.parametrize("path", ['=HYPERLINK("x")', "+1.png", "-1.png", "@a.png", "\t=1.png"])
def test_no_cell_of_a_tsv_runs_as_a_formula(path: str) -> None:
    folder = SimpleNamespace(
        path_of={"a": path},
        table=lambda name, columns: pa.table({"image_id": pa.array(["a"]).dictionary_encode()}),
    )
    [line] = b"".join(_names_tsv(cast(Any, folder), "images", "image_id")).decode().splitlines()
    name, cell = line.split("\t")
    assert name == "a"
    assert cell.startswith("'")
