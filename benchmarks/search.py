"""Exact top-k search: ours beside torch's matmul + topk and a flat faiss index.

    python -m benchmarks.search [--dims 512 768] [--k 6 100] [--rounds 7] [--data clusters]
    python -m benchmarks.search --shards FOLDER [--k 6] [--device cuda]

The first form searches 2,000 queries in 52,712 unit vectors, each query's own row left out, and
checks that all methods agree. *ours by torch* is the search of workers that have a GPU, on one
where there is one, else on torch's processor. The second searches 1,000,000 x 256 float16 vectors
in memory-mapped shards of 100,000 (made in FOLDER, 512 MB), with --device by torch on that one,
and fits the time against the number of images.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

if not __package__:  # run as a file: benchmarks/evaluation.py must not hide the package
    sys.path[0] = str(Path(__file__).resolve().parents[1])

import faiss
import numpy as np
import torch

from benchmarks import rounds
from lookalike.search import gpu
from lookalike.search.exact import top_k
from lookalike.search.filters import Filters
from lookalike.search.topk import TopK

N_QUERIES, N_IMAGES, CLUSTER = 2_000, 52_712, 40
SHARD_ROWS, SHARDED_DIM = 100_000, 256
WAYS = ("ours", "ours float32", "ours by torch", "torch", "faiss")
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def unit_vectors(n: int, dim: int, data: str) -> np.ndarray:
    """Return unit vectors: independent, or in clusters of about 40 as photos of products are."""
    rng = np.random.default_rng(0)
    vectors = rng.standard_normal((n, dim), np.float32)
    if data == "clusters":
        centres = rng.standard_normal((n // CLUSTER, dim), np.float32)
        vectors = centres[rng.integers(0, len(centres), n)] + np.float32(0.7) * vectors
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors


def by_ours(catalog: np.ndarray, k: int, method: Any) -> Callable[[], TopK]:
    queries = catalog[:N_QUERIES].copy()
    filters = Filters(own=np.arange(N_QUERIES))
    return lambda: top_k(queries, catalog, k, filters=filters, method=method)


def by_our_torch(catalog: np.ndarray, k: int) -> Callable[[], TopK]:
    queries = catalog[:N_QUERIES].copy()
    filters = Filters(own=np.arange(N_QUERIES))
    return lambda: gpu.top_k(queries, catalog, k, device=DEVICE, filters=filters)


def by_torch(catalog: np.ndarray, k: int, rows: int = 256) -> Callable[[], TopK]:
    vectors = torch.from_numpy(catalog)
    scores = torch.empty(rows, len(catalog))

    def search() -> TopK:
        parts = []
        for first in range(0, N_QUERIES, rows):
            queries = vectors[first : min(first + rows, N_QUERIES)]
            block = torch.mm(queries, vectors.T, out=scores[: len(queries)])
            own = torch.arange(len(queries))
            block[own, first + own] = -torch.inf
            parts.append(block.topk(k, dim=1))
        return TopK(
            torch.cat([part.indices for part in parts]).numpy(),
            torch.cat([part.values for part in parts]).numpy(),
        )

    return search


def by_faiss(catalog: np.ndarray, k: int) -> Callable[[], TopK]:
    index = faiss.IndexFlatIP(catalog.shape[1])
    index.add(catalog)
    queries = catalog[:N_QUERIES].copy()
    own = np.arange(N_QUERIES)[:, None]

    def search() -> TopK:
        scores, indices = index.search(queries, k + 1)
        kept = indices != own
        kept[:, -1] &= ~kept.all(axis=1)
        return TopK(indices[kept].reshape(-1, k), scores[kept].reshape(-1, k))

    return search


def serve_way(given: argparse.Namespace) -> None:
    catalog = unit_vectors(N_IMAGES, given.dims[0], given.data)
    k = given.k[0]
    makers: dict[str, Callable[[], Callable[[], TopK]]] = {
        "ours": lambda: by_ours(catalog, k, "auto"),
        "ours float32": lambda: by_ours(catalog, k, "float32"),
        "ours by torch": lambda: by_our_torch(catalog, k),
        "torch": lambda: by_torch(catalog, k),
        "faiss": lambda: by_faiss(catalog, k),
    }
    search = makers[given.way]()
    results: list[TopK] = []

    def work() -> dict[str, Any]:
        results[:] = [search()]
        return {}

    rounds.serve(work)
    found = results[0]
    np.savez(Path(given.answers) / f"{given.way}.npz", indices=found.indices, scores=found.scores)


def require_equal(folder: Path, names: Sequence[str]) -> None:
    """Stop unless our ways, which are exact, give the same ids and scores, bit for bit."""
    first, *others = (np.load(folder / f"{name}.npz") for name in names)
    for name, other in zip(names[1:], others, strict=True):
        for what in ("indices", "scores"):
            if not np.array_equal(first[what], other[what]):
                raise SystemExit(f"{name}: its {what} are not those of {names[0]}")


def agreement(one: Path, other: Path) -> str:
    """Return how two results differ, beyond what float32 rounding explains."""
    a, b = np.load(one), np.load(other)
    apart = float(np.abs(a["scores"] - b["scores"]).max())
    differs = a["indices"] != b["indices"]
    gaps = np.abs(a["scores"] - b["scores"])[differs]
    unexplained = int((gaps > 2e-6).sum())
    return (
        f"ids equal {1 - differs.mean():.6f}, the others tie within rounding: "
        f"{'yes' if not unexplained else f'NO, {unexplained}'}; scores within {apart:.1e}"
    )


def compare(given: argparse.Namespace, folder: Path) -> None:
    for dim in given.dims:
        for k in given.k:
            options = ["--dims", str(dim), "--k", str(k), "--data", given.data]
            options += ["--answers", str(folder)]
            ways = [rounds.start("benchmarks.search", options, name) for name in WAYS]
            rounds.run(ways, given.rounds)
            rounds.stop(ways)
            flat = ways[-1]
            print(f"\n{N_QUERIES:,} x {N_IMAGES:,} x {dim}, k = {k}, {given.data}; torch: {DEVICE}")
            require_equal(folder, WAYS[:3])
            for way in ways:
                ratio = way.median / flat.median
                note = (
                    ""
                    if way is flat
                    else agreement(folder / f"{way.name}.npz", folder / "faiss.npz")
                )
                print(
                    f"  {way.name:13s} {way.spread():24s} s  x{ratio:.2f} of faiss  "
                    f"{way.anonymous_mib:6.0f} MiB  {note}",
                    flush=True,
                )


def sharded(given: argparse.Namespace) -> None:
    folder = Path(given.shards)
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{number}.npy" for number in range(10)]
    for number, path in enumerate(paths):
        if not path.exists():
            rng = np.random.default_rng(number)
            rows = rng.standard_normal((SHARD_ROWS, SHARDED_DIM), np.float32)
            rows /= np.linalg.norm(rows, axis=1, keepdims=True)
            np.save(path, rows.astype(np.float16))
            del rows
    shards = [np.load(path, mmap_mode="r") for path in paths]
    queries = np.array(shards[0][:N_QUERIES], np.float32)
    filters = Filters(own=np.arange(N_QUERIES))
    find = partial(gpu.top_k, device=given.device) if given.device else top_k
    for k in given.k:
        sizes, medians = [], []
        for n_shards in (1, 2, 5, 10):
            seconds = []
            with rounds.PeakMemory() as peak:
                for _ in range(given.rounds + 1):
                    begin = time.perf_counter()
                    find(queries, shards[:n_shards], k, filters=filters)
                    seconds.append(time.perf_counter() - begin)
            sizes.append(n_shards * SHARD_ROWS)
            medians.append(float(np.median(seconds[1:])))
            print(
                f"{sizes[-1]:>9,} x {SHARDED_DIM} float16, k = {k}: {medians[-1]:.2f} "
                f"({min(seconds[1:]):.2f}-{max(seconds[1:]):.2f}) s; anonymous memory "
                f"{rounds.anonymous_kib() / rounds.MIB:.0f} MiB, of it for the search at most "
                f"{peak.mib:.0f}",
                flush=True,
            )
        slope, start = np.polyfit(sizes, medians, 1)
        fit = np.corrcoef(sizes, medians)[0, 1] ** 2
        print(f"  fit: {start:.2f} s + {slope * 1e6:.2f} s per million images, R2 {fit:.4f}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--dims", type=int, nargs="+", default=[512, 768])
    parser.add_argument("--k", type=int, nargs="+", default=[6, 100])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--data", choices=["clusters", "gaussian"], default="clusters")
    parser.add_argument("--shards", help="folder for the shards of the second form")
    parser.add_argument("--device", help="of the second form: search by torch there")
    parser.add_argument("--way", choices=WAYS, help=argparse.SUPPRESS)
    parser.add_argument("--answers", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.way:
        serve_way(given)
    elif given.shards:
        sharded(given)
    else:
        with tempfile.TemporaryDirectory() as folder:
            compare(given, Path(folder))


if __name__ == "__main__":
    main()
