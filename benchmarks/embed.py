"""From photos to vectors: our pipeline beside plain loops over timm and open_clip.

    python -m benchmarks.embed [--images DIR] [--models lite0 resnet18 clip] [--rounds 5]

Ways: `plain` decodes with Pillow, applies the library's own transform and runs batches of 32 in
float32, one after the other; `forward` only runs those batches, already decoded; `ours` and `ours
bfloat16` are `lookalike.backbones.embed.embed_in_turn` over shards by torch, `ours, engine` the
same by the engine that `lookalike.backbones.engines` chooses, as jobs use it, and `ours, paused`
embeds each shard by itself, so that all threads wait for the last batch of each. Beside the
images/s stands how many of the ten nearest neighbours are those of `plain`. Weights are real
for lite0 and random for the others.
Without --images, photos of 768 x 512 pixels are made from those of scikit-image.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

if not __package__:  # run as a file: benchmarks/evaluation.py must not hide the package
    sys.path[0] = str(Path(__file__).resolve().parents[1])

import numpy as np
import open_clip
import skimage
import timm
import torch
from open_clip.transform import PreprocessCfg, image_transform_v2
from PIL import Image
from timm.data.config import resolve_model_data_config
from timm.data.transforms_factory import create_transform
from torch import nn
from torchvision.transforms import Compose

from benchmarks import rounds
from lookalike.backbones.at_hand import packaged_file
from lookalike.backbones.clip_models import ImageTower
from lookalike.backbones.embed import embed_images, embed_in_turn
from lookalike.backbones.engines import choose_engine
from lookalike.backbones.networks import NetworkBackbone, Pixels, Precision
from lookalike.backbones.protocol import unit_rows
from lookalike.backbones.weights import read_weights, renamed_in_order
from lookalike.core.threads import Pool
from lookalike.search.exact import top_k
from lookalike.search.filters import Filters

WAYS = ("plain", "forward", "ours, paused", "ours", "ours, engine", "ours bfloat16")
PEERS = ("plain", "forward", "ours")
SHARD = 256  # as pooling.embedding.shards plans them
PHOTOS = ("chelsea.png", "coffee.png", "astronaut.png", "rocket.jpg", "retina.jpg", "ihc.png")
BATCH, NEIGHBOURS = 32, 10
SHORT = {"lite0": "timm:tf_efficientnet_lite0", "clip": "open_clip:ViT-B-32/"}


def make_photos(folder: Path, n_images: int) -> None:
    """Write JPEG photos: crops of scikit-image's photos, turned, mirrored and recoloured."""
    rng = np.random.default_rng(0)
    sources = [
        Image.open(Path(skimage.__file__).parent / "data" / name).convert("RGB") for name in PHOTOS
    ]
    drawn = [(number, rng.uniform(-12, 12), rng.uniform(0.35, 0.75), rng.uniform(0, 1, 2),
              rng.uniform(0.7, 1.3, 3)) for number in range(n_images)]  # fmt: skip

    def make(number: int, turn: float, share: float, place: Any, tint: Any) -> None:
        source = sources[number % len(sources)].rotate(turn)
        width, height = source.size
        left, top = (1 - share) * place * (width, height)
        box = (int(left), int(top), int(left + share * width), int(top + share * height))
        photo = source.crop(box).resize((768, 512), Image.Resampling.BICUBIC)
        pixels = np.clip(np.asarray(photo) * tint, 0, 255).astype(np.uint8)
        Image.fromarray(pixels).save(folder / f"{number:04}.jpg", quality=90)

    with Pool() as pool:
        for one in [pool.begin(lambda given: make(*given), given) for given in drawn]:
            one.result()


def build(name: str) -> tuple[nn.Module, Compose]:
    """Return a model without its classifier, and its library's own transform.

    Args:
        name: a timm model, `timm:MODEL.TAG`, `open_clip:ARCH/PRETRAINED` or one of `SHORT`.
    """
    torch.manual_seed(0)
    library, _, name = SHORT.get(name, name).rpartition(":")
    if library == "open_clip":
        model: Any = open_clip.create_model(name.partition("/")[0], pretrained=None)
        size = PreprocessCfg(size=model.visual.image_size)
        return ImageTower(model).eval(), image_transform_v2(size, is_train=False)
    model = timm.create_model(name)
    path = packaged_file("tf_efficientnet_lite0", "") if name == "tf_efficientnet_lite0" else None
    if path is not None:
        model.load_state_dict(renamed_in_order(read_weights(path), model.state_dict(), path))
    model.reset_classifier(0)
    config = resolve_model_data_config(model)
    return model.eval(), create_transform(**config)


def by_plain(name: str, paths: list[Path]) -> Callable[[], np.ndarray]:
    model, transform = build(name)

    def embed() -> np.ndarray:
        parts = []
        for at in range(0, len(paths), BATCH):
            photos = [Image.open(path).convert("RGB") for path in paths[at : at + BATCH]]
            batch = torch.stack([transform(photo) for photo in photos])
            with torch.inference_mode():
                parts.append(model(batch).numpy())
        return unit_rows(np.concatenate(parts))

    return embed


