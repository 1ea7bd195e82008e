"""The tables of GeneCIS's paper, on small data in the published layouts and a model for tests."""

from __future__ import annotations

import json
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from lookalike.core.errors import Refused
from lookalike.io.errors import InputError
from lookalike.learning.recipes.recipe import Published, load_recipe
from lookalike.learning.recipes.runners import Run, make_table
from tests.pictures import write_folder

COLOURS = {"red": (250, 9, 9), "green": (9, 250, 9), "blue": (9, 9, 250)}
pytestmark = pytest.mark.slow  # open_clip


class Colours:
    """Both towers of a model that sees a picture's mean colour and reads names of colours."""

    batch_size = 4

    def of_images(self, pictures: Sequence[Image.Image]) -> np.ndarray:
        means = [np.asarray(picture).reshape(-1, 3).mean(axis=0) for picture in pictures]
        return np.array(means, np.float32)

    def of_texts(self, texts: Sequence[str]) -> np.ndarray:
        return np.array([COLOURS[text] for text in texts], np.float32)


@pytest.fixture(autouse=True)
def _model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lookalike.learning.recipes.composed.load_clip", lambda *_: Colours())


def picture(colour: str, ending: str = "JPEG", size: tuple[int, int] = (24, 24)) -> bytes:
    out = BytesIO()
    Image.new("RGB", size, COLOURS[colour]).save(out, ending)
    return out.getvalue()


def found(name: str, folder: Path, **how) -> dict[str, dict[str, float]]:
    compared, _ = make_table(load_recipe(name), Run(folder, **how))
    values: dict[str, dict[str, float]] = {}
    for one in compared:
        if one.found is not None:
            values.setdefault(one.method, {})[one.measure] = one.found.mean
    return values


def test_mit_states_asks_for_a_state_among_all_images(tmp_path):
    files = {f"images/{state} tomato/{n}.jpg": picture(state) for state in COLOURS for n in (0, 1)}
    write_folder(tmp_path, {**files, "images/red dog/a.jpg": picture("red"),
                            "images/adj tomato/b.jpg": picture("red")})  # fmt: skip
    recalls = found("composition-mit-states", tmp_path)
    assert recalls["text only"] == {"R@1": 100.0, "R@5": 100.0, "R@10": 100.0}
    assert recalls["image only"]["R@1"] == 0.0  # the other picture of the same state is nearest
    assert recalls["image only"]["R@5"] == 100.0
    target = load_recipe("composition-mit-states").targets["MIT-States"]
    assert target["Combiner (CC3M)"]["R@10"] == Published(49.4)


def test_cirr_looks_among_the_images_of_its_validation_split(tmp_path):
    names = {f"dev-{n}-img0": f"./dev/{n}.png" for n in range(3)}
    entries = [{"pairid": 0, "reference": "dev-0-img0", "target_hard": "dev-1-img0",
                "caption": "green"}]  # fmt: skip
    pictures = {f"img_raw/dev/{n}.png": picture(colour, "PNG") for n, colour in enumerate(COLOURS)}
    write_folder(tmp_path, {
        "cirr/image_splits/split.rc2.val.json": json.dumps(names).encode(),
        "cirr/captions/cap.rc2.val.json": json.dumps(entries).encode(), **pictures,
    })  # fmt: skip
    recalls = found("composition-cirr", tmp_path)
    assert recalls["text only"]["R@1"] == 100.0
    assert recalls["image only"]["R@5"] == 100.0  # of two others, the reference left out


def genecis(folder: Path) -> Path:
    """One template of an object and one of an attribute, whose boxes show another colour."""
    ids = {"red": 7, "green": 8, "blue": 9}
    of_object = {"condition": "green", "reference": {"val_image_id": 7},
                 "target": {"val_image_id": 8}, "gallery": [{"val_image_id": 9}]}  # fmt: skip
    wide = Image.new("RGB", (60, 20), COLOURS["red"])
    wide.paste(COLOURS["blue"], (40, 0, 60, 20))
    out = BytesIO()
    wide.save(out, "JPEG")
    crops = {"left": [0, 0, 20, 20], "right": [59, 0, 1, 20]}
    view = {side: {"image_id": "71", "instance_bbox": box} for side, box in crops.items()}
    of_attribute = {"condition": "blue", "reference": view["left"],
                    "target": {**view["right"], "image_id": "72"},
                    "gallery": [{**view["left"], "image_id": "73"}]}  # fmt: skip
    write_folder(folder, {
        "change_object.json": json.dumps([of_object]).encode(),
        "change_attribute.json": json.dumps([of_attribute]).encode(),
        **{f"val2017/{n:012d}.jpg": picture(colour) for colour, n in ids.items()},
        **{f"VG_100K/{n}.jpg": out.getvalue() for n in (71, 72, 73)},
    })  # fmt: skip
    return folder


@pytest.mark.parametrize("row", ["change object", "change attribute"])
def test_genecis_shows_pictures_or_what_its_boxes_cut_out(row, tmp_path):
    recalls = found("composition-genecis", genecis(tmp_path), rows=(row,))
    assert recalls["text only"] == {"R@1": 100.0, "R@2": 100.0, "R@3": 100.0}
    assert recalls["image only"]["R@1"] < 100.0


def test_what_is_missing_is_named(tmp_path):
    with pytest.raises(Refused, match=r"does not hold focus_object.json \(templates of github"):
        found("composition-genecis", genecis(tmp_path), rows=("focus object",))
    (tmp_path / "val2017/000000000009.jpg").unlink()
    with pytest.raises(InputError, match=r"000000000009\.jpg, which change object shows, is not"):
        found("composition-genecis", tmp_path, rows=("change object",))
    with pytest.raises(Refused, match="raw features of both towers"):
        found("composition-genecis", tmp_path, rows=("change object",), vectors=tmp_path / "v.npz")
    with pytest.raises(Refused, match="'Combiner' is none of image only"):
        found("composition-genecis", tmp_path, rows=("change object",), methods=("Combiner",))
