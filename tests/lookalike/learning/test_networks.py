"""A whole network that learns from drawn pictures: discs of a product's colour on any ground."""

from __future__ import annotations

import colorsys
import json
import signal
import subprocess
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import timm
import torch
from PIL import Image, ImageDraw
from safetensors.torch import load_file, save_file

from lookalike.backbones.embed import embed_images
from lookalike.backbones.errors import BackboneError
from lookalike.backbones.loading import load_backbone
from lookalike.cli.main import main
from lookalike.core.errors import Refused
from lookalike.core.progress import SILENT, Progress
from lookalike.images.sources import open_source
from lookalike.learning.engine.loop import CHECKPOINT, CURVE
from lookalike.learning.language.sources import LanguageSource
from lookalike.learning.networks.learn import FILE, CatalogPictures, LearntNetwork, learn_network
from lookalike.learning.networks.loss_scale import LossScale
from lookalike.learning.networks.settings import NetworkSettings
from tests.lookalike.learning.killing import KillAt, in_a_process
from tests.lookalike.learning.test_lit import Letters
from tests.paths import ROOT

pytestmark = pytest.mark.slow  # torch

ARCH, START = "test_efficientnet", "start.safetensors"
N_PRODUCTS, PER_PRODUCT = 24, 4
HOW = NetworkSettings(
    f"file:{START}?arch={ARCH}", image_size=32, steps=4, batch=8, rate=3e-3, every=2
)
NAMES = [f"p{p:02d}/{n}.png" for p in range(N_PRODUCTS) for n in range(PER_PRODUCT)]


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pictures, metadata and a network's weights as they are drawn."""
    monkeypatch.chdir(tmp_path)
    rng, lines = np.random.default_rng(0), ["path,product_id"]
    for number, name in enumerate(NAMES):
        product = number // PER_PRODUCT
        colour = colorsys.hsv_to_rgb(product / N_PRODUCTS, 1, 1)
        image = Image.new("RGB", (48, 48), tuple(rng.integers(0, 256, 3).tolist()))
        left, top = rng.integers(4, 20, 2).tolist()
        disc = tuple(round(255 * of) for of in colour)
        ImageDraw.Draw(image).ellipse((left, top, left + 24, top + 24), fill=disc)
        Path("photos", name).parent.mkdir(parents=True, exist_ok=True)
        image.save(Path("photos", name))
        lines.append(f"{name},p{product:02d}")
    image.save("photos/alone.png")
    Path("m.csv").write_text("\n".join(lines))
    torch.manual_seed(0)
    save_file(timm.create_model(ARCH, num_classes=0).state_dict(), START)


def learn(
    folder: str,
    settings: NetworkSettings = HOW,
    progress: Progress = SILENT,
    language: LanguageSource | None = None,
) -> LearntNetwork:
    products = [name[:3] for name in NAMES]
    with open_source(Path("photos")) as source:
        pictures = CatalogPictures(source, NAMES, [{}] * len(NAMES), products)
        return learn_network(
            pictures, ["product"], settings, Path(folder), language=language, device="cpu",
            progress=progress,
        )  # fmt: skip


def checkpoint(folder: str) -> dict[str, torch.Tensor]:
    return load_file(Path(folder, CHECKPOINT))


def assert_close(one: str, other: str, atol: float) -> None:
    ours, theirs = checkpoint(one), checkpoint(other)
    assert ours.keys() == theirs.keys()
    moved = [name for name in ours if name.startswith("p.")]
    assert moved
    for name in moved:
        torch.testing.assert_close(ours[name], theirs[name], atol=atol, rtol=1e-3)


