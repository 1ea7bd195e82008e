"""Check a release offline: every hash, and every file that follows from the frozen data."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from lookalike.core.progress import SILENT, Progress
from lookalike.release.derive import derive
from lookalike.release.errors import ReleaseError
from lookalike.release.format.archive import Unpacked, unpacked
from lookalike.release.format.folder import Folder
from lookalike.release.format.layout import (
    FACTS,
    FIRST_WITH_BOARD,
    MANIFEST,
    MTEB_PATHS,
    SCHEMA_VERSION,
    SIGNATURE,
    described_files,
    list_tables,
)
from lookalike.release.format.manifest import Manifest, paths_in, read_manifest
from lookalike.release.model_entries import contradictions
from lookalike.release.mteb_tables import mteb_differs
from lookalike.release.signature import PublicKey, why_not_signed
from lookalike.release.verify_content import difference
from lookalike.release.verify_files import Finding, against_manifest, junk_of

# What content that this program did not write makes its readers raise.
NOT_AS_WRITTEN = (
    LookupError, ValueError, TypeError, AttributeError, ArithmeticError, pa.ArrowException,
)  # fmt: skip
CROISSANT = "croissant.json"
UNSIGNED, NOT_CHECKED, SIGNED, NOT_BY_KEY = "unsigned", "not checked", "signed", "not by the key"


@dataclass(frozen=True)
class Verdict:
    """The outcome of a check.

    Attributes:
        release, version, seal: which release it is; empty where its manifest is not readable.
        n_files: files of the manifest.
        findings: empty if everything is right.
        were_numbers_checked: False where damaged files left nothing to compute from.
        signed_by: name of the key that was given, if it has signed the release; else empty.
        signature: `UNSIGNED`; `NOT_CHECKED`, without a key to check it; `SIGNED` by the key that
            was given; or `NOT_BY_KEY`.
        computed: files that were made again from the others and compared.
        only_hashed: files that nothing else gives: the seal holds them, and a signature.
        were_words_compared: whether documents and findings were compared word by word, as those
            of the current schema version are; of earlier ones, number by number.
        schema_version: the release's schema version.
        left_by_systems: files of desktops and archive programs, which are no finding.
    """

    release: str
    version: str
    seal: str
    n_files: int
    findings: tuple[Finding, ...]
    were_numbers_checked: bool
    signed_by: str = ""
    signature: str = UNSIGNED
    computed: tuple[str, ...] = ()
    only_hashed: tuple[str, ...] = ()
    were_words_compared: bool = False
    schema_version: int = 0
    left_by_systems: tuple[str, ...] = ()

    @property
    def is_right(self) -> bool:
        """Whether nothing was found."""
        return not self.findings


def verify(
    source: str | Path, progress: Progress = SILENT, key: PublicKey | None = None
) -> Verdict:
    """Check a release folder or zip.

    First every file against the manifest. If all are whole, every table, list, finding and
    document is made again from the frozen data and compared. Documents of the current schema
    version are compared word by word, those of earlier ones by their numbers: another program
    chose their words.

    Args:
        source: the release.
        progress: shows the current step.
        key: the manifest must be signed by it; None asks for no signature.

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
    signature, unsigned = _check_signature(release.path, key)
    progress.note("Hashing files")
    findings = list(against_manifest(release.path, manifest, release.strays))
    is_whole = all(finding.is_extra for finding in findings)
    compared = _Compared()
    if is_whole:
        compared = _compare_with_data(release.path, manifest, progress)
    return Verdict(
        manifest.release,
        manifest.version,
        manifest.seal,
        len(manifest.files),
        (*unsigned, *findings, *compared.findings),
        is_whole,
        key.name if key and signature == SIGNED else "",
        signature,
        compared.paths,
        tuple(sorted(manifest.files.keys() - set(compared.paths))) if compared.paths else (),
        bool(compared.paths) and has_current_words(manifest),
        manifest.schema_version,
        junk_of(release.path, manifest, release.strays),
    )


def has_current_words(manifest: Manifest) -> bool:
    """Whether this program words the documents of a release as the one that wrote it did."""
    return manifest.schema_version == SCHEMA_VERSION


def _check_signature(folder: Path, key: PublicKey | None) -> tuple[str, list[Finding]]:
    """Return the state of the signature, and its faults if a key is given."""
    try:
        signature = (folder / SIGNATURE).read_bytes()
    except FileNotFoundError:
        missing = Finding(SIGNATURE, "is missing: the release is not signed")
        return UNSIGNED, [missing] if key else []
    if key is None:
        return NOT_CHECKED, []
    if reason := why_not_signed((folder / MANIFEST).read_bytes(), signature, key):
        return NOT_BY_KEY, [Finding(SIGNATURE, reason)]
    return SIGNED, []


