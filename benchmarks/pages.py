"""Visit every page and every route of the API of a site at size, as each role, and time them.

    LOOKALIKE_DATA=/tmp/scratch python -m benchmarks.pages

50,000 pictures, a pool of 110,000 pairs, 330,000 judgements, 20 campaigns, 10 releases. The site is
made once per data folder. Then a process is started as the web server starts its own, the cache is
emptied, a judge answers once, and everything is visited: first, and again. What counts is time of
processors, Python's and the database's, since other work may share the machine. Ends with 1 where a
visit takes more than a second at first, or 300 ms again.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

from benchmarks.data_folder import own_folder

ROOT = Path(__file__).resolve().parent.parent
BUILD = "from benchmarks.site_at_size import Size, build; build(Size(*{size}))"


def main() -> int:
    """Make the site, visit it, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", type=int, default=50_000)
    parser.add_argument("--queries", type=int, default=1_000)
    parser.add_argument("--again", type=int, default=3, help="visits after the first")
    given = parser.parse_args()
    own_folder(copied_tables=True)
    size = (given.images, given.queries)
    shell = [sys.executable, "manage.py", "shell", "--no-imports", "-c"]
    subprocess.run([*shell, BUILD.format(size=size)], cwd=ROOT, check=True)
    visit = [sys.executable, "-m", "benchmarks.site_visits", f"--again={given.again}"]
    return subprocess.run(visit, cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
