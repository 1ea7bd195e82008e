"""What a line such as `timm:resnet50 k=12` or `random:7` says: who proposes, and how deep.

Pure. A source is named by one text, its spec; the word before the colon says what kind it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from lookalike.backbones.spec import FORMS, SpecError, parse_spec

MAX_SEED = 2**63 - 1
SOURCE_FORMS = f"{FORMS}, learned:SPACE[#NOTION], random:SEED, plugin:DOTTED.PATH"
_DEPTH = re.compile(r"(?P<spec>.*\S)\s+k\s*=\s*(?P<k>\d+)")
_DOTTED = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)+")
_LEARNED = re.compile(r"[A-Za-z0-9_-]{1,80}(#[A-Za-z0-9_-]{1,80})?")
_UPLOAD_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,79}")


class SourceKind(StrEnum):
    """What proposes."""

    BACKBONE = "backbone"
    LEARNED = "learned"
    EMBEDDINGS = "embeddings"
    RANKING = "ranking"
    RANDOM = "random"
    PLUGIN = "plugin"


UPLOADED = (SourceKind.EMBEDDINGS, SourceKind.RANKING)


@dataclass(frozen=True)
class Wish:
    """A source that somebody wants.

    Attributes:
        spec: its canonical name.
        k: its own depth, None for the pool's.
    """

    spec: str
    k: int | None = None


def source_kind(spec: str) -> SourceKind:
    """Return what kind of source a spec names."""
    prefix = spec.partition(":")[0]
    return SourceKind(prefix) if prefix in set(SourceKind) else SourceKind.BACKBONE


def canonical(spec: str) -> str:
    """Return the canonical text of a spec.

    Raises:
        SpecError: it names no source; the message says which part is wrong.
    """
    text = spec.strip()
    kind, name = source_kind(text), text.partition(":")[2]
    if kind == SourceKind.BACKBONE:
        return str(parse_spec(text))
    if kind == SourceKind.RANDOM and name.isdecimal() and int(name) <= MAX_SEED:
        return f"random:{int(name)}"
    if kind == SourceKind.PLUGIN and _DOTTED.fullmatch(name):
        return text
    if kind == SourceKind.LEARNED and _LEARNED.fullmatch(name):
        return text
    if kind in UPLOADED and _UPLOAD_NAME.fullmatch(name):
        return text
    raise SpecError(f"{text!r} names no source. Write {SOURCE_FORMS}.")


def uploaded_spec(kind: SourceKind, name: str) -> str:
    """Return the spec of an upload that people call `name`.

    Raises:
        SpecError: the name has other characters than letters, digits and . _ -.
    """
    if not _UPLOAD_NAME.fullmatch(name):
        raise SpecError(
            f"{name!r} is no name for an upload: use up to 80 letters, digits, dots, dashes and "
            "underscores, beginning with a letter or digit."
        )
    return f"{kind.value}:{name}"


def split_depth(text: str) -> tuple[str, int | None]:
    """Return the spec and its own depth from `SPEC k=12`; the depth is None where none stands."""
    match = _DEPTH.fullmatch(text.strip())
    return (match["spec"], int(match["k"])) if match else (text.strip(), None)


def parse_depths(lines: Iterable[str]) -> dict[str, int]:
    """Return {spec: k} from lines that each name a source and its new depth.

    Raises:
        SpecError: a line has no depth, or names a source twice.
    """
    depths: dict[str, int] = {}
    for line in filter(str.strip, lines):
        spec, k = split_depth(line)
        if k is None:
            raise SpecError(f"{line.strip()!r} says no depth; write {line.strip()} k=12.")
        if spec in depths:
            raise SpecError(f"{spec} is named twice.")
        depths[spec] = k
    return depths
