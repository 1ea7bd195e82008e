"""Time freezing, verifying and exporting a release, in a data folder of its own.

    LOOKALIKE_DATA=/tmp/scratch python -m benchmarks.release

1,000 queries, 110,000 pairs, 330,000 judgements, five models with uploaded scores, then five with
stored vectors of 512 dimensions of all 20,000 images. The campaign is made once per data folder;
each step runs in a process of its own, whose peak memory it prints.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.data_folder import own_folder

ROOT = Path(__file__).resolve().parent.parent


def in_django(code: str) -> str:
    """Run code where Django is set up and return what it prints last."""
    shell = [sys.executable, "manage.py", "shell", "--no-imports", "-c", code]
    done = subprocess.run(shell, cwd=ROOT, check=True, capture_output=True, text=True)
    return done.stdout.strip().splitlines()[-1]


def told(step: str) -> dict[str, Any]:
    """Run a step of `benchmarks.campaign_of_release_size` and return what it found."""
    code = f"from benchmarks.campaign_of_release_size import {step}; {step}()"
    found: dict[str, Any] = json.loads(in_django(code))
    return found


def main() -> None:
    own_folder()
    migrate = [sys.executable, "manage.py", "migrate", "--verbosity", "0"]
    subprocess.run(migrate, cwd=ROOT, check=True)
    print(in_django("from benchmarks.campaign_of_release_size import build; build()"))
    frozen = told("freeze")
    print(f"freeze: {frozen['seconds']:.1f} s, peak {frozen['peak_mb']:.0f} MB, "
          f"archive {frozen['archive_mb']:.0f} MB")  # fmt: skip
    exported = told("export")
    print(f"CSV + parquet + VSD: {exported['seconds']:.2f} s, peak {exported['peak_mb']:.0f} MB")
    before = time.monotonic()
    verify = [sys.executable, "-m", "lookalike", "verify", frozen["archive"]]
    subprocess.run(verify, cwd=ROOT, check=True)
    seconds = time.monotonic() - before
    peak = peak_of_verify(verify)
    print(f"verify the zip: {seconds:.1f} s with start, peak {peak:.0f} MB")
    embedded = told("freeze_embedded")
    print(f"freeze with stored vectors: {embedded['seconds']:.1f} s, "
          f"peak {embedded['peak_mb']:.0f} MB")  # fmt: skip


def peak_of_verify(command: list[str]) -> float:
    """Run it once more where no other child counts."""
    code = (
        "import resource, sys; from lookalike.cli.main import main; main(sys.argv[1:]);"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    again = [sys.executable, "-c", code, *command[3:]]
    done = subprocess.run(again, cwd=ROOT, check=True, capture_output=True, text=True)
    return int(done.stdout.split()[-1]) / 1024


def peak_mb() -> float:
    """Return this process's peak resident memory in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
