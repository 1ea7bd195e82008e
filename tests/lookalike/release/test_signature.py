"""Signatures: minisign's are read, ours are minisign's byte for byte, and none can be forged.

The keys and signatures in tests/golden/signatures were made by minisign 0.11.
"""

from __future__ import annotations

import base64
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from lookalike.cli.main import main
from lookalike.client.verify import verify as verify_download
from lookalike.release.errors import ReleaseError
from lookalike.release.format.archive import opened, write_archive
from lookalike.release.format.layout import MANIFEST, SIGNATURE
from lookalike.release.signature import read_public_key, read_signing_key, why_not_signed
from lookalike.release.verify import verify
from tests.lookalike.release.derived import NEWEST, seal
from tests.paths import ROOT

KEYS = ROOT / "tests/golden/signatures"
OURS, THEIRS = (read_public_key(KEYS / f"{name}.pub") for name in ("institution", "other"))
MESSAGE = (KEYS / "message.txt").read_bytes()


def test_a_signature_of_minisign_fits_and_ours_of_the_same_is_the_same() -> None:
    theirs = (KEYS / "message.txt.minisig").read_text()
    assert why_not_signed(MESSAGE, theirs.encode(), OURS) == ""
    ours = read_signing_key(KEYS / "institution.key").sign(MESSAGE, "message.txt of the tests")
    assert ours.splitlines()[1:] == theirs.splitlines()[1:]


def test_keys_are_named_as_minisign_names_them_and_read_from_file_or_line() -> None:
    comment, line = (KEYS / "other.pub").read_text().splitlines()
    assert comment.endswith(THEIRS.name.lstrip("0"))  # minisign leaves out a first 0
    assert read_public_key(line) == THEIRS
    assert str(THEIRS) == line
    signing = read_signing_key(KEYS / "institution.key")
    assert signing.public == OURS
    assert repr(signing) == f"SigningKey({OURS.name})"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("locked.key", "has a password"),
        ("institution.pub", "no secret key"),
        ("message.txt", "no secret key"),
        ("absent.key", "cannot be read"),
    ],
)
def test_a_key_that_cannot_sign_says_why(name: str, message: str) -> None:
    with pytest.raises(ReleaseError, match=message):
        read_signing_key(KEYS / name)


def test_a_damaged_secret_key_is_refused(tmp_path: Path) -> None:
    comment, line, _ = (KEYS / "institution.key").read_text().split("\n")
    content = bytearray(base64.b64decode(line))
    content[70] ^= 1
    path = tmp_path / "damaged.key"
    path.write_text(f"{comment}\n{base64.b64encode(content).decode()}\n")
    with pytest.raises(ReleaseError, match="damaged"):
        read_signing_key(path)


@pytest.mark.parametrize(
    "source", ["institution.key", "message.txt", "absent.pub", "RW" + "A" * 54]
)
def test_what_is_no_public_key_is_refused(source: str) -> None:
    with pytest.raises(ReleaseError, match=r"no public key|cannot be read"):
        read_public_key(source if source.startswith("RW") else KEYS / source)


def test_no_byte_of_a_signature_can_be_changed() -> None:
    whole = (KEYS / "message.txt.minisig").read_bytes()
    first = whole.index(b"\n")  # what stands before is called untrusted
    for at in range(first + 1, len(whole) - 1):
        broken = bytearray(whole)
        broken[at] ^= 1
        assert why_not_signed(MESSAGE, bytes(broken), OURS), at
    for end in range(len(whole)):
        assert why_not_signed(MESSAGE, whole[:end], OURS), end


def test_the_older_kind_of_signature_is_not_read() -> None:
    legacy = (KEYS / "legacy.txt.minisig").read_bytes()
    assert why_not_signed((KEYS / "legacy.txt").read_bytes(), legacy, OURS)


@pytest.fixture
def signed(tmp_path: Path) -> Path:
    """A signed release in a folder."""
    with opened(NEWEST) as folder:
        shutil.copytree(folder, tmp_path / "signed")
    return sign(tmp_path / "signed")


def sign(folder: Path, key: str = "institution") -> Path:
    content = (folder / MANIFEST).read_bytes()
    text = read_signing_key(KEYS / f"{key}.key").sign(content, "small 1.0.0")
    (folder / SIGNATURE).write_text(text)
    return folder


def zipped(folder: Path) -> Path:
    write_archive(folder, folder.parent / "signed.zip", "small-1.0.0")
    return folder.parent / "signed.zip"


def test_a_signed_release_is_right_as_folder_and_zip_with_and_without_the_key(signed: Path) -> None:
    for source in (signed, zipped(signed)):
        assert verify(source, key=OURS).signed_by == OURS.name
        assert verify(source, key=OURS).is_right
        assert verify_download(source) == []
    without = verify(signed)
    assert (without.is_right, without.signed_by) == (True, "")


def unsigned(folder: Path) -> None:
    (folder / SIGNATURE).unlink()


def other_key(folder: Path) -> None:
    sign(folder, "other")


def resealed(folder: Path) -> None:
    """What a forger does: change a file and write a manifest that fits."""
    (folder / "README.md").write_text((folder / "README.md").read_text() + "\nMine.\n")
    seal(folder)


def changed_manifest(folder: Path) -> None:
    content = (folder / MANIFEST).read_text().replace('"version": "1.0.0"', '"version": "1.0.1"')
    (folder / MANIFEST).write_text(content)


def other_comment(folder: Path) -> None:
    text = (folder / SIGNATURE).read_text().replace("small 1.0.0", "small 2.0.0")
    (folder / SIGNATURE).write_text(text)


def no_signature(folder: Path) -> None:
    (folder / SIGNATURE).write_bytes(b"\xff" * 9000)


ATTACKS: dict[Callable[[Path], None], tuple[str, str]] = {
    unsigned: (SIGNATURE, "not signed"),
    other_key: (SIGNATURE, f"is by the key {THEIRS.name}, not by {OURS.name}"),
    resealed: (SIGNATURE, "one of the two was changed"),
    changed_manifest: (MANIFEST, "its seal does not fit"),
    other_comment: (SIGNATURE, "another trusted comment"),
    no_signature: (SIGNATURE, "no signature of minisign"),
}


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.__name__)
@pytest.mark.parametrize("pack", [lambda folder: folder, zipped], ids=["folder", "zip"])
def test_what_was_done_to_a_signed_release_is_named_with_exit_1(
    signed: Path,
    attack: Callable[[Path], None],
    pack: Callable[[Path], Path],
    capsys: pytest.CaptureFixture[str],
) -> None:
    attack(signed)
    status = main(["verify", str(pack(signed)), "--key", str(KEYS / "institution.pub"), "--json"])
    found = json.loads(capsys.readouterr().out)
    assert (status, found["is_right"], found["signed_by"]) == (1, False, "")
    path, reason = ATTACKS[attack]
    [said] = [one["reason"] for one in found["findings"] if one["path"] == path]
    assert reason in said


def test_a_key_that_is_none_is_bad_input(signed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", str(signed), "--key", "nothing.pub"]) == 2
    assert "nothing.pub" in capsys.readouterr().err
