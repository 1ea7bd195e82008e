"""Programs start beside the preparation of their site, and wait here until it is done.

    python -P config/running/when_prepared.py FOLDER PROGRAM ARGUMENT...

waits, leaves the processors to the web processes a while, waits for room on the folder's disk, then
becomes that program. It runs as a file: as a module it would load Celery first.
"""

from __future__ import annotations

import os
import shutil
import sys
import time
from pathlib import Path

PREPARED = "LOOKALIKE_PREPARED"
"""Names the file that is there once a site is prepared; nothing is waited for without it."""
LOOK_SECONDS = 0.02
WEB_FIRST_SECONDS = 1.5  # so that pages are there before workers are
ROOM = 8 * 2**20
"""Free bytes without which a program would end as soon as it writes. Its supervisor would start it
again and again, later each time."""
LOOK_FOR_ROOM_SECONDS = 1.0


def wait_for_room(folder: str) -> None:
    """Return once the disk of a folder is no longer full."""
    while shutil.disk_usage(folder).free < ROOM:
        time.sleep(LOOK_FOR_ROOM_SECONDS)


def wait_until_prepared() -> None:
    """Return once the server that started this process has prepared the site."""
    name = os.environ.get(PREPARED)
    while name and not Path(name).exists():
        time.sleep(LOOK_SECONDS)


if __name__ == "__main__":
    wait_until_prepared()
    if PREPARED in os.environ:
        time.sleep(WEB_FIRST_SECONDS)
    wait_for_room(sys.argv[1])
    os.execv(sys.argv[2], sys.argv[2:])  # noqa: S606
