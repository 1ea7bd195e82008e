"""The import contracts of pyproject.toml are kept, and each notices when it is broken."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.paths import ROOT

LINTER = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
APPS, PARTS, BLIND = (contract["name"] for contract in LINTER["contracts"])


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the modules and the contracts."""
    folder = tmp_path_factory.mktemp("tree")
    shutil.copy(ROOT / "pyproject.toml", folder)
    for package in LINTER["root_packages"]:
        ignored = shutil.ignore_patterns("__pycache__", "migrations")
        shutil.copytree(ROOT / package, folder / package, ignore=ignored)
    return folder


def lint(tree: Path) -> str:
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"]
    return subprocess.run(command, cwd=tree, capture_output=True, text=True, check=False).stdout


def test_three_contracts_are_kept(tree: Path) -> None:
    assert "Contracts: 3 kept, 0 broken." in lint(tree)


@pytest.mark.parametrize(
    ("contract", "importer", "imported"),
    [
        (APPS, "catalog", "evaluation"),
        (APPS, "lookalike.core", "jobs"),
        (APPS, "lookalike.io", "django"),
        (APPS, "lookalike.search", "celery"),
        (APPS, "lookalike.client", "ninja"),
        (PARTS, "lookalike.metrics", "lookalike.release"),
        (PARTS, "lookalike.client", "lookalike.core"),
        (BLIND, "annotation", "lookalike.pooling"),
        (BLIND, "annotation.views", "evaluation"),
    ],
)
def test_a_broken_contract_is_named(
    contract: str, importer: str, imported: str, tree: Path
) -> None:
    offence = tree.joinpath(*importer.split("."), "offence.py")
    offence.write_text(f"import {imported}\n")
    try:
        report = lint(tree)
    finally:
        offence.unlink()
    assert f"{contract} BROKEN" in report
    assert f"{importer}.offence -> {imported}" in report
