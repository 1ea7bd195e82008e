"""timm's models as backbones, with their pretrained weights or with those of a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import timm
import torch
from timm.data.config import resolve_model_data_config
from timm.data.transforms_factory import create_transform
from torch import nn

from lookalike.backbones.at_hand import packaged_file
from lookalike.backbones.errors import (
    UnknownModelError,
    WeightsError,
    WeightsUnavailableError,
    require_known,
)
from lookalike.backbones.hub import Wanted, find_weights
from lookalike.backbones.networks import NetworkBackbone, Pixels, Precision
from lookalike.backbones.spec import Spec
from lookalike.backbones.weights import fitted, read_weights, renamed_in_order
from lookalike.core.memory import is_out_of_memory

CLASSES = "classes"
_FILES = ("model.safetensors", "pytorch_model.bin")


def timm_backbone(
    spec: Spec, device: torch.device, precision: Precision, folder: Path | None
) -> NetworkBackbone:
    """Load a timm model with its pretrained weights.

    Raises:
        UnknownModelError, WeightsUnavailableError, WeightsError: as `timm_network`.
    """
    return _backbone(spec, *timm_network(spec, folder), device, precision)


def file_backbone(spec: Spec, device: torch.device, precision: Precision) -> NetworkBackbone:
    """Load a file of weights into a timm architecture; what else it holds is left.

    Raises:
        UnknownModelError, WeightsError: as `file_network`.
    """
    return _backbone(spec, *file_network(spec), device, precision)


def timm_network(spec: Spec, folder: Path | None = None) -> tuple[Any, Path]:
    """Return a timm model with its pretrained weights, and their file.

    It has its classifier where the spec asks for classes alone.

    Raises:
        UnknownModelError: timm has no such model or tag.
        WeightsUnavailableError: its weights are neither here nor to be fetched.
        WeightsError: they are here, but damaged.
    """
    _require_model(spec)
    path = packaged_file(spec.model, spec.weights)
    if path is not None:
        model: Any = timm.create_model(spec.model, pretrained=False)
        model.load_state_dict(renamed_in_order(read_weights(path), model.state_dict(), path))
    else:
        path = _pretrained_file(spec, folder)
        model = _with_file(spec, path)
    if spec.pooling != CLASSES:
        model.reset_classifier(0)
    return model, path


def file_network(spec: Spec) -> tuple[Any, Path]:
    """Return a timm architecture with the weights of a file, and the file.

    Raises:
        UnknownModelError: timm has no such architecture.
        WeightsError: the file cannot be read or does not fit.
    """
    _require_model(spec)
    path = Path(spec.weights)
    n_classes = None if spec.pooling == CLASSES else 0  # its own number, or no classifier
    model = timm.create_model(spec.model, pretrained=False, num_classes=n_classes)
    model.load_state_dict(fitted(read_weights(path), model.state_dict(), path))
    return model, path


def own_side(model: nn.Module) -> int:
    """Return of how many pixels' side the pictures are that a model of timm gets."""
    return int(resolve_model_data_config(model)["input_size"][1])


def timm_pixels(model: nn.Module, spec: str, side: int = 0) -> tuple[Pixels, dict[str, str]]:
    """Return timm's own preprocessing of a model, and a description of it.

    Args:
        model: of timm.
        spec: of the model, for messages.
        side: pixels of the square that it gets; 0 for its own.
    """
    config = resolve_model_data_config(model)
    if side:
        config["input_size"] = (3, side, side)
    pixels = Pixels.of(create_transform(**config, is_training=False), spec)
    return pixels, {key: str(value) for key, value in sorted(config.items())}


def _require_model(spec: Spec) -> None:
    if not timm.is_model(spec.model):
        require_known(spec.model, timm.list_models(), f"{spec}: timm has no model")


