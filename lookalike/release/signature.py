"""Detached signatures of releases, as minisign writes and checks them.

Format: https://jedisct1.github.io/minisign/ (Ed25519 over BLAKE2b-512 of the file, and again over
the signature with its trusted comment).
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from types import ModuleType

from lookalike.release.errors import ReleaseError

_KEY = b"Ed"
_PREHASHED = b"ED"
_N_ID, _N_KEY, _N_SIGNATURE = 8, 32, 64
_N_SECRET = 158
_UNLOCKED = bytes(2)  # no function derives a key from a password
_TRUSTED = "trusted comment: "


@dataclass(frozen=True)
class PublicKey:
    """A key that signatures are checked with.

    Attributes:
        number: its 8 bytes that signatures name.
        key: 32 bytes of Ed25519.
    """

    number: bytes
    key: bytes

    def __str__(self) -> str:
        return base64.b64encode(_KEY + self.number + self.key).decode()

    @property
    def name(self) -> str:
        """Its number as minisign shows it."""
        return _name(self.number)


@dataclass(frozen=True)
class SigningKey:
    """A key that signs; `repr` tells nothing of it.

    Attributes:
        public: what others check with.
    """

    public: PublicKey
    _sign: Callable[[bytes], bytes]

    def __repr__(self) -> str:
        return f"SigningKey({self.public.name})"

    def sign(self, content: bytes, comment: str) -> str:
        """Return the signature of a file, with a comment that it covers; always the same bytes."""
        signature = self._sign(blake2b(content).digest())
        over_all = self._sign(signature + comment.encode())
        head = _PREHASHED + self.public.number + signature
        return (
            f"untrusted comment: signature by {self.public.name}\n{_base64(head)}\n"
            f"{_TRUSTED}{comment}\n{_base64(over_all)}\n"
        )


def read_public_key(source: str | Path) -> PublicKey:
    """Read a public key: the file that minisign makes, or the line that begins with RW.

    Raises:
        ReleaseError: neither.
    """
    text = str(source).strip()
    if not re.fullmatch(r"RW[A-Za-z0-9+/]{54}", text):
        text = _key_line(Path(source), "public")
    content = _decoded(text, f"{source} is no public key of minisign")
    if len(content) != 2 + _N_ID + _N_KEY or content[:2] != _KEY:
        raise ReleaseError(f"{source} is no public key of minisign")
    return PublicKey(content[2 : 2 + _N_ID], content[2 + _N_ID :])


def read_signing_key(path: Path) -> SigningKey:
    """Read a secret key without a password, as `minisign -G -W` makes it.

    Raises:
        ReleaseError: no such key, one with a password, or damaged.
    """
    content = _decoded(_key_line(path, "secret"), f"{path} is no secret key of minisign")
    if len(content) != _N_SECRET or content[:2] != _KEY:
        raise ReleaseError(f"{path} is no secret key of minisign")
    if content[2:4] != _UNLOCKED:
        raise ReleaseError(
            f"{path} has a password, which a worker cannot be asked for; take it off with "
            "`minisign -C -W`, and let nobody but the site read the file."
        )
    held = content[54:]
    number, seed, key = held[:8], held[8:40], held[40:72]
    private = _ed25519().Ed25519PrivateKey.from_private_bytes(seed)
    if private.public_key().public_bytes_raw() != key:
        raise ReleaseError(f"{path} is damaged: its two halves do not fit each other")
    return SigningKey(PublicKey(number, key), private.sign)


def why_not_signed(content: bytes, signature: bytes, key: PublicKey) -> str:
    """Return why a file is not signed by a key, "" if it is."""
    try:
        _, first, trusted, second, _ = signature.decode().split("\n")
        head, over_all = (base64.b64decode(line, validate=True) for line in (first, second))
    except ValueError:
        return "is no signature of minisign"
    comment = trusted.removeprefix(_TRUSTED)
    is_plain = (_base64(head), _base64(over_all)) == (first, second)  # spare bits say nothing
    if not is_plain or comment == trusted or len(head) != 2 + _N_ID + _N_SIGNATURE:
        return "is no signature of minisign"
    number, signed = head[2 : 2 + _N_ID], head[2 + _N_ID :]
    if number != key.number:
        return f"is by the key {_name(number)}, not by {key.name}"
    if head[:2] != _PREHASHED or not _fits(key, signed, blake2b(content).digest()):
        return "does not fit the file that it signs: one of the two was changed"
    if not _fits(key, over_all, signed + comment.encode()):
        return "has another trusted comment than was signed"
    return ""


def _fits(key: PublicKey, signature: bytes, content: bytes) -> bool:
    public = _ed25519().Ed25519PublicKey.from_public_bytes(key.key)
    from cryptography.exceptions import InvalidSignature  # noqa: PLC0415

    try:
        public.verify(signature, content)
    except InvalidSignature:
        return False
    return True


def _ed25519() -> ModuleType:
    """Return the module; the bare library does without the package until a key is given."""
    try:
        from cryptography.hazmat.primitives.asymmetric import ed25519  # noqa: PLC0415
    except ModuleNotFoundError as problem:
        raise ReleaseError(
            "signatures need cryptography: pip install 'lookalike[publishing]'"
        ) from problem
    return ed25519


def _key_line(path: Path, kind: str) -> str:
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, ValueError) as problem:
        raise ReleaseError(f"The {kind} key {path} cannot be read: {problem}") from problem
    return lines[1].strip() if len(lines) > 1 else ""


def _decoded(text: str, otherwise: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise ReleaseError(otherwise) from None


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode()


def _name(number: bytes) -> str:
    return f"{int.from_bytes(number, 'little'):016X}"
