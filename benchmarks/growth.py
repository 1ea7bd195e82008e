"""How the work of each step grows with its size, in a data folder of its own.

    LOOKALIKE_DATA=/tmp/scratch python -m benchmarks.growth [--base 50]

Import, filling a pool, evaluation, freezing, verifying and exporting at sizes x1, x3 and x10: so
many pictures are imported, and so many queries are asked of one catalog. Prints processor time and
the exponent of time over size; ends with 1 where one is above 1.1.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

from benchmarks.data_folder import own_folder

ROOT = Path(__file__).resolve().parent.parent


def main() -> int:
    """Copy the tables, measure where Django is set up, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--base", type=int, default=50, help="the smallest size")
    given = parser.parse_args()
    own_folder(copied_tables=True)
    code = (
        f"import sys; from benchmarks.growing_site import measure; sys.exit(measure({given.base}))"
    )
    shell = [sys.executable, "manage.py", "shell", "--no-imports", "-c", code]
    return subprocess.run(shell, cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
