"""Adam, without torch.optim: that one imports its compiler, which takes longer than a notion."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from lookalike.learning.engine.processes import averaged

BETAS = (0.9, 0.999)
EPSILON = 1e-8


class Adam:
    """Kingma and Ba (ICLR 2015), as torch.optim.Adam computes it on a processor.

    Args:
        parameters: changed in place by each step.
        rate: of learning; may be changed between steps.
        weight_decay: L2 penalty, added to the gradient.
        is_decoupled: whether the penalty shrinks parameters apart from the gradient, as AdamW
            (Loshchilov and Hutter, ICLR 2019).
    """

    def __init__(
        self, parameters: Sequence[torch.Tensor], rate: float, *, weight_decay: float = 0.0,
        is_decoupled: bool = False,
    ) -> None:  # fmt: skip
        self._parameters = [parameter.requires_grad_() for parameter in parameters]
        self._first = [torch.zeros_like(parameter) for parameter in parameters]
        self._second = [torch.zeros_like(parameter) for parameter in parameters]
        self.rate, self._weight_decay, self._is_decoupled = rate, weight_decay, is_decoupled
        self.n_steps = 0

    def state(self) -> dict[str, torch.Tensor]:
        """Return parameters and moments, by name; those of the steps so far."""
        groups = {"p": self._parameters, "first": self._first, "second": self._second}
        return {f"{name}.{n}": m for name, of in groups.items() for n, m in enumerate(of)}

    def restore(self, state: dict[str, torch.Tensor], n_steps: int) -> None:
        """Go on after so many steps, with what `state` returned then."""
        with torch.no_grad():
            for name, tensor in self.state().items():
                tensor.copy_(state[name])
        self.n_steps = n_steps

    def step(self, loss: torch.Tensor) -> None:
        """Move the parameters against the gradient of a loss."""
        self.move(averaged(torch.autograd.grad(loss, self._parameters)))

    def move(self, gradients: Sequence[torch.Tensor]) -> None:
        """Move the parameters against gradients that are there already."""
        self.n_steps += 1
        one, two = BETAS
        size = self.rate / (1 - one**self.n_steps)
        root = (1 - two**self.n_steps) ** 0.5
        with torch.no_grad():
            for parameter, gradient, first, second in zip(
                self._parameters, gradients, self._first, self._second, strict=True
            ):
                slope = gradient
                if self._is_decoupled:
                    parameter.mul_(1 - self.rate * self._weight_decay)
                elif self._weight_decay:
                    slope = gradient.add(parameter, alpha=self._weight_decay)
                first.lerp_(slope, 1 - one)
                second.mul_(two).addcmul_(slope, slope, value=1 - two)
                parameter.addcdiv_(first, (second.sqrt() / root).add_(EPSILON), value=-size)


class AdamLearner:
    """A learner whose steps change the parameters of its Adam, and nothing else."""

    _adam: Adam

    def state(self) -> dict[str, torch.Tensor]:
        """Return parameters and moments."""
        return self._adam.state()

    def restore(self, state: dict[str, torch.Tensor], n_steps: int) -> None:
        """Take up the state that there was after so many steps."""
        self._adam.restore(state, n_steps)
