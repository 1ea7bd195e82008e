"""The examples of docs/api.md name only what there is."""

from __future__ import annotations

import ast
import re

import lookalike.client as lookalike_client
from lookalike.client import Client
from tests.paths import ROOT

GUIDE = (ROOT / "docs" / "api.md").read_text()


def test_the_examples_use_only_what_the_client_has():
    blocks = re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)
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
    named = set(re.findall(r"`(\w+Error)`", GUIDE))
    assert named | {"ApiError"} == {
        name for name in lookalike_client.__all__ if name.endswith("Error")
    }
