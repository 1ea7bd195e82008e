"""The pictures that a network learns from: read each time, cropped and mirrored by chance."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from torchvision.transforms import InterpolationMode
from torchvision.transforms.v2 import functional

from lookalike.backbones.networks import Pixels
from lookalike.backbones.pictures import PictureProblem, SourcePicture, open_picture
from lookalike.core.arrays import Ints
from lookalike.core.errors import Refused
from lookalike.core.threads import Pool
from lookalike.images.sources import Source
from lookalike.learning.engine.determinism import stream

_NAMED = 5
_RATIO = math.log(4 / 3)  # of a crop's width to its height, at most, either way


class LearntPictures:
    """Pictures by their place in a list; all of them can be read, or this is refused.

    What becomes of a picture is a function of seed, step and its path, so a run that goes on
    and any number of processes see the same.

    Args:
        source: has the files.
        paths: of the pictures in it.
        pixels: the network's own preprocessing, at the size at which it learns.
        side: that size.
        crop: least share of a picture that a crop holds.
        seed: of crops and mirrors.

    Attributes:
        side: as given.
        sha256: of paths and files.

    Raises:
        Refused: pictures that cannot be read; names up to five.
    """

    def __init__(
        self, source: Source, paths: Sequence[str], pixels: Pixels, side: int, *, crop: float,
        seed: int,
    ) -> None:  # fmt: skip
        self._source, self._paths, self._pixels = source, paths, pixels
        self.side, self._crop, self._seed = side, crop, seed
        self.sha256 = self._digest()

    def __len__(self) -> int:
        return len(self._paths)

    def plain(self, rows: Ints) -> torch.Tensor:
        """Return pictures as the network is asked about them, shape (n, 3, side, side)."""
        smallest = self._pixels.smallest_side
        return self._batch(rows, lambda row: self._pixels.resize(self._opened(row, smallest)))

    def augmented(self, rows: Ints, step: int) -> torch.Tensor:
        """Return pictures as a step learns from them, shape (n, 3, side, side)."""
        return self._batch(rows, lambda row: self._cropped(row, step))

    def _cropped(self, row: int, step: int) -> Image.Image:
        """Return a random crop, resized; Szegedy et al. (CVPR 2015), and mirrored or not."""
        rng = stream(self._seed, f"crop of {self._paths[row]}", step)
        image = self._opened(row, 2 * self.side)
        area = image.width * image.height * rng.uniform(self._crop, 1)
        ratio = math.exp(rng.uniform(-_RATIO, _RATIO))
        width = min(image.width, max(1, round((area * ratio) ** 0.5)))
        height = min(image.height, max(1, round((area / ratio) ** 0.5)))
        top, left = rng.integers(image.height - height + 1), rng.integers(image.width - width + 1)
        cropped: Image.Image = functional.resized_crop(
            image, int(top), int(left), height, width, [self.side, self.side],
            interpolation=InterpolationMode.BICUBIC,
        )  # fmt: skip
        return functional.horizontal_flip(cropped) if rng.random() < 0.5 else cropped

    def _opened(self, row: int, smallest_side: int) -> Image.Image:
        path = self._paths[row]
        try:
            return open_picture(SourcePicture(self._source, path), smallest_side)
        except PictureProblem as problem:
            reason = str(problem.__cause__ or problem)
            raise Refused("images", f"{path} cannot be read: {reason}") from problem

    def _batch(self, rows: Ints, made: Callable[[int], Image.Image]) -> torch.Tensor:
        with Pool() as pool:
            waiting = [pool.begin(lambda row: np.asarray(made(row)), row) for row in rows.tolist()]
            batch: NDArray[np.uint8] = np.stack([one.result() for one in waiting])
        mean, std = (torch.tensor(of).view(1, 3, 1, 1) for of in (self._pixels.mean,
                                                                  self._pixels.std))  # fmt: skip
        scaled = torch.from_numpy(batch).permute(0, 3, 1, 2).to(torch.float32).div_(255)
        return scaled.sub_(mean).div_(std)

    def _digest(self) -> str:
        """Return the SHA-256 of all files, each of which is decoded once.

        Raises:
            Refused: some cannot be.
        """
        digest, problems = hashlib.sha256(), []
        with Pool() as pool:
            for found in [pool.begin(self._checked, row) for row in range(len(self))]:
                try:
                    digest.update(found.result())
                except Refused as problem:
                    problems.append(problem.message)
        if problems:
            more = f" and {len(problems) - _NAMED:,} more" if len(problems) > _NAMED else ""
            raise Refused("images", "; ".join(problems[:_NAMED]) + more)
        return digest.hexdigest()

    def _checked(self, row: int) -> bytes:
        self._opened(row, self.side)
        path = self._paths[row]
        return hashlib.sha256(path.encode() + b"\0" + self._source.read(path)).digest()
