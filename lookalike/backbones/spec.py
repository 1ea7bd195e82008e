"""Names of backbones: `timm:...`, `open_clip:...`, `file:...`, `descriptor:...`.

`@stages` behind a timm model or a file asks for mean and spread of each of its stages in place of
its last layer, `@classes` for what its classifier takes a picture for. The precision of a
network's forward pass may follow: `timm:resnet18@bfloat16`. Vectors are stored as float16;
`@stored-float32` in the end asks for float32.

No torch here: pages and forms read specs too. Whether a library knows a model is only checked
when the model is loaded.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from difflib import get_close_matches
from enum import StrEnum
from urllib.parse import parse_qsl

from lookalike.backbones.errors import SpecError

__all__ = ["DESCRIPTORS", "FORMS", "Source", "Spec", "SpecError", "backbone_family", "parse_spec"]

DESCRIPTORS = {
    "colour-histogram": "How much of the image has which colour: 8 x 8 x 8 bins of RGB",
    "colour-layout": "Which colour is where: mean and spread of Lab in a 4 x 4 grid",
    "lbp-texture": "Local binary patterns at two radii: fine texture, no colour",
    "hog-shape": "Histograms of oriented gradients: outlines and shape",
}
FORMS = "timm:MODEL[.TAG], open_clip:ARCH/PRETRAINED, file:PATH?arch=TIMM_MODEL or descriptor:NAME"
PRECISIONS = ("float32", "bfloat16", "float16")
_PRECISION = re.compile(rf"@({'|'.join(PRECISIONS)})$")
_POOLING = re.compile(r"@(stages|classes)$")
_STORED = re.compile(r"@stored-(float16|float32)$")
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")


class Source(StrEnum):
    """Where a backbone comes from."""

    TIMM = "timm"
    OPEN_CLIP = "open_clip"
    FILE = "file"
    DESCRIPTOR = "descriptor"


@dataclass(frozen=True)
class Spec:
    """A parsed spec.

    Attributes:
        source: the library, or where else the model comes from.
        model: the timm or open_clip architecture, or the descriptor's name.
        weights: timm's tag, open_clip's pretrained name, or the path of a file; "" for timm's
            default tag and for descriptors.
        precision: of a network's forward pass; "" for float32.
        stored: of the vectors that are kept; "" for float16.
        pooling: "stages" for mean and spread of each stage, "classes" for the probabilities of its
            classes; "" for the model's own.
    """

    source: Source
    model: str
    weights: str = ""
    precision: str = ""
    stored: str = ""
    pooling: str = ""

    def __str__(self) -> str:
        pooling = f"@{self.pooling}" if self.pooling else ""
        precision = f"@{self.precision}" if self.precision else ""
        return self._name + pooling + precision + (f"@stored-{self.stored}" if self.stored else "")

    @property
    def _name(self) -> str:
        match self.source:
            case Source.TIMM:
                return f"timm:{self.model}" + (f".{self.weights}" if self.weights else "")
            case Source.OPEN_CLIP:
                return f"open_clip:{self.model}/{self.weights}"
            case Source.FILE:
                return f"file:{self.weights}?arch={self.model}"
            case Source.DESCRIPTOR:
                return f"descriptor:{self.model}"


def parse_spec(text: str) -> Spec:
    """Return the backbone that a text names; `str()` of it is the canonical text.

    Raises:
        SpecError: the text has none of the four forms; the message says which part is wrong.
    """
    text = text.strip()
    source, colon, rest = text.partition(":")
    if not colon or source not in set(Source):
        raise SpecError(f"{text!r} names no backbone. Write {FORMS}.")
    if not rest:
        raise SpecError(f"{text!r} lacks a name after the colon. Write {FORMS}.")
    stored, rest = _cut(_STORED, rest)
    precision, rest = _cut(_PRECISION, rest)
    pooling, rest = _cut(_POOLING, rest)
    if pooling and source not in {Source.TIMM, Source.FILE}:
        raise SpecError(f"{text!r}: @{pooling} belongs behind a timm model or a file.")
    if precision and source == Source.DESCRIPTOR:
        raise SpecError(f"{text!r}: a descriptor has no precision; leave @{precision} out.")
    return replace(
        _PARSERS[Source(source)](text, rest),
        precision="" if precision == "float32" else precision,
        stored="" if stored == "float16" else stored,
        pooling=pooling,
    )


def _cut(ending: re.Pattern[str], text: str) -> tuple[str, str]:
    """Return what an ending says, "" where there is none, and the text without it."""
    match = ending.search(text)
    return (match.group(1), text[: match.start()]) if match else ("", text)


def _timm(text: str, rest: str) -> Spec:
    model, _, tag = rest.partition(".")
    _require_name(text, "model", model)
    if "." in rest:
        _require_name(text, "tag", tag)
    return Spec(Source.TIMM, model, tag)


def _open_clip(text: str, rest: str) -> Spec:
    arch, slash, pretrained = rest.partition("/")
    if not slash or not pretrained:
        raise SpecError(
            f"{text!r} does not say which weights. Write open_clip:ARCH/PRETRAINED, "
            f"for example open_clip:ViT-B-32-quickgelu/openai."
        )
    _require_name(text, "architecture", arch)
    _require_name(text, "name of the weights", pretrained)
    return Spec(Source.OPEN_CLIP, arch, pretrained)


def _file(text: str, rest: str) -> Spec:
    path, question, query = rest.rpartition("?")
    try:
        options = dict(parse_qsl(query, strict_parsing=True)) if question else {}
    except ValueError:
        options = {}
    if not path or set(options) != {"arch"}:
        raise SpecError(
            f"{text!r} does not say which architecture the file is for. "
            "Write file:PATH?arch=TIMM_MODEL, for example file:/data/w.safetensors?arch=resnet50."
        )
    _require_name(text, "architecture", options["arch"])
    return Spec(Source.FILE, options["arch"], path)


def _descriptor(text: str, rest: str) -> Spec:
    if rest not in DESCRIPTORS:
        near = get_close_matches(rest, DESCRIPTORS, n=1, cutoff=0.4)
        hint = (
            f"Did you mean descriptor:{near[0]}?" if near else f"Known: {', '.join(DESCRIPTORS)}."
        )
        raise SpecError(f"{text!r}: there is no descriptor {rest!r}. {hint}")
    return Spec(Source.DESCRIPTOR, rest)


def _require_name(text: str, what: str, name: str) -> None:
    if not _NAME.fullmatch(name):
        raise SpecError(f"{text!r}: {name!r} is no {what}. Write {FORMS}.")


_PARSERS = {
    Source.TIMM: _timm,
    Source.OPEN_CLIP: _open_clip,
    Source.FILE: _file,
    Source.DESCRIPTOR: _descriptor,
}


def backbone_family(spec: str) -> str:
    """Return the family of a model: its kind and architecture without size or number.

    All open_clip models are of one family; each classical descriptor is alone.

    >>> backbone_family("timm:tf_efficientnet_lite0"), backbone_family("descriptor:hog-shape")
    ('timm:tf_efficientnet_lite', 'descriptor:hog-shape')
    """
    kind, _, name = spec.partition(":")
    if kind == "timm":
        match = re.match(r"[a-z]+(?:_[a-z]+)*", name)
        return f"timm:{match.group() if match else name}"
    return kind if kind == "open_clip" else spec
