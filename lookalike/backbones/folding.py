"""Fold batch normalisation into the convolutions before it: the same function in fewer passes."""

from __future__ import annotations

from collections import Counter

import torch
from torch import nn
from torch.nn.utils.fusion import fuse_conv_bn_weights

TOLERANCE = 1e-4  # largest change of an output, as a share of the largest output

Pair = tuple[nn.Conv2d, nn.BatchNorm2d]


def fold_batch_norms(model: nn.Module, example: torch.Tensor) -> int:
    """Fold, in place, every batch norm whose input is exactly the output of a convolution.

    Activations that timm keeps inside its norm layers stay. The output for the example must come
    out the same to TOLERANCE, or all is undone.

    Args:
        model: in evaluation mode.
        example: an input batch.

    Returns:
        How many norms were folded; 0 if there are none, or if folding would change the output.
    """
    pairs, before = _conv_norm_pairs(model, example)
    places = {
        norm: (parent, name)
        for parent in model.modules()
        for name, norm in parent.named_children()
        if isinstance(norm, nn.BatchNorm2d)
    }
    kept = [(conv, conv.weight, conv.bias) for conv, _ in pairs]
    for conv, norm in pairs:
        _absorb(conv, norm)
        parent, name = places[norm]
        setattr(parent, name, _rest_of(norm))
    with torch.inference_mode():
        change = (model(example) - before).abs().max() / before.abs().max().clamp_min(1e-30)
    if float(change) <= TOLERANCE:
        return len(pairs)
    for (_, norm), (conv, weight, bias) in zip(pairs, kept, strict=True):
        conv.weight, conv.bias = weight, bias
        parent, name = places[norm]
        setattr(parent, name, norm)
    return 0


def _conv_norm_pairs(model: nn.Module, example: torch.Tensor) -> tuple[list[Pair], torch.Tensor]:
    """Return which norms read which convolutions' outputs, and the model's output.

    Layers that the model uses in several places are left out.
    """
    made_by: dict[int, nn.Conv2d] = {}
    alive: list[torch.Tensor] = []  # so that no address is used twice
    pairs: list[Pair] = []

    def note_output(conv: nn.Module, _: object, output: torch.Tensor) -> None:
        assert isinstance(conv, nn.Conv2d)  # noqa: S101 - for the type checker
        alive.append(output)
        made_by[id(output)] = conv

    def note_input(norm: nn.Module, inputs: tuple[torch.Tensor, ...], _: object) -> None:
        conv = made_by.pop(id(inputs[0]), None)
        if conv is not None and isinstance(norm, nn.BatchNorm2d):
            pairs.append((conv, norm))

    handles = [
        module.register_forward_hook(note_output if isinstance(module, nn.Conv2d) else note_input)
        for module in model.modules()
        if isinstance(module, nn.Conv2d | nn.BatchNorm2d)
    ]
    try:
        with torch.inference_mode():
            output = model(example)
    finally:
        for handle in handles:
            handle.remove()
    n_uses = Counter(layer for pair in pairs for layer in pair)
    return [pair for pair in pairs if n_uses[pair[0]] == n_uses[pair[1]] == 1], output


def _absorb(conv: nn.Conv2d, norm: nn.BatchNorm2d) -> None:
    if norm.running_mean is None or norm.running_var is None:
        raise ValueError("a batch norm without running statistics has no fixed function")
    with torch.no_grad():
        weight, bias = fuse_conv_bn_weights(
            conv.weight,
            conv.bias,
            norm.running_mean,
            norm.running_var,
            norm.eps,
            norm.weight,
            norm.bias,
        )
    conv.weight, conv.bias = nn.Parameter(weight, False), nn.Parameter(bias, False)


def _rest_of(norm: nn.BatchNorm2d) -> nn.Module:
    """Return what a norm layer of timm does after normalising."""
    parts = [getattr(norm, name, nn.Identity()) for name in ("drop", "act")]
    parts = [part for part in parts if not isinstance(part, nn.Identity)]
    return nn.Sequential(*parts) if parts else nn.Identity()
