"""How well backbones find other photos of the same product, on a folder with metadata.

    python -m benchmarks.identity [DIR] [--metadata FILE] [--models SPEC ...] [--json FILE]

Every photo whose product has another photo is a query; all other photos are ranked by cosine.
R@1 is the share of queries whose nearest photo shows the same product, mAP the mean average
precision over the whole ranking. A check of the models, not of visual similarity: the product of
a photo is no judgement. The last row compares the colour histograms by their L1 distance, which
serves them better than the cosine does.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

if not __package__:  # run as a file: benchmarks/evaluation.py must not hide the package
    sys.path[0] = str(Path(__file__).resolve().parents[1])

import numpy as np

from lookalike.backbones.embed import embed_images
from lookalike.backbones.loading import load_backbone
from lookalike.pooling.presets import OFFLINE, expanded
from lookalike.search.exact import top_k
from lookalike.search.filters import Filters

LUMA = Path("../shared/data/luma_fashion")
HISTOGRAM, L1 = "descriptor:colour-histogram", "L1"


@dataclass(frozen=True)
class Row:
    """One model's result."""

    model: str
    dim: int
    recall_at_1: float
    mean_average_precision: float
    queries: int
    seconds: float


def read_photos(folder: Path, metadata: Path) -> tuple[list[Path], np.ndarray]:
    """Return the photos that have a product, and their products' numbers."""
    with metadata.open(encoding="utf-8-sig", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["product_id"]]
    _, products = np.unique([row["product_id"] for row in rows], return_inverse=True)
    return [folder / row["path"] for row in rows], products


def by_cosine(vectors: np.ndarray) -> np.ndarray:
    """Return all other photos' rows, nearest first, shape (n, n - 1), for unit vectors (n, d)."""
    own = Filters(own=np.arange(len(vectors)))
    return top_k(vectors, vectors, len(vectors), filters=own).indices[:, :-1]


def by_l1(histograms: np.ndarray) -> np.ndarray:
    """Return all other photos' rows, nearest first, shape (n, n - 1), for histograms (n, d)."""
    apart = np.stack([np.abs(histograms - row).sum(axis=1) for row in histograms])
    np.fill_diagonal(apart, np.inf)
    return np.argsort(apart, axis=1, kind="stable")[:, :-1]


def identity_scores(ranking: np.ndarray, products: np.ndarray) -> tuple[float, float, int]:
    """Return R@1, mAP and the number of queries; a query needs another photo of its product.

    Args:
        ranking: shape (n, n - 1), rows of the other photos.
        products: shape (n,).
    """
    is_same = products[ranking] == products[:, None]
    is_query = is_same.any(axis=1)
    is_same = is_same[is_query]
    precision = np.cumsum(is_same, axis=1) / np.arange(1, len(ranking))
    average = (precision * is_same).sum(axis=1) / is_same.sum(axis=1)
    return float(is_same[:, 0].mean()), float(average.mean()), int(is_query.sum())


def measure(spec: str, paths: list[Path], products: np.ndarray) -> Row:
    begin = time.perf_counter()
    backbone = load_backbone(spec)
    vectors = embed_images(backbone, paths)
    seconds = time.perf_counter() - begin
    return Row(backbone.spec, backbone.dim, *identity_scores(by_cosine(vectors), products), seconds)


def measure_l1(paths: list[Path], products: np.ndarray) -> Row:
    begin = time.perf_counter()
    backbone = load_backbone(HISTOGRAM)
    shares = embed_images(backbone, paths) ** 2  # the descriptor holds their square roots
    seconds = time.perf_counter() - begin
    scores = identity_scores(by_l1(shares), products)
    return Row("colour histogram, L1 distance", backbone.dim, *scores, seconds)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("folder", nargs="?", type=Path, default=LUMA)
    parser.add_argument("--metadata", type=Path, help="CSV with path and product_id")
    parser.add_argument("--models", nargs="+", default=[OFFLINE.name])
    parser.add_argument("--json", type=Path, help="write the rows there too")
    given = parser.parse_args()
    metadata = given.metadata or given.folder / "metadata.csv"
    if not metadata.exists():
        sys.exit(f"{metadata} is not there: name a folder of photos and its --metadata.")
    paths, products = read_photos(given.folder, metadata)
    print(f"{len(paths)} photos of {len(set(products.tolist()))} products in {given.folder}\n")
    print(f"| model | dim | R@1 | mAP | queries | s |\n|{'---|' * 6}")
    rows = []
    specs = expanded(given.models)
    for spec in [*specs, L1]:
        row = measure_l1(paths, products) if spec == L1 else measure(spec, paths, products)
        rows.append(row)
        print(
            f"| {row.model} | {row.dim} | {row.recall_at_1:.3f} | "
            f"{row.mean_average_precision:.3f} | {row.queries} | {row.seconds:.0f} |",
            flush=True,
        )
    if given.json:
        given.json.write_text(json.dumps([asdict(row) for row in rows], indent=2) + "\n")


if __name__ == "__main__":
    main()
