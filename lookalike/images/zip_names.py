"""The names of a zip's members, which few programs write in a way that says their encoding."""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections.abc import Iterable
from dataclasses import dataclass

from lookalike.images.source import SourceError
from lookalike.io.encodings import OF_NAMES, can_decode, encoding_name, guess_encoding

_IS_UTF8 = 0x800  # general purpose bit 11: the name is UTF-8 (APPNOTE 6.3.10, 4.4.4)
_UNICODE_PATH = 0x7075  # extra field of Info-ZIP (APPNOTE 6.3.10, 4.6.9)


@dataclass(frozen=True)
class ZipNames:
    """How to read the names that do not say their encoding.

    Attributes:
        encoding: theirs; UTF-8 where there are none.
        note: a remark for people where it is a guess; else "".
    """

    encoding: str = "utf-8"
    note: str = ""

    @classmethod
    def of(cls, members: Iterable[zipfile.ZipInfo], encoding: str = "") -> ZipNames:
        """Find the encoding of an archive's names.

        Args:
            members: all of it.
            encoding: as its owner states it; "" to guess.

        Raises:
            SourceError: there is no such encoding, or some name is not of it.
        """
        unsaid = [
            raw for member in members if _stated_name(member) is None
            and not (raw := _raw_name(member)).isascii()
        ]  # fmt: skip
        if encoding:
            return cls._as_stated(encoding, unsaid)
        guess = guess_encoding(b"\n".join(unsaid), OF_NAMES)
        if guess == "utf-8":
            return cls()
        example = unsaid[0].decode(guess)
        return cls(
            guess,
            f"{len(unsaid):,} of its names do not say their encoding. They were read as {guess}, "
            f"a guess: the first is “{example}”. If that is wrong, import again with another "
            "encoding of names (--names-encoding).",
        )

    @classmethod
    def _as_stated(cls, encoding: str, unsaid: list[bytes]) -> ZipNames:
        name = encoding_name(encoding)
        if name is None:
            raise SourceError(
                f"“{encoding}” is no encoding that is known. Write it as utf-8, cp437, cp1252, "
                "shift_jis, gbk, big5, euc_kr or koi8_r."
            )
        wrong = next((raw for raw in unsaid if not can_decode(raw, name)), None)
        if wrong is not None:
            shown = wrong.decode(name, "replace")
            raise SourceError(f"The name “{shown}” is not {name}: give another encoding of names.")
        return cls(name)

    def name_of(self, member: zipfile.ZipInfo) -> str:
        """Return the name of a member."""
        stated = _stated_name(member)
        return _raw_name(member).decode(self.encoding) if stated is None else stated


def _stated_name(member: zipfile.ZipInfo) -> str | None:
    """Return the name where the archive says its encoding; None where it does not."""
    if member.flag_bits & _IS_UTF8:
        return member.orig_filename
    extra = member.extra
    while len(extra) >= 4:
        kind, length = struct.unpack("<HH", extra[:4])
        body, extra = extra[4 : 4 + length], extra[4 + length :]
        if kind == _UNICODE_PATH and body[:1] == b"\1" and len(body) > 5:
            fits = int.from_bytes(body[1:5], "little") == zlib.crc32(_raw_name(member))
            if fits and can_decode(body[5:], "utf-8"):
                return body[5:].decode()
    return None


def _raw_name(member: zipfile.ZipInfo) -> bytes:
    """Return the bytes of a name; zipfile has read those that are not UTF-8 as cp437."""
    is_utf8 = member.flag_bits & _IS_UTF8
    return member.orig_filename.encode("utf-8" if is_utf8 else "cp437", "surrogatepass")