def by_forward(name: str, paths: list[Path]) -> Callable[[], np.ndarray]:
    model, transform = build(name)
    inputs = torch.stack([transform(Image.open(path).convert("RGB")) for path in paths])

    def embed() -> np.ndarray:
        with torch.inference_mode():
            parts = [model(batch) for batch in inputs.split(BATCH)]
        return unit_rows(torch.cat(parts).numpy())

    return embed


def network(name: str, precision: Precision = "float32") -> NetworkBackbone:
    """Return a model as our pipeline runs it on a processor, by torch."""
    model, transform = build(name)
    return NetworkBackbone(
        spec=name,
        model=model,
        pixels=Pixels.of(transform, name),
        card={},
        device=torch.device("cpu"),
        precision=precision,
    )


def by_ours(
    name: str,
    paths: list[Path],
    precision: Precision,
    *,
    paused: bool = False,
    engines: Path | None = None,
) -> Callable[[], np.ndarray]:
    backbone = network(name, precision)
    if engines is not None:
        verdict = choose_engine(backbone, engines)
        print(f"{name}: {verdict.engine}, {verdict.reason}", file=sys.stderr)
    shards = [paths[at : at + SHARD] for at in range(0, len(paths), SHARD)]
    if paused:
        return lambda: np.concatenate([embed_images(backbone, shard) for shard in shards])
    return lambda: np.concatenate(list(embed_in_turn(backbone, shards)))


def serve_way(given: argparse.Namespace) -> None:
    paths = sorted(Path(given.images).rglob("*.jpg"))[: given.n]
    name = given.models[0]
    makers: dict[str, Callable[[], Callable[[], np.ndarray]]] = {
        "plain": lambda: by_plain(name, paths),
        "forward": lambda: by_forward(name, paths),
        "ours, paused": lambda: by_ours(name, paths, "float32", paused=True),
        "ours": lambda: by_ours(name, paths, "float32"),
        "ours, engine": lambda: by_ours(
            name, paths, "float32", engines=Path(given.answers) / "engines"
        ),
        "ours bfloat16": lambda: by_ours(name, paths, "bfloat16"),
    }
    embed = makers[given.way]()
    vectors: list[np.ndarray] = []

    def work() -> dict[str, Any]:
        vectors[:] = [embed()]
        return {"n_images": len(paths)}

    rounds.serve(work)
    np.save(Path(given.answers) / f"{given.way}.npy", vectors[0])


def agreement(one: np.ndarray, other: np.ndarray) -> float:
    """Return the share of the ten nearest neighbours that both have."""
    own = Filters(own=np.arange(len(one)))
    lists = [top_k(rows, rows, NEIGHBOURS, filters=own).indices for rows in (one, other)]
    same = [len(set(a) & set(b)) for a, b in zip(*(rows.tolist() for rows in lists), strict=True)]
    return float(np.mean(same)) / NEIGHBOURS


def compare(given: argparse.Namespace, answers: Path) -> None:
    for name in given.models:
        options = ["--images", given.images, "--models", name, "--n", str(given.n)]
        options += ["--answers", str(answers)]
        ways = [rounds.start("benchmarks.embed", options, way) for way in given.ways]
        rounds.run(ways, given.rounds)
        rounds.stop(ways)
        plain, forward, ours = (next(w for w in ways if w.name == name) for name in PEERS)
        expected = np.load(answers / "plain.npy")
        print(f"\n{name}, {ways[0].extra['n_images']} photos")
        for way in ways:
            rate = way.extra["n_images"] / way.median
            shared = agreement(np.load(answers / f"{way.name}.npy"), expected)
            print(
                f"  {way.name:14s} {rate:6.1f} images/s  x{plain.median / way.median:.2f} of plain"
                f"  x{forward.median / way.median:.2f} of forward"
                f"  x{ours.median / way.median:.2f} of ours  top-10 shared {shared:.4f}"
                f"  {way.anonymous_mib:5.0f} MiB",
                flush=True,
            )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--images", help="folder with JPEG photos")
    parser.add_argument("--models", nargs="+", default=["lite0", "resnet18", "clip"])
    parser.add_argument("--n", type=int, default=512, help="how many photos")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument(
        "--ways", nargs="+", choices=WAYS, default=WAYS, help=f"{', '.join(PEERS)} and others"
    )
    parser.add_argument("--way", choices=WAYS, help=argparse.SUPPRESS)
    parser.add_argument("--answers", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.way:
        serve_way(given)
        return
    if missing := set(PEERS) - set(given.ways):
        parser.error(f"--ways lacks what others are compared with: {', '.join(sorted(missing))}")
    with tempfile.TemporaryDirectory() as answers, tempfile.TemporaryDirectory() as photos:
        if given.images is None:
            make_photos(Path(photos), given.n)
            given.images = photos
        compare(given, Path(answers))


if __name__ == "__main__":
    main()
