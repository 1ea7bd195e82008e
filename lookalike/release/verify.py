"""Check a release offline: every hash, and every number from the data that it follows from."""

from __future__ import annotations

import math
import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from lookalike.core.progress import SILENT, Progress
from lookalike.io.parquet import n_values
from lookalike.release.derive import derive
from lookalike.release.errors import ReleaseError
from lookalike.release.format.archive import Unpacked, unpacked
from lookalike.release.format.folder import Folder
from lookalike.release.format.layout import (
    ALL_TABLES,
    MANIFEST,
    MTEB_PATHS,
    SIGNATURE,
    list_tables,
)
from lookalike.release.format.manifest import Manifest, paths_in, read_manifest
from lookalike.release.mteb_tables import mteb_differs
from lookalike.release.signature import PublicKey, why_not_signed
from lookalike.release.verify_files import Finding, against_manifest, junk_of

TOLERANCE = 1e-9
PROSE = (
    "README.md",
    "CHANGELOG.md",
    "CITATION.cff",
    "croissant.json",
    "datasheet.md",
    "datasheet.html",
)
_NUMBER = re.compile(r"\d+(?:[.,:-]\d+)*")
_DECIMAL = re.compile(rb"(?<![\w.])(-?\d+(?:\.\d+(?:e-?\d+)?|e-\d+))(?![\w.])")
_STYLE = re.compile(r"<style.*?</style>", re.DOTALL)
FROZEN = ("release.json", "models.json", "guidelines.json", "bias.json")
# What content that this program did not write makes its readers raise.
NOT_AS_WRITTEN = (
    LookupError, ValueError, TypeError, AttributeError, ArithmeticError, pa.ArrowException,
)  # fmt: skip


@dataclass(frozen=True)
class Verdict:
    """What a check found.

    Attributes:
        release, version, seal: which release it is; empty where its manifest is not readable.
        n_files: files of the manifest.
        findings: empty if everything is right.
        were_numbers_checked: False where damaged files left nothing to compute from.
        signed_by: name of the key whose signature was asked for and fits; else empty.
        left_by_systems: files of desktops and archive programs, which are no finding.
    """

    release: str
    version: str
    seal: str
    n_files: int
    findings: tuple[Finding, ...]
    were_numbers_checked: bool
    signed_by: str = ""
    left_by_systems: tuple[str, ...] = ()

    @property
    def is_right(self) -> bool:
        """Whether nothing was found."""
        return not self.findings


def verify(
    source: str | Path, progress: Progress = SILENT, key: PublicKey | None = None
) -> Verdict:
    """Check a release folder or zip.

    First every file against the manifest; if all are whole, every table, list and number is
    made again from the frozen data and compared. Of documents for people the numbers are: their
    words are the manifest's to keep, and another version of this program may choose others.

    Args:
        source: the release.
        progress: told what is done now.
        key: whose signature the manifest must have; None asks for none.

    Raises:
        ReleaseError: not a release, or of another schema version.
    """
    try:
        with unpacked(Path(source)) as release:
            return verify_unpacked(release, progress, key)
    except ReleaseError as problem:
        if "its seal does not fit" not in str(problem):
            raise
        return Verdict("", "", "", 0, (Finding(MANIFEST, str(problem)),), False)


def verify_unpacked(
    release: Unpacked, progress: Progress = SILENT, key: PublicKey | None = None
) -> Verdict:
    """Check a release that is unpacked already, as `verify` does."""
    try:
        manifest = read_manifest(release.path)
    except ReleaseError as problem:
        if "seal" not in str(problem):
            raise
        return Verdict("", "", "", 0, (Finding(MANIFEST, str(problem)),), False)
    unsigned = list(_against_key(release.path, key)) if key else []
    progress.note("Hashing files")
    findings = list(against_manifest(release.path, manifest, release.strays))
    is_whole = all(finding.is_extra for finding in findings)
    if is_whole:
        findings += _against_data(release.path, manifest, progress)
    return Verdict(
        manifest.release,
        manifest.version,
        manifest.seal,
        len(manifest.files),
        (*unsigned, *findings),
        is_whole,
        key.name if key and not unsigned else "",
        junk_of(release.path, manifest, release.strays),
    )


def _against_key(folder: Path, key: PublicKey) -> Iterator[Finding]:
    try:
        signature = (folder / SIGNATURE).read_bytes()
    except FileNotFoundError:
        yield Finding(SIGNATURE, "is missing: the release is not signed")
        return
    if reason := why_not_signed((folder / MANIFEST).read_bytes(), signature, key):
        yield Finding(SIGNATURE, reason)


def _against_data(folder: Path, manifest: Manifest, progress: Progress) -> Iterator[Finding]:
    """Make everything that follows from the frozen data again, and compare."""
    try:
        info = Folder(folder).info
        tables = {table.path for table in list_tables(info)}
    except (ReleaseError, *NOT_AS_WRITTEN) as problem:
        yield Finding("release.json", f"cannot be read: {problem}")
        return
    if (info.get("name"), info.get("version")) != (manifest.release, manifest.version):
        yield Finding("release.json", "names another release than the manifest")
    if tables - manifest.files.keys():
        yield from (Finding(path, "is missing") for path in sorted(tables - manifest.files.keys()))
        return
    hashes = {path: manifest.files[path].sha256 for path in tables}
    with tempfile.TemporaryDirectory(prefix="verify-") as temporary:
        again = Path(temporary)
        for path in _frozen(manifest):
            (again / path).parent.mkdir(parents=True, exist_ok=True)
            (again / path).symlink_to((folder / path).resolve())
        try:
            derive(again, hashes=hashes, progress=progress)
        except (ReleaseError, *NOT_AS_WRITTEN) as problem:
            yield Finding("release.json", f"its numbers cannot be computed: {problem}")
            return
        progress.note("Comparing")
        made = set(paths_in(again))
        for path in sorted(manifest.files.keys() - made):
            if not path.startswith("images/"):
                yield Finding(path, "is no file of a release")
        for path in sorted(made - manifest.files.keys()):
            yield Finding(path, "is missing from the manifest")
        for path in sorted(made & manifest.files.keys()):
            if not (again / path).is_symlink():
                yield from _compared(path, folder, again)
    yield from _pictures(folder, manifest)


