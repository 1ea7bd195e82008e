"""Time `manage.py evaluate` at the size of VSD, from a database, in a data folder of its own.

    LOOKALIKE_DATA=/tmp/scratch python -m benchmarks.evaluate_campaign

2,000 queries, 54,170 pairs, 14 models with vectors, three judges (so seven label sets). The
campaign is made once per data folder; the evaluation runs in a process of its own, beside a
database and a broker that run already, as they do on a server.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.data_folder import own_folder

ROOT = Path(__file__).resolve().parent.parent
SLUG = "vsd-size"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", type=int, default=10_000)
    parser.add_argument("--dim", type=int, default=256)
    given = parser.parse_args()
    own_folder()
    subprocess.run(
        [sys.executable, "manage.py", "migrate", "--verbosity", "0"], cwd=ROOT, check=True
    )
    code = "from benchmarks.campaign_of_vsd_size import build; "
    code += f"build({given.images}, {given.dim})"
    shell = [sys.executable, "manage.py", "shell", "--no-imports", "-c", code]
    subprocess.run(shell, cwd=ROOT, check=True)
    hold = "import sys; print('up', flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [*shell[:-1], hold], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as services:
        if services.stdout is None or services.stdin is None or not services.stdout.readline():
            sys.exit("The embedded services did not start.")
        before = time.monotonic()
        subprocess.run([sys.executable, "manage.py", "evaluate", SLUG], cwd=ROOT, check=True,
                       stdout=subprocess.DEVNULL)  # fmt: skip
        seconds = time.monotonic() - before
        services.stdin.close()
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 2**20
    print(f"evaluate: {seconds:.1f} s, the command as a whole; peak {peak:.2f} GB")


if __name__ == "__main__":
    main()
