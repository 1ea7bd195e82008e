"""What says how alike names are: a text encoder, word vectors, or WordNet."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lookalike.backbones.errors import SpecError
from lookalike.core.arrays import Float32s
from lookalike.learning.language.encoders import FORMS, TextEncoder, encode_prompts, load_encoder
from lookalike.learning.language.word_vectors import WordVectors
from lookalike.learning.language.wordnet import WordNet

LanguageSource = TextEncoder | WordVectors | WordNet
LANGUAGES = f"{FORMS}, vectors:FILE or wordnet:FOLDER"


def load_language(spec: str) -> LanguageSource:
    """Load what a spec names.

    Raises:
        BackboneError: nothing is named so, or an encoder's weights are not here.
        Refused: a file or folder that is not there.
        FormatError: it is something else.
    """
    kind, _, place = spec.partition(":")
    if kind == "vectors":
        return WordVectors(Path(place))
    if kind == "wordnet":
        return WordNet(Path(place))
    if kind not in ("sentence", "open_clip"):
        raise SpecError(f"{spec!r} names no language. Write {LANGUAGES}.")
    return load_encoder(spec)


def name_rows(names: Sequence[str], source: LanguageSource, template: str) -> Float32s:
    """Return vectors of names whose cosines say how alike these are, shape (n, e).

    Args:
        names: as people read them.
        source: what reads them.
        template: what a name goes into for a text encoder; the others read words alone.

    Raises:
        Refused: a name of which the source knows nothing.
    """
    if isinstance(source, WordVectors | WordNet):
        return source.rows(names)
    return encode_prompts(source, [template.replace("{}", name) for name in names])
