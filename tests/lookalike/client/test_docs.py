"""The examples of docs/api.md and of the client's README name only what there is."""

from __future__ import annotations

import ast
import re

import pytest

import lookalike.client as lookalike_client
from lookalike.client import Client
from tests.paths import ROOT

GUIDES = [ROOT / "docs" / "api.md", ROOT / "client" / "README.md"]


@pytest.mark.parametrize("path", GUIDES, ids=lambda path: path.name)
def test_the_examples_use_only_what_the_client_has(path):
    blocks = re.findall(r"```python\n(.*?)```", path.read_text(), re.DOTALL)
    assert blocks
    for block in blocks:
        nodes = list(ast.walk(ast.parse(block)))
        imported = [name.name for node in nodes if isinstance(node, ast.ImportFrom)
                    for name in node.names]  # fmt: skip
        assert all(hasattr(lookalike_client, name) for name in imported)
        used = {node.attr for node in nodes if isinstance(node, ast.Attribute)
                and isinstance(node.value, ast.Name) and node.value.id == "site"}  # fmt: skip
        assert all(hasattr(Client, name) for name in used), used


def test_the_guide_names_every_error():
    named = set(re.findall(r"`(\w+Error)`", GUIDES[0].read_text()))
    assert named | {"ApiError"} == {
        name for name in lookalike_client.__all__ if name.endswith("Error")
    }
