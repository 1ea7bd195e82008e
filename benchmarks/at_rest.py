"""A whole site's start, and its memory while nobody asks anything: `python -m benchmarks.at_rest`.

The site runs as `script/server` runs it, in a data folder of its own, whose database the first
start makes. Prints the seconds from each start to the first page, and the memory of each kind of
process when it has rested (proportional set size: what processes share counts once); ends with 1
where one is above its bound.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from importlib import import_module
from pathlib import Path
from typing import Any

import psutil

from benchmarks.kills import of_database

MOST_SECONDS, MOST_MB = 5.0, 900.0
WORDS = ("config.web", "--queues light", "--queues device", "supervisord")


def main() -> int:
    """Start, rest, look and stop, again and again; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3, help="starts after the first")
    parser.add_argument("--rest", type=float, default=20.0, help="seconds before memory is read")
    given = parser.parse_args()
    seconds, memory = [], {}
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "var"
        os.environ["LOOKALIKE_DATA"] = str(data)
        site = import_module("tests.site").Site(
            data, is_new=True
        )  # reads the environment set above
        try:
            for _ in range(given.rounds + 1):
                began = time.perf_counter()
                site.start()
                seconds.append(time.perf_counter() - began)
                time.sleep(given.rest)
                memory = memory_of(site, data)
                site.interrupt()
        finally:
            site.end()
    return report(seconds, memory)


def memory_of(site: Any, data: Path) -> dict[str, float]:
    """Return the megabytes of each kind of process."""
    database = of_database(data)
    postmaster = database["PostgreSQL"]()
    kinds = {word: site.processes(word) for word in WORDS}
    kinds["the server"] = [psutil.Process(site.process.pid)]
    kinds["PostgreSQL"] = [postmaster, *postmaster.children(recursive=True)]
    kinds["Valkey"] = [database["Valkey"]()]
    return {
        kind: sum(one.memory_full_info().pss for one in processes) / 1e6
        for kind, processes in kinds.items()
    }


def report(seconds: list[float], memory: dict[str, float]) -> int:
    """Print what was found; return 1 where it is above a bound."""
    again, whole = statistics.median(seconds[1:]), sum(memory.values())
    print(f"start to first page: {again:.1f} s (at most {MOST_SECONDS:.0f}); "
          f"the first, which makes the database, {seconds[0]:.1f} s")  # fmt: skip
    print(f"at rest: {whole:.0f} MB (at most {MOST_MB:.0f}): "
          + ", ".join(f"{kind} {n:.0f}" for kind, n in memory.items()))  # fmt: skip
    return 1 if again > MOST_SECONDS or whole > MOST_MB else 0


if __name__ == "__main__":
    sys.exit(main())
