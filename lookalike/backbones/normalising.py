"""The arithmetic between a picture's bytes and a network's numbers, compiled by numba.

A byte has 256 values: torchvision's arithmetic is done once for each of them and each channel, and
pictures are looked up. The numbers are the same to the last bit, ten times as soon.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from lookalike.core.arrays import Float32s

Bytes = NDArray[np.uint8]


@njit(cache=True, nogil=True)
def look_up_planes(picture: Bytes, table: Float32s, out: Float32s) -> None:
    """Write what the table says of each byte, one channel after the other.

    Args:
        picture: shape (height, width, 3).
        table: shape (3, 256).
        out: shape (3, height, width), written.
    """
    for channel in range(3):
        values = table[channel]
        for y in range(picture.shape[0]):
            for x in range(picture.shape[1]):
                out[channel, y, x] = values[picture[y, x, channel]]


@njit(cache=True, nogil=True)
def look_up_pixels(picture: Bytes, table: Float32s, out: Float32s) -> None:
    """Write what the table says of each byte, where the byte stands.

    Args:
        picture: shape (height, width, 3).
        table: shape (3, 256).
        out: shape (height, width, 3), written.
    """
    for y in range(picture.shape[0]):
        for x in range(picture.shape[1]):
            for channel in range(3):
                out[y, x, channel] = table[channel, picture[y, x, channel]]
