"""How many neighbours stay when vectors are stored as float16 instead of float32.

    python -m benchmarks.stored_as --images DIR [--n 400] [--models lite0 resnet18 clip]

Models with a colon in their name are specs (`timm:tf_efficientnet_lite2`); the others are those of
`benchmarks.embed`, with real weights for lite0 and random ones else. Random networks put all
pictures close together, which is the hardest case for rounding.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

if not __package__:  # run as a file: benchmarks/evaluation.py must not hide the package
    sys.path[0] = str(Path(__file__).resolve().parents[1])

import numpy as np

from benchmarks.embed import by_ours
from lookalike.backbones.embed import embed_images
from lookalike.backbones.loading import load_backbone
from lookalike.search.exact import top_k
from lookalike.search.filters import Filters

MODELS = (
    "lite0",
    "resnet18",
    "clip",
    "vit_small_patch16_224",
    "descriptor:colour-histogram",
    "descriptor:colour-layout",
    "descriptor:lbp-texture",
    "descriptor:hog-shape",
)
NEIGHBOURS = 10


def agreement(vectors: np.ndarray) -> float:
    """Return the share of the ten nearest others that float16 leaves among the ten nearest."""
    others = Filters(own=np.arange(len(vectors)))
    narrow = vectors.astype(np.float16)
    exact = top_k(vectors, vectors, NEIGHBOURS, filters=others).indices
    found = top_k(narrow, narrow, NEIGHBOURS, filters=others).indices
    same = [np.isin(row, kept).mean() for row, kept in zip(exact, found, strict=True)]
    return float(np.mean(same))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", type=Path, required=True)
    parser.add_argument("--n", type=int, default=400)
    parser.add_argument("--models", nargs="+", default=MODELS)
    given = parser.parse_args()
    paths = sorted(given.images.rglob("*.jpg"))[: given.n]
    for name in given.models:
        if ":" in name:
            vectors = embed_images(load_backbone(name), paths)
        else:
            vectors = by_ours(name, paths, "float32")()
        sys.stdout.write(f"{name:<32} {len(paths)} photos  {agreement(vectors):.2%}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
