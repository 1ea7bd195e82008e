"""Tests and benchmarks delete no database but their own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.paths import ROOT


def test_the_database_of_a_site_is_not_deleted_by_a_benchmark_that_is_given_its_folder(
    tmp_path: Path,
) -> None:
    row = tmp_path / "postgres" / "base" / "1"
    row.parent.mkdir(parents=True)
    row.write_text("years of judging")
    done = subprocess.run(
        [sys.executable, "-c", "import tests.django_setup"],
        cwd=ROOT,
        env={**os.environ, "LOOKALIKE_DATA": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    assert f"{tmp_path} holds the database of a site" in done.stderr
    assert row.read_text() == "years of judging"


@pytest.mark.daily
def test_a_benchmark_of_the_site_makes_its_own_database_in_an_empty_folder(tmp_path: Path) -> None:
    data = tmp_path / "own"
    for _ in range(2):  # the second time in the database that the first has made
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.growth", "--base", "4"],
            cwd=ROOT,
            env={**os.environ, "LOOKALIKE_DATA": str(data)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert "| export |" in done.stdout
