"""Name the pinned packages for which an advisory is known.

The file is an export of OSV (https://osv.dev): one advisory or a list of them as JSON, or a zip of
such files, as https://osv-vulnerabilities.storage.googleapis.com/PyPI/all.zip is. Exits with 1 if
a pinned version is affected, with 2 if a file cannot be read.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.request import urlretrieve

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

ROOT = Path(__file__).resolve().parent.parent
EXPORT = "https://osv-vulnerabilities.storage.googleapis.com/PyPI/all.zip"
HOW = f"Give an export of OSV: --fetch it, or fetch {EXPORT} elsewhere and name the file."


def read_pins(path: Path) -> dict[str, Version]:
    """Return the version of each package that a constraints file pins, with or without hashes."""
    pins: dict[str, Version] = {}
    for line in path.read_text().splitlines():
        text = line.partition("#")[0].strip().removesuffix("\\").strip()
        if text and not text.startswith("-"):
            requirement = Requirement(text)
            [specifier] = requirement.specifier
            pins[canonicalize_name(requirement.name)] = Version(specifier.version)
    return pins


def read_advisories(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the advisories of a JSON file or of a zip of them."""
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                if name.endswith(".json"):
                    yield json.loads(archive.read(name))
        return
    found = json.loads(path.read_text())
    yield from found if isinstance(found, list) else found.get("vulns", [found])


def is_affected(version: Version, affected: dict[str, Any]) -> bool:
    """Whether a version is listed, or lies in one of the ranges, of a package of an advisory."""
    if any(_version(text) == version for text in affected.get("versions", [])):
        return True
    ranges = [one for one in affected.get("ranges", []) if one["type"] in {"ECOSYSTEM", "SEMVER"}]
    return any(_is_within(version, one["events"]) for one in ranges)


def _is_within(version: Version, events: list[dict[str, str]]) -> bool:
    """Whether the last event at or before a version opens the range."""
    inside = False
    told = [
        (at, kind)
        for event in events
        for kind, text in event.items()
        if (at := _version(text)) is not None
    ]
    for at, kind in sorted(told, key=_by_version):
        if kind == "introduced" and version >= at:
            inside = True
        elif (kind == "fixed" and version >= at) or (kind == "last_affected" and version > at):
            inside = False
    return inside


def _by_version(told: tuple[Version, str]) -> tuple[Version, bool]:
    return told[0], told[1] == "introduced"


def _version(text: str) -> Version | None:
    try:
        return Version(text)
    except InvalidVersion:  # a revision, or a scheme of its own
        return None


def findings(pins: dict[str, Version], advisories: Iterator[dict[str, Any]]) -> Iterator[str]:
    """Yield a line for each pinned package that an advisory affects."""
    for advisory in advisories:
        if advisory.get("withdrawn"):
            continue
        for affected in advisory.get("affected", []):
            package = affected.get("package", {})
            name = canonicalize_name(package.get("name", ""))
            is_pinned = package.get("ecosystem") == "PyPI" and name in pins
            if is_pinned and is_affected(pins[name], affected):
                summary = advisory.get("summary") or advisory.get("details", "")[:80]
                yield f"{name}=={pins[name]}: {advisory['id']} {summary}".rstrip()
                break


def main() -> int:
    """Print the findings; return the exit status."""
    parser = argparse.ArgumentParser(prog="script/audit-dependencies", description=__doc__)
    parser.add_argument("advisories", nargs="?", type=Path, metavar="ADVISORIES")
    parser.add_argument("--pins", type=Path, default=ROOT / "constraints.txt")
    parser.add_argument("--fetch", action="store_true", help=f"fetch {EXPORT}")
    options = parser.parse_args()
    if (options.advisories is None) is not options.fetch:
        parser.error(HOW)
    if not options.fetch:
        return report(options.advisories, options.pins)
    with tempfile.TemporaryDirectory() as folder:
        fetched = Path(folder) / "all.zip"
        try:
            urlretrieve(EXPORT, fetched)
        except OSError as problem:
            sys.stderr.write(f"{EXPORT} cannot be fetched: {problem}\n")
            return 2
        return report(fetched, options.pins)


def report(advisories: Path, pin_file: Path) -> int:
    """Print the findings of a file; return the exit status."""
    try:
        pins = read_pins(pin_file)
        found = sorted(set(findings(pins, read_advisories(advisories))))
    except (OSError, ValueError, KeyError, AttributeError, TypeError) as problem:
        sys.stderr.write(f"{advisories} cannot be read as advisories: {problem}\n")
        return 2
    print("\n".join([*found, f"{len(found)} advisories affect the {len(pins)} pinned packages."]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
