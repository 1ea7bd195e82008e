"""open_clip's models: the image tower as a backbone, and both towers for pictures and texts."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import open_clip
import torch
from numpy.typing import NDArray
from open_clip.transform import PreprocessCfg, image_transform_v2, merge_preprocess_dict
from PIL import Image
from torch import nn

from lookalike.backbones.errors import (
    SpecError,
    WeightsError,
    WeightsUnavailableError,
    require_known,
)
from lookalike.backbones.hub import Wanted, find_weights
from lookalike.backbones.networks import NetworkBackbone, Pixels, Precision, use_full_float32
from lookalike.backbones.spec import Source, Spec, parse_spec
from lookalike.backbones.weights import state_sha256
from lookalike.core.memory import is_out_of_memory

_FILES = ("open_clip_model.safetensors", "open_clip_pytorch_model.bin")


class ImageTower(nn.Module):
    """The image half of a CLIP-like model, and nothing of its text half."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.visual = model.visual
        self.side: int | tuple[int, int] = model.visual.image_size

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        vectors = self.get_submodule("visual")(images)
        pooled: torch.Tensor = vectors[0] if isinstance(vectors, tuple) else vectors
        return pooled


def open_clip_backbone(
    spec: Spec, device: torch.device, precision: Precision, folder: Path | None
) -> NetworkBackbone:
    """Load the image tower of an open_clip model.

    Raises:
        UnknownModelError: open_clip has no such architecture or weights.
        WeightsUnavailableError: its weights are neither here nor to be fetched.
        WeightsError: they are here, but damaged.
    """
    path, config = _found(spec, folder)
    tower = ImageTower(_with_file(spec, path))
    merged, preprocess = _preprocessing(tower.side, config)
    card = {
        "library": "open_clip",
        "library_version": open_clip.__version__,
        "model": spec.model,
        "weights": f"{spec.weights} ({path.name})",
        "preprocessing": {key: str(value) for key, value in sorted(merged.items())},
        "input_size": str(preprocess.input_size),
        "pooling": "image tower's own, projected into the joint space",
    }
    return NetworkBackbone(
        spec=str(spec),
        model=tower,
        pixels=Pixels.of(image_transform_v2(preprocess, is_train=False), str(spec)),
        card=card,
        device=device,
        precision=precision,
    )


class ClipModel:
    """Both towers of a CLIP-like model: pictures and texts become features of one space.

    Features are raw, not scaled to length 1: the baselines of GeneCIS average them as they are.

    Attributes:
        spec: the canonical text that names the model.
        weights_sha256: of its weights.
        batch_size: how many pictures or texts it likes to get at once.
    """

    batch_size = 32

    def __init__(
        self, spec: str, model: Any, transform: Any, tokenizer: Any, device: torch.device
    ) -> None:
        use_full_float32()
        self.spec = spec
        self.weights_sha256 = state_sha256(model.state_dict())
        self._model = model.eval().requires_grad_(False).to(device)
        self._transform, self._tokenizer, self._device = transform, tokenizer, device

    def of_images(self, pictures: Sequence[Image.Image]) -> NDArray[np.float32]:
        """Return the features of RGB pictures, shape (n, dim)."""
        batch = torch.stack([self._transform(picture) for picture in pictures]).to(self._device)
        with torch.inference_mode():
            vectors: NDArray[np.float32] = self._model.encode_image(batch).float().cpu().numpy()
        return vectors

    def of_texts(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the features of texts, shape (n, dim); what is too long is cut off."""
        with torch.inference_mode():
            tokens = self._tokenizer(list(texts)).to(self._device)
            vectors: NDArray[np.float32] = self._model.encode_text(tokens).float().cpu().numpy()
        return vectors

    def knows(self, text: str) -> bool:
        """Whether a text has tokens beside those that every text has."""
        tokens, of_nothing = self._tokenizer([text, ""])
        return not torch.equal(tokens, of_nothing)


def load_clip(text: str, device: torch.device, folder: Path | None = None) -> ClipModel:
    """Load both towers of the open_clip model that a spec names, in float32.

    Raises:
        SpecError: the spec names no open_clip model, or a precision.
        UnknownModelError, WeightsUnavailableError, WeightsError: as `open_clip_backbone`; the
            words of some models' tokenizers have to be fetched, too.
    """
    spec = parse_spec(text)
    if spec.source != Source.OPEN_CLIP or spec.precision or spec.stored:
        raise SpecError(f"{text!r} does not name a model that reads texts: open_clip:ARCH/WEIGHTS.")
    path, config = _found(spec, folder)
    model: Any = _with_file(spec, path)
    _, preprocess = _preprocessing(model.visual.image_size, config)
    try:
        tokenizer = open_clip.get_tokenizer(spec.model)
    except Exception as problem:  # transformers and its hub raise many kinds
        raise WeightsUnavailableError(
            f"{spec}: its tokenizer cannot be had: {problem}"
        ) from problem
    transform = image_transform_v2(preprocess, is_train=False)
    return ClipModel(str(spec), model, transform, tokenizer, device)


def _found(spec: Spec, folder: Path | None) -> tuple[Path, Mapping[str, Any]]:
    """Return the file of the weights, and what open_clip says about them."""
    require_known(spec.model, open_clip.list_models(), f"{spec}: open_clip has no architecture")
    tags = open_clip.list_pretrained_tags_by_model(spec.model)
    require_known(spec.weights, tags, f"{spec}: open_clip has for {spec.model} no weights")
    config = open_clip.get_pretrained_cfg(spec.model, spec.weights)
    owner, _, rest = config["hf_hub"].partition("/")
    name, _, file = rest.partition("/")
    wanted = Wanted(
        spec=str(spec),
        names=[f"{spec.model}.{spec.weights}"],
        repository=f"{owner}/{name}" if name else "",
        files=[file] if file else _FILES,
        url=config.get("url") or "",
        folder=folder,
    )
    return find_weights(wanted), config


def _preprocessing(
    side: int | tuple[int, int], config: Mapping[str, Any]
) -> tuple[dict[str, Any], PreprocessCfg]:
    merged = merge_preprocess_dict(PreprocessCfg(size=side), dict(config))
    return merged, PreprocessCfg(**merged)


def _with_file(spec: Spec, path: Path) -> nn.Module:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # its advice on QuickGELU: see the docs
            model: nn.Module = open_clip.create_model(
                spec.model, pretrained=str(path), weights_only=True
            )
    except Exception as problem:  # open_clip, torch and safetensors raise many kinds
        if is_out_of_memory(problem):
            raise
        raise WeightsError(
            f"{spec}: {path} cannot be loaded into the model: {problem}"
        ) from problem
    return model
