"""Notions compare images under conditions: templates, triplets, and what labels add."""

from __future__ import annotations

import numpy as np
import pytest

from lookalike.conditional.types import Task as Template
from lookalike.core.errors import Refused
from lookalike.learning.conditions.composer import NotionComposer, score_composer
from lookalike.learning.conditions.heads import fit_head
from lookalike.learning.conditions.notions_on_triplets import (
    SINGLE,
    SUPERVISED,
    score_on_triplets,
)
from lookalike.learning.conditions.triplets import draw_triplets
from lookalike.learning.lit.captions import UNKNOWN
from lookalike.learning.notions.closed_forms import raw
from lookalike.learning.notions.scoring import Task
from lookalike.learning.projection import Layer, Layers

AXES = {"colour": slice(0, 4), "cut": slice(4, 8)}


def axis(of: slice) -> Layers:
    """Keep four of eight numbers."""
    return Layers(8, (Layer.linear(np.eye(8, dtype=np.float32)[of]),), {"method": "test"})


def world(n: int = 400) -> tuple[list[Task], dict[str, np.ndarray]]:
    """Images whose colour and cut stand on four axes each, with some noise."""
    rng = np.random.default_rng(0)
    codes = {name: rng.integers(0, 4, n) for name in AXES}
    images = 0.15 * rng.standard_normal((n, 8)).astype(np.float32)
    for name, of in AXES.items():
        images[:, of] += np.eye(4, dtype=np.float32)[codes[name]]
    prompts = {name: np.eye(8, dtype=np.float32)[of] for name, of in AXES.items()}
    return [Task(name, images, codes[name], prompts[name]) for name in AXES], codes


def test_a_condition_decides_which_candidate_fits():
    composer = NotionComposer({name: axis(of) for name, of in AXES.items()}, raw(8))
    eye = np.eye(8, dtype=np.float32)
    images = np.array([eye[0] + eye[4], eye[0] + eye[5], eye[1] + eye[4], eye[0] + eye[4]])
    assert composer.scores(images[0], images[1:3], "colour").argmax() == 0
    assert composer.scores(images[0], images[1:3], "cut").argmax() == 1
    np.testing.assert_allclose(composer.scores(images[0], images[1:3], "all"), 0.5, atol=1e-6)
    with pytest.raises(Refused, match="no notion is said for 'all'; there is colour"):
        NotionComposer({"colour": axis(AXES["colour"])}).scores(images[0], images[1:3], "all")


@pytest.mark.parametrize("order", [(1, 2), (2, 1)])
def test_recall_of_a_composer_does_not_know_the_order_of_a_gallery(order):
    eye = np.eye(8, dtype=np.float32)
    images = np.array([eye[0] + eye[4], eye[0] + eye[5], eye[1] + eye[4]])
    composer = NotionComposer({name: axis(of) for name, of in AXES.items()})
    found = score_composer(
        composer, images, tasks=[Template.FOCUS_ATTRIBUTE] * 2, rows=[(0, *order)] * 2,
        conditions=["colour", "cut"], answers=[order.index(1), order.index(2)],
    )  # fmt: skip
    assert found.by_task[Template.FOCUS_ATTRIBUTE][1] == 1.0
    blind = Layers(8, (Layer.linear(np.eye(8, dtype=np.float32)[7:] + 1e-3),), {})
    chance = score_composer(
        NotionComposer({}, blind), images, tasks=[Template.FOCUS_ATTRIBUTE], rows=[(0, *order)],
        conditions=["x"], answers=[0],
    )  # fmt: skip
    assert chance.by_task[Template.FOCUS_ATTRIBUTE][1] == 0.5


def test_drawn_triplets_are_right_and_the_same_for_a_seed():
    codes = np.array([0, 0, 1, 1, 1, 2, UNKNOWN])
    drawn = draw_triplets(codes, 500, np.random.default_rng(3))
    anchors, closer, farther = drawn.T
    assert (codes[anchors] == codes[closer]).all()
    assert (codes[anchors] != codes[farther]).all()
    assert (anchors != closer).all()
    assert not np.isin(drawn, [6]).any()
    assert set(anchors) == {0, 1, 2, 3, 4}  # 5 has no like
    assert (drawn == draw_triplets(codes, 500, np.random.default_rng(3))).all()


@pytest.mark.parametrize("codes", [[0, 0, 0], [0, 1, 2], [UNKNOWN, UNKNOWN], [0, 0, UNKNOWN]])
def test_an_attribute_without_triplets_is_refused(codes):
    with pytest.raises(Refused, match="triplets need two values, one of them on two images"):
        draw_triplets(np.array(codes), 5, np.random.default_rng(0))


def test_a_head_learns_its_condition_and_is_the_same_for_a_seed():
    (colour, _), codes = world()
    triplets = draw_triplets(codes["colour"], 2_000, np.random.default_rng(1))
    head, again = (fit_head(colour.images, triplets, 4, seed=2) for _ in range(2))
    assert head.fingerprint == again.fingerprint
    assert fit_head(colour.images, triplets, 4, seed=3).fingerprint != head.fingerprint
    mapped = head.apply(colour.images)
    near, far = ((mapped[triplets[:, 0]] * mapped[triplets[:, n]]).sum(axis=1) for n in (1, 2))
    assert (near > far).mean() > 0.97


def test_notions_cover_conditions_that_one_embedding_mixes():
    tasks, codes = world()
    seen = np.arange(400) % 2 == 0
    found = {
        one.candidate: one
        for one in score_on_triplets(tasks, codes, seen, dim=4, n_triplets=400, n_learnt=2_000)
    }
    ot = {name: one.criterion.alignment.ot for name, one in found.items()}
    assert ot["InDiReCT"] > 0.97
    assert ot["span of the prompts"] > 0.97
    assert ot[SUPERVISED] > 0.95
    assert ot[SINGLE] < 0.9
    assert found["InDiReCT"].n_triplets == 0
    with pytest.raises(Refused, match="name two attributes or more"):
        score_on_triplets(tasks[:1], codes, seen)
