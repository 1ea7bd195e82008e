"""Scale losses so that slopes are not too small for float16."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from lookalike.core.errors import Refused

GROWS_AFTER = 2000  # steps without an overflow


class LossScale:
    """A power of two that halves when slopes overflow and doubles when they long have not.

    Source: Micikevicius et al., "Mixed Precision Training" (ICLR 2018), section 3.2, with the
    numbers of torch.amp.GradScaler; its state is a tensor, for checkpoints.

    Args:
        is_used: as with float16; otherwise it stays 1.
    """

    def __init__(self, *, is_used: bool) -> None:
        self._is_used = is_used
        self.state = torch.tensor([2.0**16 if is_used else 1.0, 0.0])  # scale, steps in a row

    @property
    def value(self) -> float:
        """By what a loss is multiplied."""
        return float(self.state[0])

    def unscale(self, gradients: Sequence[torch.Tensor], step: int) -> bool:
        """Divide gradients by the scale; return whether they can be used.

        Raises:
            Refused: they overflow without a scale, too.
        """
        for gradient in gradients:
            gradient.div_(self.value)
        if all(bool(gradient.isfinite().all()) for gradient in gradients):
            self.state[1] += 1
            if self._is_used and self.state[1] == GROWS_AFTER:
                self.state[0] *= 2
                self.state[1] = 0
            return True
        if self.value <= 1:
            raise Refused(
                "loss", f"has slopes that are no numbers at step {step}; try a lower rate"
            )
        self.state[0] /= 2
        self.state[1] = 0
        return False
