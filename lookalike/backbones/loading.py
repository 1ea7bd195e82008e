"""From a spec to a loaded backbone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, cast

import torch

from lookalike.backbones.protocol import Backbone
from lookalike.backbones.spec import Source, Spec, parse_spec

if TYPE_CHECKING:
    from lookalike.backbones.networks import NetworkBackbone, Precision

_FINE = {"lbp-texture"}  # float16 would change 3 % of the ten nearest neighbours (benchmarks)


def best_device() -> torch.device:
    """Return the GPU if there is one, else the processor."""
    if torch.cuda.is_available():
        return torch.device("cuda")
    return torch.device("mps" if torch.backends.mps.is_available() else "cpu")


def load_backbone(
    spec: Spec | str,
    device: torch.device | str | None = None,
    *,
    precision: Precision = "auto",
    weights_folder: Path | None = None,
    engines: Path | None = None,
    on_trial: Callable[[], object] | None = None,
) -> Backbone:
    """Load the backbone that a spec names.

    Its card says when its vectors are to be stored as float16, so that sets of both kinds are
    two; without that word they are float32, as all were once and those in _FINE are.

    Args:
        spec: the backbone.
        device: where a network computes; None takes the GPU if there is one.
        precision: of a network's forward pass; "auto" is the spec's, or float32.
        weights_folder: where weights that cannot be fetched may lie, as MODEL.TAG.safetensors.
        engines: where networks are kept for a faster engine on the processor, as
            `lookalike.backbones.engines` finds it; None leaves them to torch.
        on_trial: called before engines are tried on a network, once; of a large one it takes
            minutes.

    Raises:
        BackboneError: one of its kinds; the message names the model and what to do.
    """
    wanted = parse_spec(spec) if isinstance(spec, str) else spec
    where = torch.device(device) if device is not None else best_device()
    if precision == "auto" and wanted.precision:
        precision = cast("Precision", wanted.precision)
    backbone = _loaded(wanted, where, precision, weights_folder)
    backbone.spec = str(wanted)
    is_wide = wanted.stored == "float32" or wanted.model in _FINE
    kept = {} if is_wide else {"stored_as": "float16"}
    backbone.card = {**backbone.card, "spec": str(wanted), **kept}
    is_tried = wanted.source != Source.DESCRIPTOR and backbone.card["precision"] == "float32"
    if engines is not None and is_tried and not backbone.on_gpu:
        from lookalike.backbones.engines import choose_engine  # noqa: PLC0415  (half a second)

        choose_engine(cast("NetworkBackbone", backbone), engines, on_trial)
    return backbone


def _loaded(
    wanted: Spec, where: torch.device, precision: Precision, weights_folder: Path | None
) -> Backbone:
    # a family brings packages that take seconds to load: only the one that is asked for
    match wanted.source:
        case Source.TIMM:
            from lookalike.backbones.timm_models import timm_backbone  # noqa: PLC0415

            return timm_backbone(wanted, where, precision, weights_folder)
        case Source.OPEN_CLIP:
            from lookalike.backbones.clip_models import open_clip_backbone  # noqa: PLC0415

            return open_clip_backbone(wanted, where, precision, weights_folder)
        case Source.FILE:
            from lookalike.backbones.timm_models import file_backbone  # noqa: PLC0415

            return file_backbone(wanted, where, precision)
        case Source.DESCRIPTOR:
            from lookalike.backbones.descriptors import DescriptorBackbone  # noqa: PLC0415

            return DescriptorBackbone(wanted.model)
