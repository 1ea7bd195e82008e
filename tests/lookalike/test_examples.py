"""The examples of docs/library.md and of docstrings do what they show."""

from __future__ import annotations

import ast
import doctest
import importlib
import shutil
from pathlib import Path

import pytest

import lookalike
from tests.paths import GOLDEN_RELEASES, ROOT

OPTIONS = doctest.ELLIPSIS
WITH_EXAMPLES = [
    ".".join(path.relative_to(ROOT).with_suffix("").parts)
    for path in sorted((ROOT / "lookalike").rglob("*.py"))
    if ">>>" in path.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("module", WITH_EXAMPLES)
def test_the_examples_of_a_module_are_right(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    outcome = doctest.testmod(importlib.import_module(module), optionflags=OPTIONS)
    assert outcome.attempted
    assert not outcome.failed


def test_the_examples_of_the_document_are_right(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for release in GOLDEN_RELEASES.glob("*.zip"):
        shutil.copy(release, tmp_path)
    monkeypatch.chdir(tmp_path)
    document = str(ROOT / "docs" / "library.md")
    outcome = doctest.testfile(document, module_relative=False, optionflags=OPTIONS)
    assert outcome.attempted
    assert not outcome.failed


def test_every_public_name_is_listed_typed_and_loaded() -> None:
    tree = ast.parse((ROOT / "lookalike" / "__init__.py").read_text(encoding="utf-8"))
    typed = {
        (node.module, alias.name)
        for block in tree.body
        if isinstance(block, ast.If)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert {name for _, name in typed} == set(lookalike.__all__)
    for module, name in typed:
        assert getattr(lookalike, name) is getattr(importlib.import_module(str(module)), name)
    assert set(lookalike.__all__) <= set(dir(lookalike))


def test_every_public_function_has_an_example_or_stands_in_the_document() -> None:
    document = (ROOT / "docs" / "library.md").read_text(encoding="utf-8")
    assert [name for name in lookalike.__all__ if f"lk.{name}" not in document] == []


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'recall'"):
        lookalike.recall  # noqa: B018
