"""Run device workers only: `python -m config.worker [--device cuda:0 ...] [--label WORD]`.

On a further machine, set DATABASE_URL and REDIS_URL to those of the site and share its data
folder (LOOKALIKE_DATA). Without them the workers join the site of this checkout.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import ExitStack

from config import embedded, settings
from config.running.claim import claim
from config.running.devices import DeviceError, DeviceWorker, workers_for
from config.server import Program, stop_leftovers, supervise


def main() -> int:
    """Work until told to stop; return the exit status."""
    parser = argparse.ArgumentParser(prog="script/worker", description="Run device workers.")
    parser.add_argument(
        "--device",
        nargs="+",
        default=[],
        help="cpu, mps, cuda:0, …: one worker each; without it every GPU, or else the processor",
    )
    parser.add_argument(
        "--label", default="", help="sets these workers apart from others on the same device here"
    )
    options = parser.parse_args()
    try:
        workers = workers_for(options.device, options.label)
    except DeviceError as problem:
        parser.error(str(problem))
    mark = f"{settings.DATA_DIR} {', '.join(worker.name for worker in workers)}"
    with ExitStack() as holding:
        for worker in workers:
            holding.enter_context(claim(settings.DATA_DIR, worker.queue))
        return _work(workers, mark)


def _work(workers: Sequence[DeviceWorker], mark: str) -> int:
    stop_leftovers(mark)
    embedded.hold_services(settings.SERVICES)
    for worker in workers:
        sys.stderr.write(f"{worker.name} works on the queues device and {worker.queue}.\n")
    return supervise([Program.of_worker(worker).when_there_is_room for worker in workers], mark)


if __name__ == "__main__":
    sys.exit(main())
