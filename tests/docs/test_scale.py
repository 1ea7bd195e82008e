"""The document on scale says what its script computes."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.paths import ROOT


@pytest.mark.daily
def test_the_figures_of_the_document_are_those_of_the_script() -> None:
    command = [sys.executable, "docs/simulations/scale.py", "--check"]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout + found.stderr
