"""How long notions take: InDiReCT at the size of its paper, and a catalog mapped by it.

    python -m benchmarks.learning [--rounds 3]

The fit has 569 prompts, as many as the paper's car models, of 512 numbers and comes to 128; it
runs on one thread until 100 iterations have gained nothing. The prompts are drawn: directions of
a CLIP-like spread, with a strong common part, since no weights of CLIP are needed to time it. The
map takes 52,712 vectors, a closed VSD catalog, from 512 to 128.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

if not __package__:  # run as a file: benchmarks/evaluation.py must not hide the package
    sys.path[0] = str(Path(__file__).resolve().parents[1])

import numpy as np

from lookalike.backbones.protocol import unit_rows
from lookalike.learning.notions.closed_forms import prompt_span
from lookalike.learning.notions.indirect import fit_indirect

N_PROMPTS, N_IMAGES, N_IN, N_OUT = 569, 52_712, 512, 128


def prompts() -> np.ndarray:
    """Return unit vectors around a common direction, their spread falling from axis to axis."""
    rng = np.random.default_rng(0)
    spread = np.arange(1, N_IN + 1) ** -0.5
    drawn = rng.standard_normal((N_PROMPTS, N_IN)) * spread
    return unit_rows(drawn / np.linalg.norm(spread) + 1.5 * unit_rows(np.ones((1, N_IN))))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    texts = prompts()
    images = np.random.default_rng(1).standard_normal((N_IMAGES, N_IN), np.float32)
    for number in range(rounds):
        start, used = time.perf_counter(), time.process_time()
        fit = fit_indirect(texts, N_OUT, seed=number)
        seconds, used = time.perf_counter() - start, time.process_time() - used
        print(
            f"InDiReCT {N_PROMPTS} x {N_IN} -> {N_OUT}: {seconds:.1f} s ({used:.1f} s of a "
            f"processor), {fit.last:,} iterations, mean angle {fit.loss:.4f}"
        )
        start = time.perf_counter()
        span = prompt_span(texts, N_OUT)
        print(f"span of the prompts: {time.perf_counter() - start:.2f} s, {span.dim} directions")
        start, used = time.perf_counter(), time.process_time()
        fit.projection.apply(images)
        seconds, used = time.perf_counter() - start, time.process_time() - used
        print(f"map {N_IMAGES:,} x {N_IN} -> {N_OUT}: {seconds:.2f} s ({used:.2f} s of processors)")


if __name__ == "__main__":
    main()
