"""Text-image spaces learnt from a catalog's attributes, and runs that are killed."""

from __future__ import annotations

import signal
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from lookalike.backbones.protocol import unit_rows
from lookalike.core.arrays import Float32s
from lookalike.core.errors import Refused
from lookalike.core.progress import SILENT, Progress
from lookalike.learning.engine.loop import CHECKPOINT, CURVE
from lookalike.learning.held_out import held_out_groups
from lookalike.learning.lit.captions import (
    UNKNOWN,
    CaptionDraw,
    caption_text,
    default_template,
    draw_captions,
    read_attributes,
)
from lookalike.learning.lit.space import IMAGES, TEXTS, TextSpace
from lookalike.learning.lit.training import (
    LitRun,
    LitSettings,
    Schedule,
    train_text_space,
)
from tests.lookalike.learning.killing import KillAt, in_a_process

COLOURS, SHAPES = ("blue", "green", "red"), ("bag", "shoe")
N = 240
SETTINGS = LitSettings(dim=8, hidden=16, epochs=30, batch=48, rate=0.01)


class Letters:
    """A text encoder for tests: how often each letter and pair of letters occurs."""

    spec = "test:letters"
    card: Mapping[str, Any] = {"model": "letters"}
    fingerprint = "letters"

    def encode(self, texts: Sequence[str], progress: Progress = SILENT) -> Float32s:
        counts = np.zeros((len(texts), 64), np.float32)
        for row, text in enumerate(texts):
            for a, b in pairwise(text.lower()):
                counts[row, (31 * ord(a) + ord(b)) % 64] += 1
        return unit_rows(counts)

    def knows(self, text: str) -> bool:
        return bool(text.strip())


def catalog() -> tuple[list[dict[str, str]], list[str], Float32s]:
    """Images whose vectors hold their colour and shape, and nothing of their maker."""
    rng = np.random.default_rng(0)
    colour, shape, maker = rng.integers(0, [3, 2, 4], (N, 3)).T
    rows = [
        {"colour": COLOURS[c], "shape": SHAPES[s], "maker": f"maker {m}"}
        for c, s, m in zip(colour, shape, maker, strict=True)
    ]
    signal = np.hstack([np.eye(3)[colour], np.eye(2)[shape]])
    vectors = np.hstack([signal, 0.3 * rng.standard_normal((N, 15))]).astype(np.float32)
    return rows, [f"product {row // 2}" for row in range(N)], vectors


def run(folder: Path, settings: LitSettings = SETTINGS, progress: Progress = SILENT) -> LitRun:
    rows, products, vectors = catalog()
    return train_text_space(
        vectors, read_attributes(rows), products, Letters(), folder,
        parent="tower", captioned=("colour", "shape"), settings=settings, every=3,
        progress=progress,
    )  # fmt: skip


def contents(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in (CHECKPOINT, CURVE, IMAGES, TEXTS)}


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, LitRun]:
    folder = tmp_path_factory.mktemp("run")
    return folder, run(folder)


def test_captions_find_what_they_were_learnt_for_and_not_what_they_were_not(finished):
    scores = {score.column: score for score in finished[1].scores}
    for name in ("colour", "shape"):
        assert scores[name].accuracy > 0.9
        assert scores[name].accuracy > scores[name].majority + 0.2
        assert scores[name].was_captioned
    assert not scores["maker"].was_captioned
    assert scores["maker"].accuracy < 0.5
    assert scores["maker"].n_values == 4


def test_texts_find_pictures_they_describe(finished):
    rows, _, vectors = catalog()
    space = finished[1].space
    text = space.texts.apply(Letters().encode([default_template("colour").replace("{}", "red")]))
    order = np.argsort(-(space.images.apply(vectors) @ text[0]))
    assert np.mean([rows[row]["colour"] == "red" for row in order[:40]]) > 0.9


def test_products_are_held_out_as_a_whole():
    out = held_out_groups([f"p{row // 3}" for row in range(3000)], seed=0)
    assert (out.reshape(-1, 3).all(axis=1) == out.reshape(-1, 3).any(axis=1)).all()
    assert 0.15 < out.mean() < 0.25
    assert 0.15 < held_out_groups([""] * 1000, seed=0).mean() < 0.25


def test_a_run_killed_at_ten_random_steps_ends_in_the_same_bytes(finished, tmp_path):
    folder = tmp_path / "killed"
    n_steps = len(contents(finished[0])[CURVE].splitlines())
    steps = np.random.default_rng(1).choice(np.arange(1, n_steps), 10, replace=False)
    n_killed = 0
    for step in np.sort(steps).tolist():
        ended = in_a_process(partial(run, folder, progress=KillAt(step)))
        n_killed += ended == -signal.SIGKILL
    assert n_killed == 10
    run(folder)
    assert contents(folder) == contents(finished[0])


def test_a_folder_of_another_run_is_not_continued(finished):
    with pytest.raises(Refused, match="holds a run of other data or settings"):
        run(finished[0], LitSettings(dim=8, hidden=16, epochs=30, batch=48, rate=0.02))