def _frozen(manifest: Manifest) -> Iterator[str]:
    primary = {table.path for table in ALL_TABLES.values() if table.is_primary}
    for path in manifest.files:
        if path in primary or path in FROZEN or path.startswith("runs/"):
            yield path


def _compared(path: str, folder: Path, again: Path) -> Iterator[Finding]:
    try:
        reason = _difference(path, folder / path, again / path)
        if not reason and path in MTEB_PATHS:
            reason = mteb_differs(Folder(folder), folder / path)
    except (ReleaseError, OSError, *NOT_AS_WRITTEN) as problem:
        reason = f"cannot be read: {problem}"
    if reason:
        yield Finding(path, reason)


def _difference(path: str, held: Path, made: Path) -> str:
    """Return how a file differs from what the data give, "" if it does not."""
    if path.endswith(".parquet"):
        # pictures are not made again; what stands beside them is
        beside = pq.read_schema(made).names if path in MTEB_PATHS else pq.read_schema(held).names
        n_values(held, pq.read_metadata(held), beside)
        return _table_differs(pq.read_table(held, columns=beside), pq.read_table(made))
    if path in PROSE:
        return _numbers_differ(held, made)
    if path.endswith(".json") and not path.startswith("vsd/"):
        mine, theirs = (Folder(file.parent).json(file.name) for file in (held, made))
        place = _value_differs(mine, theirs, "")
        return f"is not what the data give at {place}" if place else ""
    number = _line_that_differs(held, made)
    return f"is not what the data give, first in line {number}" if number else ""


def _line_that_differs(held: Path, made: Path) -> int:
    """Return the first line in which two texts differ by more than the last digits of a number.

    Another processor adds in another order, and a score then ends in other digits.
    """
    with held.open("rb") as one, made.open("rb") as other:
        for number, (mine, theirs) in enumerate(zip_longest(one, other), 1):
            if mine != theirs and not (mine and theirs and _same_but_for_digits(mine, theirs)):
                return number
    return 0


def _same_but_for_digits(held: bytes, made: bytes) -> bool:
    mine, theirs = _DECIMAL.split(held), _DECIMAL.split(made)  # words and decimals by turns
    return mine[::2] == theirs[::2] and all(
        _same(float(a), float(b)) for a, b in zip(mine[1::2], theirs[1::2], strict=True)
    )


def _numbers_differ(held: Path, made: Path) -> str:
    """Compare the numbers that two documents show, in their order."""
    shown, right = (
        _NUMBER.findall(_STYLE.sub("", path.read_text(encoding="utf-8"))) for path in (held, made)
    )
    if shown == right:
        return ""
    for number, (mine, theirs) in enumerate(zip(shown, right, strict=False), 1):
        if mine != theirs:
            return f"shows {mine} as its number {number:,} where the data give {theirs}"
    return f"shows {len(shown):,} numbers where the data give {len(right):,}"


def _table_differs(held: pa.Table, made: pa.Table) -> str:
    if held.schema != made.schema:
        return "has other columns than the data give"
    if held.num_rows != made.num_rows:
        return f"has {held.num_rows:,} rows where the data give {made.num_rows:,}"
    for name in held.schema.names:
        if held[name].equals(made[name]):
            continue
        mine, theirs = held[name].to_pylist(), made[name].to_pylist()
        for row, (a, b) in enumerate(zip(mine, theirs, strict=True), 1):
            if not _same(a, b):
                return f"has {a!r} for {name} in row {row:,} where the data give {b!r}"
    return ""


def _value_differs(held: Any, made: Any, place: str) -> str:
    """Return the place of the first value that differs, "" if there is none."""
    if isinstance(held, dict) and isinstance(made, dict):
        if held.keys() != made.keys():
            names = sorted(held.keys() ^ made.keys())
            return f"{place}/{names[0]}"
        places = (_value_differs(held[name], made[name], f"{place}/{name}") for name in held)
        return next(filter(None, places), "")
    if isinstance(held, list) and isinstance(made, list):
        if len(held) != len(made):
            return f"{place}/{min(len(held), len(made))}"
        pairs = enumerate(zip(held, made, strict=True))
        places = (_value_differs(a, b, f"{place}/{row}") for row, (a, b) in pairs)
        return next(filter(None, places), "")
    return "" if _same(held, made) else place or "/"


def _same(held: object, made: object) -> bool:
    if isinstance(held, float) and isinstance(made, float):
        return math.isclose(held, made, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    return held == made


def _pictures(folder: Path, manifest: Manifest) -> Iterator[Finding]:
    """Compare the images held with the table of images."""
    named = dict(Folder(folder).rows("images", "file", "sha256"))
    named.pop("", None)
    held = {path for path in manifest.files if path.startswith("images/")}
    for path in sorted(held ^ named.keys()):
        yield Finding(path, "is in the folder or in data/images.parquet, but not in both")
    for path in sorted(held & named.keys()):
        if manifest.files[path].sha256 != named[path]:
            yield Finding(path, "is not the image that data/images.parquet names")
