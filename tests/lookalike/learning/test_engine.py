"""What all trainings share."""

from __future__ import annotations

import pytest
import torch
from numpy.testing import assert_allclose

from lookalike.learning.engine.adam import Adam
from lookalike.learning.engine.determinism import stream


def loss_of(W: torch.Tensor) -> torch.Tensor:
    return (W @ torch.tensor([1.0, -2.0]) - 3.0).square().sum()


@pytest.mark.slow  # torch.optim imports torch's compiler
@pytest.mark.parametrize(("decay", "is_decoupled"), [(0.0, False), (0.01, False), (0.1, True)])
def test_adam_steps_as_that_of_torch(decay, is_decoupled):
    ours, theirs = torch.ones(2, 2), torch.ones(2, 2, requires_grad=True)
    adam = Adam([ours], 0.01, weight_decay=decay, is_decoupled=is_decoupled)
    kind = torch.optim.AdamW if is_decoupled else torch.optim.Adam
    peer = kind([theirs], lr=0.01, weight_decay=decay)
    for _ in range(50):
        adam.step(loss_of(ours))
        peer.zero_grad()
        loss_of(theirs).backward()
        peer.step()
    assert_allclose(ours.detach(), theirs.detach(), rtol=1e-6)


def test_adam_goes_on_with_the_same_bytes():
    whole, cut = torch.ones(2, 2), torch.ones(2, 2)
    a, b = Adam([whole], 0.01), Adam([cut], 0.01)
    for _ in range(20):
        a.step(loss_of(whole))
    for _ in range(7):
        b.step(loss_of(cut))
    after, state = cut.detach().clone(), {name: m.clone() for name, m in b.state().items()}
    c = Adam([after], 0.01)
    c.restore(state, 7)
    for _ in range(13):
        c.step(loss_of(after))
    assert after.detach().numpy().tobytes() == whole.detach().numpy().tobytes()


def test_a_stream_depends_on_seed_purpose_and_step_alone():
    def first(seed: int, purpose: str, step: int) -> float:
        return float(stream(seed, purpose, step).random())

    assert first(0, "batches", 3) == first(0, "batches", 3)
    keys = [(0, "batches", 3), (1, "batches", 3), (0, "captions", 3), (0, "batches", 4)]
    assert len({first(*key) for key in keys}) == 4
