"""Every package that set-up installs is pinned with the hashes of its files."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from importlib.metadata import distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
UV = str(Path(sys.executable).with_name("uv"))
SMALL = "annotated-doc"  # a package of a few kilobytes without dependencies


def pins() -> dict[str, tuple[str, list[str]]]:
    """Version and hashes of each package in constraints.txt."""
    found: dict[str, tuple[str, list[str]]] = {}
    for block in re.split(r"\n(?=\S)", (ROOT / "constraints.txt").read_text().strip()):
        first, *rest = block.replace("\\\n", "\n").splitlines()
        requirement = Requirement(first)
        [specifier] = requirement.specifier
        hashes = [line.strip().removeprefix("--hash=sha256:") for line in rest]
        found[canonicalize_name(requirement.name)] = specifier.version, hashes
    return found


def test_every_pin_has_the_hashes_of_its_files() -> None:
    bad = [
        name
        for name, (_, hashes) in pins().items()
        if not hashes or not all(re.fullmatch("[0-9a-f]{64}", one) for one in hashes)
    ]
    assert len(pins()) > 250
    assert bad == []


def test_every_requirement_is_pinned_at_its_version() -> None:
    pinned = pins()
    for name in ("requirements.txt", "requirements-dev.txt"):
        for line in (ROOT / name).read_text().splitlines():
            if not line.startswith("-"):
                requirement = Requirement(line)
                version, _ = pinned[canonicalize_name(requirement.name)]
                assert str(requirement.specifier) == f"=={version}", name


def test_what_is_installed_has_the_version_of_its_pin() -> None:
    installed = {canonicalize_name(one.metadata["Name"]): one.version for one in distributions()}
    pinned = {name: version for name, (version, _) in pins().items() if name in installed}
    assert len(pinned) > 250
    assert {name: version for name, version in installed.items() if name in pinned} == pinned


@pytest.mark.parametrize("is_altered", [False, True])
def test_a_file_with_another_hash_is_refused(tmp_path: Path, is_altered: bool) -> None:
    version, hashes = pins()[SMALL]
    known = ["0" * 64] if is_altered else hashes
    lines = [f"{SMALL}=={version}", *(f"    --hash=sha256:{one}" for one in known)]
    (tmp_path / "constraints.txt").write_text(" \\\n".join(lines) + "\n")
    (tmp_path / "wanted.txt").write_text(f"{SMALL}=={version}\n")
    done = subprocess.run(
        [UV, "pip", "install", "--require-hashes", "--no-cache", "--target", tmp_path / "into",
         "--requirement", "wanted.txt", "--constraint", "constraints.txt"],
        cwd=tmp_path, check=False, capture_output=True,
    )  # fmt: skip
    assert (done.returncode == 0) is not is_altered
    assert (tmp_path / "into" / "annotated_doc").exists() is not is_altered


@pytest.mark.daily
def test_the_bill_of_materials_names_every_package_at_its_version(tmp_path: Path) -> None:
    file = tmp_path / "sbom.json"
    subprocess.run([ROOT / "script" / "sbom", file], check=True)
    bill = json.loads(file.read_text())
    listed = {(canonicalize_name(one["name"]), one["version"]) for one in bill["components"]}
    installed = {(canonicalize_name(one.metadata["Name"]), one.version) for one in distributions()}
    assert bill["bomFormat"] == "CycloneDX"
    assert installed - listed <= {one for one in installed if one[0] == "lookalike"}