@dataclass(frozen=True)
class _Compared:
    """Findings of the comparison with the data, and the files that the data give."""

    findings: tuple[Finding, ...] = ()
    paths: tuple[str, ...] = ()


def _compare_with_data(folder: Path, manifest: Manifest, progress: Progress) -> _Compared:
    """Make everything that follows from the frozen data again, and compare."""
    try:
        info = Folder(folder).info
        frozen = set(_frozen(folder, info))
    except (ReleaseError, *NOT_AS_WRITTEN) as problem:
        return _Compared((Finding("release.json", f"cannot be read: {problem}"),))
    findings = list(_against_names(info, manifest))
    needed = {table.path for table in list_tables(info)} | frozen | {CROISSANT}
    if missing := sorted(needed - manifest.files.keys()):
        return _Compared((*findings, *(Finding(path, "is missing") for path in missing)))
    hashes = {path: manifest.files[path].sha256 for path in described_files(info)}
    with tempfile.TemporaryDirectory(prefix="verify-") as temporary:
        again = Path(temporary)
        for path in frozen:
            (again / path).parent.mkdir(parents=True, exist_ok=True)
            (again / path).symlink_to((folder / path).resolve())
        try:
            derive(again, hashes=hashes, progress=progress)
            findings += _against_entries(Folder(folder), manifest)
        except (ReleaseError, *NOT_AS_WRITTEN) as problem:
            reason = f"its numbers cannot be computed: {problem}"
            return _Compared((*findings, Finding("release.json", reason)))
        progress.note("Comparing")
        made = set(paths_in(again))
        for path in sorted(manifest.files.keys() - made):
            if not path.startswith("images/"):
                findings.append(Finding(path, "is no file of a release"))
        for path in sorted(made - manifest.files.keys()):
            findings.append(Finding(path, "is missing from the manifest"))
        computed = sorted(made & manifest.files.keys() - frozen)
        for path in computed:
            findings += _compared(path, folder, again, has_current_words(manifest))
    return _Compared((*findings, *_pictures(folder, manifest)), tuple(computed))


def _frozen(folder: Path, info: Mapping[str, Any]) -> Iterator[str]:
    """Yield the files of a release that nothing else gives, but for pictures."""
    yield from FACTS
    if info["schema_version"] < FIRST_WITH_BOARD:
        yield "bias.json"
    yield from (table.path for table in list_tables(info) if table.is_primary)
    yield from (f"runs/{model['id']}.parquet" for model in Folder(folder).scored)


def _against_names(info: Mapping[str, Any], manifest: Manifest) -> Iterator[Finding]:
    if (info.get("name"), info.get("version")) != (manifest.release, manifest.version):
        yield Finding("release.json", "names another release than the manifest")
    if info["schema_version"] != manifest.schema_version:
        yield Finding("release.json", "names another schema version than the manifest")


def _against_entries(release: Folder, manifest: Manifest) -> Iterator[Finding]:
    """Compare the facts of a release with what its pool and croissant.json say of them."""
    if release.info["schema_version"] < FIRST_WITH_BOARD:
        return
    yield from (Finding("models.json", reason) for reason in contradictions(release))
    try:
        files = release.json(CROISSANT)["distribution"]
        named = {one["@id"]: one["sha256"] for one in files}
    except (ReleaseError, *NOT_AS_WRITTEN):
        return  # it is named by itself
    for path in FACTS:
        if named.get(path) != manifest.files[path].sha256:
            yield Finding(path, f"is not the file whose SHA-256 {CROISSANT} names")


def _compared(path: str, folder: Path, again: Path, compare_words: bool) -> Iterator[Finding]:
    try:
        reason = difference(path, folder / path, again / path, compare_words=compare_words)
        if not reason and path in MTEB_PATHS:
            reason = mteb_differs(Folder(folder), folder / path)
    except (ReleaseError, OSError, *NOT_AS_WRITTEN) as problem:
        reason = f"cannot be read: {problem}"
    if reason:
        yield Finding(path, reason)


def _pictures(folder: Path, manifest: Manifest) -> Iterator[Finding]:
    """Compare the images held with the table of images, and their names with their hashes."""
    release = Folder(folder)
    if release.info["schema_version"] >= FIRST_WITH_BOARD:
        for image, sha256 in release.sha256_of.items():
            if not sha256.startswith(image):
                yield Finding("data/images.parquet", f"gives {image} the SHA-256 {sha256}")
    named = release.image_sha256
    held = {path for path in manifest.files if path.startswith("images/")}
    for path in sorted(held ^ named.keys()):
        yield Finding(path, "is in the folder or in data/images.parquet, but not in both")
    for path in sorted(held & named.keys()):
        if manifest.files[path].sha256 != named[path]:
            yield Finding(path, "is not the image that the tables name")
