"""Every test that docs/blindness.md names exists, and every promise names one."""

from __future__ import annotations

import ast
import re

from tests.paths import ROOT

PAGE = (ROOT / "docs/blindness.md").read_text()


def test_every_test_that_the_page_names_exists() -> None:
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", PAGE)
    assert len(named) >= 14
    for path, name in named:
        defined = [node.name for node in ast.walk(ast.parse((ROOT / path).read_text()))
                   if isinstance(node, ast.FunctionDef)]  # fmt: skip
        assert name in defined, (path, name)


def test_every_promise_names_a_test() -> None:
    promises = re.split(r"\n(?=\*\*|## To judges)", PAGE)[1:]
    assert len(promises) >= 5
    assert all("- `tests/" in promise for promise in promises)