def _pretrained_file(spec: Spec, folder: Path | None) -> Path:
    names = timm.list_pretrained(f"{spec.model}*")
    tags = [name.partition(".")[2] for name in names if name.partition(".")[0] == spec.model]
    if not tags:
        raise WeightsUnavailableError(
            f"{spec}: timm has no pretrained weights for {spec.model}. Name a file that you "
            f"have: file:PATH?arch={spec.model}."
        )
    if spec.weights:
        require_known(spec.weights, tags, f"{spec}: timm has for {spec.model} no weights")
    config: Any = timm.get_pretrained_cfg(_name(spec))
    wanted = Wanted(
        spec=str(spec),
        names=[f"{spec.model}.{config.tag}", spec.model],
        repository=config.hf_hub_id or "",
        files=[config.hf_hub_filename] if config.hf_hub_filename else _FILES,
        url=config.url or "",
        remedy=f"file:PATH?arch={spec.model}",
        folder=folder,
    )
    return find_weights(wanted)


def _with_file(spec: Spec, path: Path) -> nn.Module:
    """Return the model with a file in timm's or the authors' own layout, as timm reads it.

    With its classifier: without one, timm would pass over tensors that the file lacks.
    """
    overlay = {"file": str(path), "custom_load": path.suffix == ".npz"}
    try:
        model: nn.Module = timm.create_model(
            _name(spec), pretrained=True, pretrained_cfg_overlay=overlay
        )
    except Exception as problem:  # timm, torch and safetensors raise many kinds
        if is_out_of_memory(problem):
            raise
        raise WeightsError(
            f"{spec}: {path} cannot be loaded into the model: {problem}"
        ) from problem
    return model


def _name(spec: Spec) -> str:
    return f"{spec.model}.{spec.weights}" if spec.weights else spec.model


class StageStatistics(nn.Module):
    """Mean and standard deviation of every stage's channels over the picture, one after another.

    Each stage's numbers are scaled to length 1, so that none outweighs the others.
    """

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        stages = self.get_submodule("model").forward_intermediates(  # type: ignore[operator]
            images, intermediates_only=True
        )
        parts = [torch.cat([s.mean((2, 3)), s.std((2, 3), correction=0)], 1) for s in stages]
        return torch.cat([nn.functional.normalize(part, dim=1) for part in parts], 1)


def _staged(spec: Spec, model: nn.Module) -> nn.Module:
    """Return the statistics of a model's stages.

    Raises:
        UnknownModelError: it has no stages whose channels are spread over the picture.
    """
    try:
        with torch.inference_mode():
            side = 2 * max(32, getattr(model, "patch_size", 0) or 0)
            StageStatistics(model.eval())(torch.zeros(1, 3, side, side))
    except (AttributeError, RuntimeError, AssertionError, IndexError) as problem:
        raise UnknownModelError(f"{spec}: {spec.model} has no stages to look at") from problem
    return StageStatistics(model)


def _classified(spec: Spec, model: Any) -> nn.Module:
    """Return a model with its classifier, from pictures to probabilities.

    Scaled to length 1, as all vectors are, they can still be told: they sum to 1.

    Raises:
        UnknownModelError: it has no classifier.
    """
    if not getattr(model, "num_classes", 0):
        raise UnknownModelError(f"{spec}: {spec.model} has no classes")
    return nn.Sequential(model, nn.Softmax(dim=1))


def _backbone(
    spec: Spec, model: nn.Module, path: Path, device: torch.device, precision: Precision
) -> NetworkBackbone:
    pixels, description = timm_pixels(model, str(spec))
    config: Any = model.pretrained_cfg
    layer = getattr(model, "global_pool", None)
    pooling = str(getattr(layer, "pool_type", layer) or "the model's own")
    if spec.pooling == CLASSES:
        model = _classified(spec, model)
        pooling = "probabilities of its classes"
    elif spec.pooling:
        model = _staged(spec, model)
        pooling = "mean and standard deviation of each stage over its places"
    card = {
        "library": "timm",
        "library_version": timm.__version__,
        "model": spec.model,
        "weights": path.name,
        "weights_licence": str(config.get("license") or "not stated"),
        "preprocessing": description,
        "input_size": description["input_size"],
        "pooling": pooling,
    }
    return NetworkBackbone(
        spec=str(spec), model=model, pixels=pixels, card=card, device=device, precision=precision
    )