def test_a_loss_that_is_no_number_stops_it_with_step_and_batch(tmp_path):
    with pytest.raises(Refused, match=r"loss: is nan at step [1-9]\d* \(batch of images \d"):
        run(tmp_path, LitSettings(dim=8, hidden=16, epochs=30, batch=48, rate=1e30))


def test_a_damaged_checkpoint_is_refused(finished, tmp_path):
    (tmp_path / CHECKPOINT).write_bytes(contents(finished[0])[CHECKPOINT][:-40])
    with pytest.raises(Refused, match=r"checkpoint\.safetensors is damaged .* delete it"):
        run(tmp_path)


def test_a_space_is_the_same_from_its_folder_and_halves_of_two_are_refused(finished, tmp_path):
    space = TextSpace.load(finished[0])
    assert space.images.fingerprint == finished[1].space.images.fingerprint
    assert space.texts.fingerprint == finished[1].space.texts.fingerprint
    run(tmp_path, LitSettings(dim=8, hidden=16, epochs=1, batch=48)).space.texts.save(
        tmp_path / TEXTS
    )
    (tmp_path / IMAGES).write_bytes((finished[0] / IMAGES).read_bytes())
    with pytest.raises(Refused, match="halves of two"):
        TextSpace.load(tmp_path)
    with pytest.raises(Refused, match="holds no text space"):
        TextSpace.load(tmp_path / "nowhere")


def test_captions_say_one_or_two_things_that_are_true():
    attributes = read_attributes(catalog()[0])
    draw = draw_captions(attributes.codes, np.random.default_rng(0))
    said = (draw.columns != UNKNOWN).sum(axis=1)
    assert 0.4 < (said == 1).mean() < 0.6
    assert set(said) == {1, 2}
    assert draw.are_true(attributes.codes).diagonal().all()


def test_a_caption_is_true_of_every_image_that_has_what_it_says():
    codes = np.array([[0, 1], [0, 2], [UNKNOWN, 1]])
    draw = CaptionDraw(
        np.array([[0, UNKNOWN], [0, 1], [1, UNKNOWN]]), np.array([[0, UNKNOWN], [0, 2], [1, -1]])
    )
    expected = [[True, False, True], [True, True, False], [False, False, True]]
    assert draw.are_true(codes).tolist() == expected


def test_what_is_not_known_is_not_said():
    codes = np.array([[UNKNOWN, 1, UNKNOWN]] * 50 + [[0, 1, UNKNOWN]] * 50)
    draw = draw_captions(codes, np.random.default_rng(0))
    assert draw.are_true(codes).diagonal().all()
    assert (draw.columns[:50] == [1, UNKNOWN]).all()
    assert 2 not in draw.columns


def test_the_words_of_captions_come_from_their_templates():
    attributes = read_attributes(catalog()[0], ("colour", "shape"), {"shape": "a photo of a {}"})
    assert caption_text(attributes, (1, UNKNOWN, 0, UNKNOWN)) == "a photo of a bag"
    both = caption_text(attributes, (0, 1, 2, 1))
    assert both == "a photo of something whose colour is red, a photo of a shoe"


def test_every_caption_of_the_schedule_is_known_beforehand():
    schedule = Schedule(read_attributes(catalog()[0]).codes, SETTINGS)
    assert schedule.n_steps == 150
    keys = set(schedule.captions())
    assert set(schedule.batch(17)[1].keys()) <= keys
    assert len(keys) < 3 + 2 + 4 + 6 + 12 + 8 + 1


@pytest.mark.parametrize(
    ("columns", "templates", "reason"),
    [
        (["size"], {}, "columns: no image has 'size'; there is colour, shape"),
        (["one"], {}, "columns: 'one' has 1 value; 2 to 200"),
        (["colour"], {"colour": "a photo"}, "template of colour: .* must have"),
        ([], {"size": "a {}"}, "columns: no image has 'size'"),
    ],
)
def test_columns_that_say_nothing_are_refused(columns, templates, reason):
    rows = [row | {"one": "same"} for row in catalog()[0]]
    with pytest.raises(Refused, match=reason):
        read_attributes(rows, columns, templates)


def test_a_catalog_without_attributes_is_refused():
    with pytest.raises(Refused, match="no attribute has two values"):
        read_attributes([{}, {"one": "same"}])


def test_too_few_images_are_refused(tmp_path):
    rows, products, vectors = catalog()
    with pytest.raises(Refused, match="have an attribute to learn from; 20 are needed"):
        train_text_space(
            vectors[:12], read_attributes(rows[:12]), products[:12], Letters(), tmp_path,
            parent="tower",
        )  # fmt: skip


def test_the_head_for_pictures_holds_the_scaling_of_its_inputs(finished):
    vectors = catalog()[2]
    doubled = finished[1].space.images.apply(2 * vectors)
    assert_allclose(doubled, finished[1].space.images.apply(vectors), atol=1e-5)
