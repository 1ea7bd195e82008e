"""The pinned packages: their audit, by made-up advisories without a network, and what they need."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
import zipfile
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

import pytest
from packaging.specifiers import SpecifierSet

from tests.paths import ROOT


def advisory(**affected: Any) -> dict[str, Any]:
    package = {"ecosystem": "PyPI", "name": "Made_Up"}
    return {"id": "GHSA-x", "summary": "Falls over", "affected": [{"package": package, **affected}]}


def ranged(*events: dict[str, str]) -> dict[str, Any]:
    return advisory(ranges=[{"type": "ECOSYSTEM", "events": list(events)}])


def audit(tmp_path: Path, advisories: object, version: str = "1.4.2") -> tuple[int, str]:
    pins, file = tmp_path / "pins.txt", tmp_path / "advisories.json"
    pins.write_text(f"# pins\nmade-up=={version}\nother==2.0\n")
    file.write_text(advisories if isinstance(advisories, str) else json.dumps(advisories))
    return run(file, "--pins", str(pins))


def run(*arguments: object) -> tuple[int, str]:
    command = [sys.executable, str(ROOT / "script" / "audit_dependencies.py"), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


ZERO = {"introduced": "0"}


@pytest.mark.parametrize(
    ("given", "status"),
    [
        (ranged(ZERO, {"fixed": "1.4.3"}), 1),
        (ranged(ZERO, {"fixed": "1.4.2"}), 0),
        (ranged({"introduced": "1.4.3"}), 0),
        (ranged({"introduced": "1.4.2"}), 1),
        (ranged(ZERO, {"last_affected": "1.4.2"}), 1),
        (ranged(ZERO, {"last_affected": "1.4.1"}), 0),
        (ranged(ZERO, {"fixed": "1.2"}, {"introduced": "1.4"}, {"fixed": "1.10"}), 1),
        (ranged({"introduced": "1.4"}, {"fixed": "1.10"}, ZERO, {"fixed": "1.2"}), 1),
        (advisory(versions=["1.4.2"]), 1),
        (advisory(versions=["1.4.1", "1.4.20"]), 0),
        (advisory(ranges=[{"type": "GIT", "events": [{"introduced": "0"}]}]), 0),
        ({**ranged(ZERO), "withdrawn": "2026-01-01T00:00:00Z"}, 0),
    ],
)
def test_a_pin_is_told_exactly_when_it_is_affected(tmp_path: Path, given, status: int) -> None:
    code, told = audit(tmp_path, [given])
    assert code == status, told
    assert ("made-up==1.4.2: GHSA-x Falls over" in told) == bool(status)


def test_a_zip_as_osv_gives_it_is_read(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.writestr("GHSA-x.json", json.dumps(ranged(ZERO)))
    (tmp_path / "pins.txt").write_text("made-up==1\n")
    code, told = run(tmp_path / "all.zip", "--pins", tmp_path / "pins.txt")
    assert (code, "GHSA-x" in told) == (1, True)


@pytest.mark.parametrize("broken", ["", "{", "7", '[{"affected": 3}]', "[[]]"])
def test_what_is_no_advisory_is_refused_and_never_taken_for_clean(tmp_path: Path, broken) -> None:
    code, told = audit(tmp_path, broken)
    assert code == 2
    assert "cannot be read" in told
    assert "Traceback" not in told


def test_the_pins_of_this_repository_are_read(tmp_path: Path) -> None:
    (tmp_path / "none.json").write_text("[]")
    code, told = run(tmp_path / "none.json")
    assert code == 0
    found = re.search(r"0 advisories affect the ([\d,]+)", told)
    assert found
    assert int(found[1].replace(",", "")) >= 200
    assert run()[0] == 2


def test_every_package_takes_the_oldest_python_that_we_promise() -> None:
    promised = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["requires-python"]
    oldest = f"{promised.removeprefix('>=')}.0"
    wanted = {one.name: one.metadata["Requires-Python"] or "" for one in distributions()}
    assert len(wanted) > 100
    assert [name for name, need in wanted.items() if oldest not in SpecifierSet(need)] == []