def test_products_that_were_not_learnt_are_found_again_by_the_file(capsys):
    Path("own.toml").write_text(
        f'learn = "network"\nimages = "photos"\nmetadata = "m.csv"\nproducts = true\n'
        f'model = "{HOW.model}"\nimage-size = 32\nsteps = 30\nbatch = 24\nrate = 0.003\n'
        'every = 10\ndevice = "cpu"\nrun = "run"\n'
    )
    with Path("m.csv").open("a") as metadata:
        metadata.write("\nalone.png,alone")
    assert main(["train", "own.toml", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    right = found["nearest_is_right"]
    assert right["after"] > right["before"] + 0.25
    assert found["classes_left_out"] == ["alone"]
    assert found["model"] == f"file:{Path('run', FILE)}?arch={ARCH}"
    backbone = load_backbone(found["model"], "cpu")
    assert embed_images(backbone, [Path("photos", NAMES[0])]).shape == (1, backbone.dim)
    assert main(["train", "own.toml"]) == 2
    assert "run holds a run; --resume goes on with it" in capsys.readouterr().err


def test_killed_it_goes_on_and_ends_in_the_same_bytes():
    how = replace(HOW, precision="float16", rate=1e-6)  # so little that trials are in vain
    learn("whole", how)
    assert in_a_process(partial(learn, "killed", how, KillAt(3))) == -signal.SIGKILL
    assert not Path("killed", FILE).exists()
    learn("killed", how)
    for name in (CHECKPOINT, CURVE, FILE):
        assert Path("killed", name).read_bytes() == Path("whole", name).read_bytes()
    with pytest.raises(Refused, match="holds a run of other data or settings"):
        learn("whole", replace(how, seed=1))


@pytest.mark.parametrize("objective", ["multisimilarity", "fine-tuning"])
def test_parts_of_a_batch_learn_what_the_whole_learns(objective: Any):
    learn("whole", replace(HOW, objective=objective))
    learn("parts", replace(HOW, objective=objective, accumulate=4))
    assert_close("whole", "parts", 1e-5)


def curve(folder: str, name: str = "loss") -> list[float]:
    return [json.loads(line)[name] for line in Path(folder, CURVE).read_text().splitlines()]


@pytest.mark.parametrize("words", ["names", "pseudolabels"])
def test_words_guide_a_network_and_parts_of_a_batch_alike(words: str):
    net = timm.create_model(ARCH)  # with a classifier for pseudolabels
    save_file(net.state_dict(), START)
    how = replace(HOW, steps=20, every=20, batch=16, words=words, objective="triplet")
    learn("guided", how, language=Letters())
    learn("unheeded", replace(how, weight=0), language=Letters())
    guided, unheeded = curve("guided", "language"), curve("unheeded", "language")
    assert guided[0] == unheeded[0] > 0
    assert np.mean(guided[-5:]) < 0.8 * np.mean(unheeded[-5:])
    assert curve("guided")[-1] != curve("unheeded")[-1]
    learn("parts", replace(how, accumulate=4), language=Letters())
    assert_close("guided", "parts", 1e-3)


def test_words_that_cannot_guide_are_refused():
    with pytest.raises(Refused, match="words: nothing reads them"):
        learn("run", replace(HOW, words="names"))
    with pytest.raises(BackboneError, match=r"missing, the first is classifier\.weight"):
        learn("run", replace(HOW, words="pseudolabels"), language=Letters())
    with pytest.raises(Refused, match="fine-tuning is not guided by words"):
        replace(HOW, words="names", objective="fine-tuning")
    with pytest.raises(Refused, match="'plenty' is neither names nor pseudolabels"):
        replace(HOW, words="plenty")


def test_half_precision_learns_nearly_the_same():
    learn("whole")
    learn("half", replace(HOW, precision="bfloat16"))
    losses = [curve(of) for of in ("whole", "half")]
    assert losses[0] != losses[1]
    assert losses[1] == pytest.approx(losses[0], rel=0.05)


@pytest.mark.daily  # three processes load torch; test_processes.py has what all trainings share
def test_two_processes_learn_what_one_learns():
    learn("one")
    recipe = {"learn": "network", "images": "photos", "metadata": "m.csv", "products": True,
              "model": HOW.model, "image_size": 32, "steps": 4, "batch": 8, "rate": 0.003,
              "every": 2, "device": "cpu", "run": "two"}  # fmt: skip
    lines = [f"{name} = {json.dumps(value)}" for name, value in recipe.items()]
    Path("two.toml").write_text("\n".join(lines))
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone",
               "--nproc-per-node=2", "-m", "lookalike", "train", "two.toml"]  # fmt: skip
    done = subprocess.run(
        command, env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "OMP_NUM_THREADS": "1"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert_close("one", "two", 1e-5)
    assert len(Path("two", CURVE).read_text().splitlines()) == HOW.steps


def test_it_ends_where_nothing_is_gained_and_keeps_the_best():
    how = replace(HOW, rate=1e-12, steps=40, patience=1, seed=2)  # .45 right, which float32 is not
    found = learn("run", how)
    assert found.best_step == 0
    assert len(Path("run", CURVE).read_text().splitlines()) == 2
    kept, start = load_file(Path("run", FILE)), load_file(START)
    assert all(torch.equal(kept[name], of) for name, of in start.items())


def test_what_cannot_be_learnt_is_named(capsys):
    with pytest.raises(Refused, match=r"loss: is nan at step 1 \(batch of images"):
        learn("nan", replace(HOW, rate=1e30))
    words = ["learn", "network", "--images", "photos", "--metadata", "m.csv", "--products",
             "--model", HOW.model, "--image-size", "32", "--run", "run"]  # fmt: skip
    Path("photos", NAMES[5]).write_bytes(b"no picture")
    assert main(words) == 2
    assert f"images: {NAMES[5]} cannot be read: " in capsys.readouterr().err
    Path("photos", NAMES[5]).unlink()
    assert main(words) == 2
    expected = f"m.csv, row 7: photos has no picture {NAMES[5]!r} (1 are missing)"
    assert expected in capsys.readouterr().err


def test_slopes_that_overflow_halve_the_scale_and_are_left_out():
    scale = LossScale(is_used=True)
    assert not scale.unscale([torch.tensor([torch.inf])], 0)
    assert scale.value == 2.0**15
    slopes = [torch.tensor([2.0**15])]
    assert scale.unscale(slopes, 1)
    assert slopes[0].item() == 1
    with pytest.raises(Refused, match="no numbers at step 3"):
        LossScale(is_used=False).unscale([torch.tensor([torch.nan])], 3)
