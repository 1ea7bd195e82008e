"""float32 that is float32."""

from __future__ import annotations

import torch


def use_full_float32() -> None:
    """Keep CUDA from computing float32 with the 10 bits of TF32, in this process.

    torch allows that for convolutions unless told otherwise. The vectors would then agree with
    those of a processor, which have the same card, to three digits only.
    """
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cuda.matmul.allow_tf32 = False
