"""Programs start beside the preparation of their site, and wait here until it is done.

    python -P config/running/when_prepared.py PROGRAM ARGUMENT...

waits, leaves the processors to the web processes a while, then becomes that program. It runs as a
file: as a module it would load Celery first.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

PREPARED = "LOOKALIKE_PREPARED"
"""Names the file that is there once a site is prepared; nothing is waited for without it."""
LOOK_SECONDS = 0.02
WEB_FIRST_SECONDS = 1.5  # so that pages are there before workers are


def wait_until_prepared() -> None:
    """Return once the server that started this process has prepared the site."""
    name = os.environ.get(PREPARED)
    while name and not Path(name).exists():
        time.sleep(LOOK_SECONDS)


if __name__ == "__main__":
    wait_until_prepared()
    time.sleep(WEB_FIRST_SECONDS)
    os.execv(sys.argv[1], sys.argv[1:])  # noqa: S606
