"""Read weights without running what a file might hold, and fit them to a model."""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from pathlib import Path

import torch
from safetensors.torch import load_file

from lookalike.backbones.errors import WeightsError
from lookalike.core.memory import is_out_of_memory

State = dict[str, torch.Tensor]


def read_weights(path: Path) -> State:
    """Return the tensors of a .safetensors file, or of a checkpoint of nothing but plain data.

    Nothing is ever unpickled: torch reads with weights_only=True. Of a training checkpoint, the
    averaged weights are taken where it has them, as timm does.

    Raises:
        WeightsError: the file is missing, damaged, or holds more than tensors.
    """
    try:
        if path.suffix == ".safetensors":
            return dict(load_file(path))
        state = torch.load(path, map_location="cpu", weights_only=True)
    except FileNotFoundError:
        raise WeightsError(f"{path}: there is no such file.") from None
    except Exception as problem:  # torch and safetensors raise many kinds for a damaged file
        if is_out_of_memory(problem):
            raise
        raise WeightsError(
            f"{path}: cannot be read as plain weights ({type(problem).__name__}). Give a "
            ".safetensors file, or a checkpoint saved as a state_dict of tensors."
        ) from problem
    for key in ("state_dict_ema", "model_ema", "state_dict", "model"):
        if isinstance(state, dict) and isinstance(state.get(key), dict):
            state = state[key]
            break
    if not isinstance(state, dict) or not all(isinstance(v, torch.Tensor) for v in state.values()):
        raise WeightsError(f"{path}: holds no state_dict of tensors.")
    return state


def renamed_in_order(state: State, wanted: State, path: Path) -> State:
    """Return the tensors under the names of `wanted`, which lists them in the same order.

    Raises:
        WeightsError: the numbers or shapes differ.
    """
    if len(state) != len(wanted):
        raise WeightsError(f"{path}: {len(state)} tensors, the model has {len(wanted)}.")
    renamed: State = {}
    for (name, tensor), (source, given) in zip(wanted.items(), state.items(), strict=True):
        _require_shape(path, source, given, tensor)
        renamed[name] = given
    return renamed


def fitted(state: State, wanted: State, path: Path) -> State:
    """Return the tensors that a model wants, from a checkpoint that may wrap and exceed them.

    Self-supervised and fine-tuned checkpoints keep the backbone under a prefix (`module.`,
    `backbone.`, `module.encoder_q.`) beside a head; the prefix under which every tensor of the
    model is found is taken, the shortest if there are several, and what else the file holds is
    left.

    Raises:
        WeightsError: a tensor is missing under every prefix, or has another shape.
    """
    needed = [name for name in wanted if not name.endswith("num_batches_tracked")]
    prefix = _prefix_of(needed, state)
    if prefix is None:
        missing = [name for name in needed if name not in state]
        raise WeightsError(
            f"{path}: does not fit; {len(missing)} of the model's {len(needed)} tensors are "
            f"missing, the first is {missing[0]}. The file starts with "
            f"{', '.join(list(state)[:3]) or 'nothing'}."
        )
    for name in needed:
        _require_shape(path, prefix + name, state[prefix + name], wanted[name])
    return {name: state.get(prefix + name, tensor) for name, tensor in wanted.items()}


def _prefix_of(needed: list[str], given: Collection[str]) -> str | None:
    first = needed[0]
    prefixes = sorted(
        {name.removesuffix(first) for name in given if name == first or name.endswith(f".{first}")},
        key=len,
    )
    names = set(given)
    return next((p for p in prefixes if all(p + name in names for name in needed)), None)


def _require_shape(path: Path, name: str, given: torch.Tensor, wanted: torch.Tensor) -> None:
    if given.shape != wanted.shape:
        raise WeightsError(
            f"{path}: {name} has shape {tuple(given.shape)}, the model's has {tuple(wanted.shape)}."
        )


def state_sha256(state: State) -> str:
    """Return the SHA-256 of all tensors with their names, whatever file they came in."""
    digest = hashlib.sha256()
    for name in sorted(state):
        tensor = state[name].detach().cpu().contiguous()
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}\n".encode())
        digest.update(tensor.reshape(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()
