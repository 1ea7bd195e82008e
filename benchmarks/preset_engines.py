"""Which engine runs each network of the presets on this processor, and what that gains.

    python -m benchmarks.preset_engines [--specs timm:convnext_base.fb_in1k ...] [--rounds 3]

Each network that a preset names (`lookalike.pooling.presets`) is made with random weights, and its
engine chosen as a job does. Where that is ONNX Runtime, JPEG photos are embedded by it and by torch
in turns, from file to vector; what torch keeps is run as if there were no choice. Ends with 1 where
a chosen engine is slower than torch. All presets take an hour on two cores. With random weights the
vectors of all pictures can be so alike that rounding says which are nearest: here, only the largest
change of a number counts.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.embed import make_photos, network
from lookalike.backbones import engines
from lookalike.backbones.embed import embed_images
from lookalike.pooling.presets import PRESETS

N_PHOTOS, LEAST, ROUND_SECONDS = 256, 32, 6.0  # photos of a network, by what one takes of torch


def gain(spec: str, photos: list[Path], rounds: int) -> float:
    """Choose a network's engine, print a row about it, and return how many times torch's rate."""
    started = time.perf_counter()
    quick = network(spec)
    with tempfile.TemporaryDirectory() as folder:
        verdict = engines.choose_engine(quick, Path(folder))
        row = f"{spec}: {verdict.engine}, {verdict.reason} ({time.perf_counter() - started:.0f} s)"
        if verdict.engine == engines.TORCH:
            print(row, flush=True)
            return 1.0
        ways = [network(spec), quick]
        started = time.perf_counter()
        embed_images(ways[0], photos[:LEAST])
        embed_images(ways[1], photos[:LEAST])
        one = (time.perf_counter() - started) / (2 * LEAST)
        n = LEAST * round(min(N_PHOTOS, max(LEAST, ROUND_SECONDS / one)) / LEAST)
        ratios = []
        for _ in range(rounds):
            seconds = []
            for way in ways:
                started = time.perf_counter()
                embed_images(way, photos[:n])
                seconds.append(time.perf_counter() - started)
            ratios.append(seconds[0] / seconds[1])
    found = statistics.median(ratios)
    print(f"{row}; {n} photos x{found:.2f} ({min(ratios):.2f}-{max(ratios):.2f})", flush=True)
    return found


def main() -> int:
    """Try the networks one after the other; return the exit status."""
    named = [spec for preset in PRESETS for spec in preset.specs]
    specs = [spec for spec in dict.fromkeys(named) if not spec.startswith("descriptor:")]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--specs", nargs="+", default=specs)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    engines.LEAST_AGREEMENT = 0.0
    with tempfile.TemporaryDirectory() as folder:
        make_photos(Path(folder), N_PHOTOS)
        photos = sorted(Path(folder).iterdir())
        return int(min(gain(spec, photos, given.rounds) for spec in given.specs) < 1)


if __name__ == "__main__":
    sys.exit(main())
