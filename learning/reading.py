"""Read texts into vectors. Only tasks and commands import this: it loads torch.

A worker keeps the encoder that it has loaded: loading takes seconds, reading does not.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from catalog.projections import read_layers
from jobs.services import JobError
from learning.models import TextSpace
from lookalike.backbones.errors import BackboneError
from lookalike.core.arrays import Float32s
from lookalike.learning.language.encoders import TextEncoder, encode_prompts, load_encoder


@lru_cache(maxsize=2)
def ready_encoder(spec: str) -> TextEncoder:
    """Return a text encoder.

    Raises:
        JobError: its weights or words are not here.
    """
    try:
        return load_encoder(spec)
    except BackboneError as problem:
        raise JobError(str(problem)) from problem


def read_texts(space: TextSpace, texts: Sequence[str]) -> Float32s:
    """Return texts as unit vectors of a space, shape (n, dim).

    Raises:
        Refused: the encoder knows no word of one of them.
        JobError: the encoder cannot be loaded, or is another than the space was learned with.
    """
    encoder = ready_encoder(space.encoder_spec)
    if encoder.fingerprint != space.encoder_fingerprint:
        raise JobError(
            f"“{space}” was learned with another {space.encoder_spec} than is installed here; "
            "install that one again, or learn the space anew."
        )
    return read_layers(space.texts_sha256).apply(encode_prompts(encoder, texts))
