"""timm and open_clip models as backbones, with the preprocessing of their own configurations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import open_clip
import timm
import torch
from PIL import Image
from timm.data.config import resolve_model_data_config
from timm.data.transforms_factory import create_transform

from pooling.backbones.errors import UnknownModelError, WeightsError, WeightsUnavailableError
from pooling.backbones.hub import hub_cache, hub_or_cache
from pooling.backbones.protocol import Vectors, fingerprint_of, unit_rows
from pooling.backbones.spec import Spec
from pooling.backbones.weights import packaged_file, read_weights, renamed_in_order, state_sha256


class NetworkBackbone:
    """A network that maps a batch of inputs to vectors."""

    def __init__(
        self,
        *,
        spec: str,
        model: torch.nn.Module,
        forward: Callable[[torch.Tensor], torch.Tensor],
        transform: Callable[[Image.Image], torch.Tensor],
        device: torch.device,
        card: Mapping[str, Any],
        smallest_side: int,
    ) -> None:
        self.spec = spec
        self.smallest_side = smallest_side
        self._device = device
        self._transform = transform
        sha256 = state_sha256(model.state_dict())
        self._model = model.to(device).to(memory_format=torch.channels_last).eval()
        self._forward = forward
        self._on_gpu = device.type == "cuda"
        with torch.inference_mode():
            probe = transform(Image.new("RGB", (64, 64))).unsqueeze(0)
            self.dim = int(forward(probe.to(device)).shape[1])
        self.card: Mapping[str, Any] = {
            **card,
            "spec": spec,
            "weights_sha256": sha256,
            "normalised": "unit length",
            "precision": "bfloat16 autocast" if self._on_gpu else "float32",
            "dim": self.dim,
        }

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the card."""
        return fingerprint_of(self.card)

    def transform(self, image: Image.Image) -> torch.Tensor:
        """Return one RGB picture as a tensor."""
        return self._transform(image)

    def embed(self, inputs: Sequence[torch.Tensor]) -> Vectors:
        """Return unit vectors."""
        batch = torch.stack(list(inputs))
        if self._on_gpu:
            batch = batch.pin_memory()
        batch = batch.to(self._device, memory_format=torch.channels_last, non_blocking=self._on_gpu)
        with (
            torch.inference_mode(),
            torch.autocast(self._device.type, torch.bfloat16, enabled=self._on_gpu),
        ):
            found = self._forward(batch)
        return unit_rows(found.float().cpu().numpy())


def timm_backbone(spec: Spec, device: torch.device) -> NetworkBackbone:
    """Load a timm model with its pretrained weights.

    Raises:
        UnknownModelError: timm has no such model or tag.
        WeightsUnavailableError: its weights are neither here nor to be fetched.
    """
    _check_timm_model(spec.model, str(spec))
    path = None if spec.weights else packaged_file(spec.model)
    if path is not None:
        model = timm.create_model(spec.model, pretrained=False)
        model.load_state_dict(renamed_in_order(read_weights(path), model.state_dict(), path))
        without_head: Any = model
        without_head.reset_classifier(0)
        return _timm(str(spec), model, device, weights=path.name)
    _check_timm_tag(spec)
    name = f"{spec.model}.{spec.weights}" if spec.weights else spec.model
    try:
        with hub_or_cache():
            model = timm.create_model(name, pretrained=True, num_classes=0)
    except Exception as problem:  # the hub's client raises many kinds when it cannot be reached
        raise WeightsUnavailableError(_how_to_supply(spec, spec.model, problem)) from problem
    return _timm(str(spec), model, device, weights=name)


