"""From a spec to a loaded backbone."""

from __future__ import annotations

import torch

from pooling.backbones.descriptors import DescriptorBackbone
from pooling.backbones.networks import file_backbone, open_clip_backbone, timm_backbone
from pooling.backbones.protocol import Backbone
from pooling.backbones.spec import Source, Spec, parse_spec


def best_device() -> torch.device:
    """Return the GPU if there is one, else the processor."""
    if torch.cuda.is_available():
        return torch.device("cuda")
    return torch.device("mps" if torch.backends.mps.is_available() else "cpu")


def load_backbone(spec: Spec | str, device: torch.device | None = None) -> Backbone:
    """Load the backbone that a spec names.

    Raises:
        BackboneError: one of its kinds; the message names the model and what to do.
    """
    wanted = parse_spec(spec) if isinstance(spec, str) else spec
    where = device or best_device()
    match wanted.source:
        case Source.TIMM:
            return timm_backbone(wanted, where)
        case Source.OPEN_CLIP:
            return open_clip_backbone(wanted, where)
        case Source.FILE:
            return file_backbone(wanted, where)
        case Source.DESCRIPTOR:
            return DescriptorBackbone(wanted.model)
