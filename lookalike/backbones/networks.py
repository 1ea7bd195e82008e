"""A network as a backbone: preprocessing in two halves, and the forward pass."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from torch import nn
from torch.nn.modules.linear import NonDynamicallyQuantizableLinear
from torchvision.transforms import CenterCrop, Compose, Normalize, Resize, ToTensor
from torchvision.transforms.functional import pil_modes_mapping

from lookalike.backbones.errors import BackboneError
from lookalike.backbones.folding import fold_batch_norms
from lookalike.backbones.normalising import look_up_pixels, look_up_planes
from lookalike.backbones.protocol import OutOfMemoryError, Vectors, compute_fingerprint, unit_rows
from lookalike.backbones.resizing import AsArray, Resized
from lookalike.backbones.weights import state_sha256
from lookalike.core.arrays import Float32s
from lookalike.core.memory import free_memory, is_out_of_memory

Precision = Literal["auto", "float32", "bfloat16", "float16"]
BATCH_ON_CPU = 16
BATCH_ON_GPU = 32  # to begin with
_CAST = {nn.Linear, nn.Conv2d, nn.MultiheadAttention, NonDynamicallyQuantizableLinear}
_DTYPES = {"bfloat16": torch.bfloat16, "float16": torch.float16}


def use_full_float32() -> None:
    """Keep CUDA from computing float32 with the 10 bits of TF32, in this process.

    torch allows that for convolutions unless told otherwise. The vectors would then agree with
    those of a processor, which have the same card, to three digits only.
    """
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cuda.matmul.allow_tf32 = False


@dataclass(frozen=True)
class Pixels:
    """Preprocessing of a library, cut between resizing and arithmetic.

    Attributes:
        resize: from an RGB picture to one of the model's size, by Pillow as the library does.
        mean: of the three channels, in 0..1.
        std: likewise.
        smallest_side: the shorter side that the first step needs.
    """

    resize: Callable[[Image.Image], Image.Image]
    mean: Sequence[float]
    std: Sequence[float]
    smallest_side: int

    @classmethod
    def of(cls, transform: Compose, spec: str) -> Pixels:
        """Split a timm or open_clip evaluation transform: resize, crop, to tensor, normalise.

        Raises:
            BackboneError: the transform has other steps.
        """
        steps = list(transform.transforms)
        if (
            len(steps) < 3
            or not isinstance(steps[-1], Normalize)
            or not isinstance(steps[-2], ToTensor)
        ):
            raise BackboneError(f"{spec}: its preprocessing is not understood: {transform}")
        size = getattr(steps[0], "size", 0)
        side = max(size) if isinstance(size, tuple | list) else int(size)
        mean, std = ([float(value) for value in of] for of in (steps[-1].mean, steps[-1].std))
        return cls(_by_pillow(steps[:-2]), mean, std, side)


def _by_pillow(steps: Sequence[Any]) -> Callable[[Image.Image], Image.Image]:
    """Return the steps before the arithmetic, without torchvision where they are the usual ones."""
    whole: Callable[[Image.Image], Image.Image] = Compose(list(steps))
    known = [step for step in steps if type(step).__name__ != "MaybeConvertMode"]  # RGB it is
    kinds = [type(step) for step in known]
    if kinds not in ([Resize], [Resize, CenterCrop]) or known[0].max_size is not None:
        return whole
    size = known[0].size
    size = size if isinstance(size, int) else tuple(size) if len(size) == 2 else size[0]
    crop = tuple(known[1].size) if len(known) == 2 else None
    if crop and not np.all(np.array(crop) <= size):
        return whole  # torchvision pads
    return Resized(size, Image.Resampling(pil_modes_mapping[known[0].interpolation]), crop)


class NetworkBackbone:
    """A network that maps a batch of pictures to vectors of length 1."""

    metric = "cosine"

    def __init__(
        self,
        *,
        spec: str,
        model: nn.Module,
        pixels: Pixels,
        card: Mapping[str, Any],
        device: torch.device,
        precision: Precision = "auto",
    ) -> None:
        self.spec = spec
        self.smallest_side = pixels.smallest_side
        self.on_gpu = device.type != "cpu"
        self.batch_size = BATCH_ON_GPU if self.on_gpu else BATCH_ON_CPU
        self.transform, self._device = AsArray(pixels.resize), device
        self._mean = torch.tensor(pixels.mean, device=device).view(1, 3, 1, 1)
        self._std = torch.tensor(pixels.std, device=device).view(1, 3, 1, 1)
        values = torch.arange(256, dtype=torch.uint8).view(256, 1, 1, 1).expand(-1, 3, 1, 1)
        table = self._normalised(values.to(device)).view(256, 3).T
        self._table: Float32s = np.ascontiguousarray(table.cpu().numpy())
        self._takes_planes = False
        # benchmarks/README.md: with bfloat16 and some networks fewer than 99 % of the ten nearest
        # neighbours stay the same
        self._precision = "float32" if precision == "auto" else precision
        use_full_float32()
        sha256 = state_sha256(model.state_dict())
        self._model = model.eval().requires_grad_(False)
        example = self.as_inputs([self.transform(_example())]).cpu()
        fold_batch_norms(self._model, example)
        self._model = self._model.to(device).to(memory_format=torch.channels_last)
        self._example = example
        self._run: Callable[[torch.Tensor], NDArray[np.float32]] = self.forward_by_torch
        if self._precision in _DTYPES:
            _cast_weights(self._model, _DTYPES[self._precision])
        self.dim = int(self._forward(example.to(device)).shape[1])
        self.card: Mapping[str, Any] = {
            **card,
            "spec": spec,
            "weights_sha256": sha256,
            "precision": self._precision,
            "jpeg_draft": f"decoded at the smallest size of at least {self.smallest_side} px",
            "metric": self.metric,
            "normalised": "unit length",
            "dim": self.dim,
        }

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the card."""
        return compute_fingerprint(self.card)

    def embed(self, inputs: Sequence[NDArray[np.uint8]]) -> Vectors:
        """Return the unit vectors of transformed pictures, shape (n, dim).

        Raises:
            OutOfMemoryError: the batch is too large for the device.
        """
        try:
            return unit_rows(self._run(self.as_inputs(inputs)))
        except (RuntimeError, MemoryError) as problem:
            if not is_out_of_memory(problem):
                raise
            reason = str(problem)
        # not within `except`: the problem would hold the failed pass and all its activations
        free_memory(self._device)
        raise OutOfMemoryError(reason)

    @property
    def exportable(self) -> tuple[nn.Module, torch.Tensor]:
        """The network, and a batch that it takes."""
        return self._model, self._example

    def run_by(self, engine: Callable[[torch.Tensor], NDArray[np.float32]], name: str) -> None:
        """Let another engine than torch run the network from now on; the card names it."""
        self._run, self._takes_planes = engine, True
        self.card = {**self.card, "engine": name}

    def forward_by_torch(self, batch: torch.Tensor) -> NDArray[np.float32]:
        """Return what torch makes of a batch, shape (n, dim)."""
        found: NDArray[np.float32] = self._forward(batch).float().cpu().numpy()
        return found

    def as_input(self, picture: NDArray[np.uint8]) -> torch.Tensor:
        """Return a transformed picture as the network takes it, shape (3, height, width)."""
        return self.as_inputs([picture])[0]

    def features(self, batch: torch.Tensor) -> torch.Tensor:
        """Return what the network makes of its inputs, shape (n, dim); gradients pass through."""
        with self._autocast():
            vectors: torch.Tensor = self._model(batch)
        return vectors.float()

    def as_inputs(self, inputs: Sequence[NDArray[np.uint8]]) -> torch.Tensor:
        """Return transformed pictures as a batch, by torchvision's sums.

        Another engine gets one channel after the other, torch the channels last.
        """
        if self._device.type == "cpu":
            return self._looked_up([np.ascontiguousarray(picture) for picture in inputs])
        shape = (len(inputs), *inputs[0].shape)
        # pinned, so that it is copied while the device computes another batch
        host = torch.empty(shape, dtype=torch.uint8, pin_memory=self._device.type == "cuda")
        np.stack(inputs, out=host.numpy())
        return self._normalised(host.to(self._device, non_blocking=True).permute(0, 3, 1, 2))

    def _normalised(self, pictures: torch.Tensor) -> torch.Tensor:
        scaled = pictures.float().div_(255)
        return scaled.sub_(self._mean).div_(self._std)

    def _looked_up(self, pictures: Sequence[NDArray[np.uint8]]) -> torch.Tensor:
        height, width, _ = pictures[0].shape
        if self._takes_planes:
            planes = np.empty((len(pictures), 3, height, width), np.float32)
            for picture, out in zip(pictures, planes, strict=True):
                look_up_planes(picture, self._table, out)
            return torch.from_numpy(planes)
        pixels = np.empty((len(pictures), height, width, 3), np.float32)
        for picture, out in zip(pictures, pixels, strict=True):
            look_up_pixels(picture, self._table, out)
        return torch.from_numpy(pixels).permute(0, 3, 1, 2)

    def _forward(self, batch: torch.Tensor) -> torch.Tensor:
        with torch.inference_mode(), self._autocast():
            vectors: torch.Tensor = self._model(batch)
        return vectors

    def _autocast(self) -> AbstractContextManager[object]:
        dtype = _DTYPES.get(self._precision)
        return nullcontext() if dtype is None else torch.autocast(self._device.type, dtype)


def _cast_weights(model: nn.Module, dtype: torch.dtype) -> None:
    """Cast once what autocast would cast anew for every batch; the results are the same.

    Only modules of just these types: others may compute with their weights first.
    """
    for module in model.modules():
        if type(module) in _CAST:
            for parameter in module.parameters(recurse=False):
                parameter.data = parameter.data.to(dtype)


def _example() -> Image.Image:
    """Return a picture on which every layer has something to do."""
    values = np.random.default_rng(0).integers(0, 256, (24, 32, 3), np.uint8)
    return Image.fromarray(values).resize((640, 480), Image.Resampling.BICUBIC)
