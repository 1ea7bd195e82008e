"""Import photos, from files to rows and previews: `python -m benchmarks.photos [--images DIR]`.

JPEG photos of 768 x 512 pixels are made unless some are given, and imported by the service that
jobs run, on services and in a data folder of their own. Prints photos a second, by the clock and
for each second of a processor; ends with 1 below the bound.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import time
from importlib import import_module
from pathlib import Path

import django
import numpy as np
from PIL import Image

LEAST = 200  # a second


def main() -> int:
    """Measure on services of its own; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", type=Path, help="a folder of photos")
    parser.add_argument("--n", type=int, default=800, help="made unless a folder is given")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        photos = Path(folder) / "photos"
        if given.images:
            shutil.copytree(given.images, photos)
        else:
            make_photos(photos, given.n)
        data = Path(folder) / "var"
        os.environ |= {"LOOKALIKE_DATA": str(data), "DJANGO_SETTINGS_MODULE": "config.settings"}
        embedded = import_module("config.embedded")  # reads the environment set above
        services = import_module("config.settings").SERVICES
        embedded.hold_services(services)
        try:
            django.setup()
            return measure(photos)
        finally:
            embedded.stop_services(services)


def make_photos(folder: Path, n_photos: int) -> None:
    """Write pictures with the detail of photos: noise of every scale."""
    folder.mkdir()
    rng = np.random.default_rng(0)
    for number in range(n_photos):
        layers = [
            np.asarray(
                Image.fromarray(rng.integers(0, 256, (side * 2, side * 3, 3), np.uint8)).resize(
                    (768, 512), Image.Resampling.BICUBIC
                ),
                np.float64,
            )
            / side**0.5
            for side in (2, 8, 32, 128)
        ]
        whole = np.sum(layers, axis=0)
        pixels = (255 * (whole - whole.min()) / np.ptp(whole)).astype(np.uint8)
        Image.fromarray(pixels).save(folder / f"{number:05}.jpg", quality=90)


def measure(photos: Path) -> int:
    """Import the folder; return the exit status."""
    call_command = import_module("django.core.management").call_command
    call_command("migrate", verbosity=0)
    from benchmarks.busy_seconds import busy_seconds  # noqa: PLC0415  (Django is set up here)
    from catalog.models import Image as Row  # noqa: PLC0415

    clock, busy = time.perf_counter(), busy_seconds()
    call_command("import_catalog", "photos", photos, json=True)
    clock, busy = time.perf_counter() - clock, busy_seconds() - busy
    n = Row.objects.count()
    print(f"{n} photos: {n / clock:.0f} a second (at least {LEAST}), {n / busy:.0f} for each "
          "second of a processor")  # fmt: skip
    return 0 if n / clock >= LEAST else 1


if __name__ == "__main__":
    sys.exit(main())
