"""Read texts into vectors. Only tasks and commands import this: it loads torch.

A worker keeps the encoder that it has loaded: loading takes seconds, reading does not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache

from catalog.vectors.projections import read_layers
from jobs.services import JobError, PassingError
from learning.models import TextSpace
from lookalike.backbones.errors import BackboneError
from lookalike.core.arrays import Float32s
from lookalike.core.memory import is_out_of_memory
from lookalike.learning.language.encoders import TextEncoder, encode_notion, load_encoder


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


@contextmanager
def full_memory_named() -> Iterator[None]:
    """Say in words that memory was full, torch's or numpy's, for what is done within.

    Raises:
        PassingError: it was.
    """
    try:
        yield
    except (RuntimeError, MemoryError) as problem:
        if not is_out_of_memory(problem):
            raise
        raise PassingError(
            "memory: the worker's is too small for this; give it more, or wait until others end."
        ) from problem


def space_encoder(space: TextSpace) -> TextEncoder:
    """Return what reads the texts of a space.

    Raises:
        JobError: it cannot be loaded, or is another than the space was learned with.
    """
    encoder = ready_encoder(space.encoder_spec)
    if encoder.fingerprint != space.encoder_fingerprint:
        raise JobError(
            f"“{space}” was learned with another {space.encoder_spec} than is installed here; "
            "install that one again, or learn the space anew."
        )
    return encoder


def read_texts(space: TextSpace, texts: Sequence[str]) -> Float32s:
    """Return texts as unit vectors of a space, shape (n, dim).

    Raises:
        Refused: the encoder knows no word of one of them, or sees no difference between two.
        JobError: as `space_encoder`.
    """
    encoder = space_encoder(space)
    return read_layers(space.texts_sha256).apply(encode_notion(encoder, texts))