def file_backbone(spec: Spec, device: torch.device) -> NetworkBackbone:
    """Load a file of weights into a timm architecture; its classifier is not needed.

    Raises:
        UnknownModelError: timm has no such architecture.
        WeightsError: the file cannot be read or does not fit.
    """
    _check_timm_model(spec.model, str(spec))
    path = Path(spec.weights)
    model = timm.create_model(spec.model, pretrained=False, num_classes=0)
    config: Any = model.default_cfg
    head = config.get("classifier") or ()
    heads = tuple(f"{name}." for name in ((head,) if isinstance(head, str) else head))
    state = {
        name: tensor
        for name, tensor in read_weights(path).items()
        if not (heads and name.startswith(heads))
    }
    try:
        model.load_state_dict(state)
    except RuntimeError as problem:
        raise WeightsError(f"{path}: does not fit {spec.model}: {problem}") from problem
    return _timm(str(spec), model, device, weights=path.name)


def open_clip_backbone(spec: Spec, device: torch.device) -> NetworkBackbone:
    """Load the image tower of an open_clip model.

    Raises:
        UnknownModelError: open_clip has no such architecture or weights.
        WeightsUnavailableError: its weights are neither here nor to be fetched.
    """
    _one_of(open_clip.list_models(), spec.model, f"{spec}: open_clip has no architecture")
    tags = open_clip.list_pretrained_tags_by_model(spec.model)
    _one_of(tags, spec.weights, f"{spec}: open_clip has for {spec.model} no weights")
    try:
        with hub_or_cache():
            model, _, preprocess = open_clip.create_model_and_transforms(
                spec.model, pretrained=spec.weights
            )
    except Exception as problem:  # as in timm_backbone
        raise WeightsUnavailableError(_how_to_supply(spec, "", problem)) from problem
    size = model.visual.image_size
    side = int(size[0] if isinstance(size, (tuple, list)) else size)
    card = {
        "library": "open_clip",
        "library_version": open_clip.__version__,
        "weights": spec.weights,
        "preprocessing": str(open_clip.get_model_preprocess_cfg(model)),
        "pooling": "image tower",
    }
    return NetworkBackbone(
        spec=str(spec),
        model=model.visual,
        forward=model.visual,
        transform=preprocess,
        device=device,
        card=card,
        smallest_side=side,
    )


def _timm(
    spec: str, model: torch.nn.Module, device: torch.device, *, weights: str
) -> NetworkBackbone:
    config = resolve_model_data_config(model)  # type: ignore[no-untyped-call]
    transform = create_transform(**config, is_training=False)
    card = {
        "library": "timm",
        "library_version": timm.__version__,
        "weights": weights,
        "preprocessing": {key: str(value) for key, value in sorted(config.items())},
        "pooling": str(getattr(model, "global_pool", "") or "default"),
    }
    side = round(config["input_size"][-1] / config["crop_pct"])
    return NetworkBackbone(
        spec=spec,
        model=model,
        forward=model,
        transform=transform,
        device=device,
        card=card,
        smallest_side=side,
    )


def _check_timm_model(model: str, spec: str) -> None:
    if not timm.is_model(model):
        _one_of(timm.list_models(), model, f"{spec}: timm has no model")


def _check_timm_tag(spec: Spec) -> None:
    names = timm.list_pretrained(f"{spec.model}*")
    tags = [name.partition(".")[2] for name in names if name.partition(".")[0] == spec.model]
    if not tags:
        raise WeightsUnavailableError(
            f"{spec}: timm has no pretrained weights for {spec.model}. Give a file: "
            f"file:PATH?arch={spec.model}"
        )
    if spec.weights:
        _one_of(tags, spec.weights, f"{spec}: timm has for {spec.model} no weights")


def _one_of(known: Sequence[str], name: str, problem: str) -> None:
    if name in known:
        return
    near = get_close_matches(name, known, n=4, cutoff=0.5)
    hint = f"Did you mean {' or '.join(near)}?" if near else f"Known: {', '.join(known[:12])}"
    raise UnknownModelError(f"{problem} {name!r}. {hint}")


def _how_to_supply(spec: Spec, arch: str, problem: Exception) -> str:
    by_file = f", or give them as a file: file:PATH?arch={arch}" if arch else ""
    return (
        f"{spec}: its weights are not on this machine and could not be fetched "
        f"({type(problem).__name__}). Fetch them on a machine with a network and copy them into "
        f"the Hugging Face cache {hub_cache()}{by_file}."
    )
