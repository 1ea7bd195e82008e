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
from torchvision.transforms import Compose, Normalize, ToTensor

from lookalike.backbones.errors import BackboneError
from lookalike.backbones.folding import fold_batch_norms
from lookalike.backbones.protocol import OutOfMemoryError, Vectors, compute_fingerprint, unit_rows
from lookalike.backbones.weights import state_sha256
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
        return cls(Compose(steps[:-2]), mean, std, side)


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
        self._pixels, self._device = pixels, device
        self._mean = torch.tensor(pixels.mean, device=device).view(1, 3, 1, 1)
        self._std = torch.tensor(pixels.std, device=device).view(1, 3, 1, 1)
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

    def transform(self, image: Image.Image) -> NDArray[np.uint8]:
        """Return one RGB picture resized and cropped, shape (height, width, 3)."""
        return np.asarray(self._pixels.resize(image), np.uint8)

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
        self._run = engine
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
        """Return transformed pictures as a batch, in channels-last order, by torchvision's sums."""
        batch = torch.from_numpy(np.stack(inputs))
        if self._device.type == "cuda":
            batch = batch.pin_memory()
        batch = batch.to(self._device, non_blocking=True)
        scaled = batch.permute(0, 3, 1, 2).to(torch.float32).div_(255)
        return scaled.sub_(self._mean).div_(self._std)

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
