"""What the sub-commands of `learn` read."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lookalike.backbones.errors import BackboneError
from lookalike.core.arrays import Float32s
from lookalike.io.errors import InputError
from lookalike.learning.embeddings.recipe import WORDS
from lookalike.learning.language.encoders import (
    FORMS,
    SENTENCE,
    TextEncoder,
    encode_prompts,
    load_encoder,
)
from lookalike.learning.language.sources import LANGUAGES, LanguageSource, load_language
from lookalike.learning.lit.space import TextSpace


def add_reader(parser: argparse.ArgumentParser) -> None:
    """Add what reads prompts: an encoder, or a text space."""
    group = parser.add_mutually_exclusive_group(required=True)
    group.add_argument("--encoder", metavar="SPEC", help=FORMS)
    group.add_argument("--space", type=Path, metavar="FOLDER", help="of learn text-space")


@dataclass(frozen=True)
class Reader:
    """Turns texts into vectors where pictures are.

    Attributes:
        encoder: of texts.
        space: None where the encoder's pictures are there already.
    """

    encoder: TextEncoder
    space: TextSpace | None

    def read(self, texts: Sequence[str]) -> Float32s:
        """Return the vectors of texts where pictures are, shape (n, dim).

        Raises:
            Refused: the encoder knows no word of one of them.
        """
        vectors = encode_prompts(self.encoder, texts)
        return vectors if self.space is None else self.space.texts.apply(vectors)

    @property
    def fingerprint(self) -> str:
        """What tells it from any other that reads."""
        return self.encoder.fingerprint if self.space is None else self.space.texts.fingerprint


def reader(arguments: argparse.Namespace) -> Reader:
    """Return what reads texts.

    Raises:
        InputError: the encoder cannot be loaded, or is not that of the space.
    """
    space = TextSpace.load(arguments.space) if arguments.space else None
    spec = str(space.card["encoder_spec"]) if space else arguments.encoder
    try:
        encoder = load_encoder(spec)
    except BackboneError as problem:
        raise InputError(str(problem)) from problem
    if space is not None and encoder.fingerprint != space.card["encoder"]:
        raise InputError(f"{arguments.space} was learnt with another {spec} than is installed")
    return Reader(encoder, space)


def add_words(parser: argparse.ArgumentParser) -> None:
    """Add the options of words that guide."""
    parser.add_argument(
        "--words", choices=WORDS[1:], default="", help="that guide: ELG or PLG; default: none"
    )
    parser.add_argument(
        "--language", default=SENTENCE, metavar="SPEC",
        help=f"what reads the words: {LANGUAGES}; default: %(default)s",
    )  # fmt: skip
    parser.add_argument("--weight", type=float, default=10.0, help="of the words; %(default)s")


def read_language(spec: str) -> LanguageSource:
    """Return what says how alike names are.

    Raises:
        InputError: it cannot be loaded.
        Refused: a file or folder that is not there.
    """
    try:
        return load_language(spec)
    except BackboneError as problem:
        raise InputError(str(problem)) from problem
