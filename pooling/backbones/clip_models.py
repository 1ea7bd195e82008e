"""The image towers of open_clip's models as backbones."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import open_clip
import torch
from open_clip.transform import PreprocessCfg, image_transform_v2, merge_preprocess_dict
from torch import nn

from pooling.backbones.errors import WeightsError
from pooling.backbones.hub import Wanted, find_weights
from pooling.backbones.known import require_known
from pooling.backbones.networks import NetworkBackbone, Pixels, Precision
from pooling.backbones.spec import Spec

_FILES = ("open_clip_model.safetensors", "open_clip_pytorch_model.bin")


class ImageTower(nn.Module):
    """The image half of a CLIP-like model, and nothing of its text half."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.visual = model.visual
        self.side: int | tuple[int, int] = model.visual.image_size

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        found = self.get_submodule("visual")(images)
        pooled: torch.Tensor = found[0] if isinstance(found, tuple) else found
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
    path = find_weights(wanted)
    tower = ImageTower(_with_file(spec, path))
    merged = merge_preprocess_dict(PreprocessCfg(size=tower.side), config)
    preprocess = PreprocessCfg(**merged)
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


def _with_file(spec: Spec, path: Path) -> nn.Module:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # its advice on QuickGELU: see the docs
            model: nn.Module = open_clip.create_model(
                spec.model, pretrained=str(path), weights_only=True
            )
    except Exception as problem:  # open_clip, torch and safetensors raise many kinds
        raise WeightsError(
            f"{spec}: {path} cannot be loaded into the model: {problem}"
        ) from problem
    return model
