"""Python processes of our own on a line of messages, where `multiprocessing` refuses to start any.

Celery's workers may have no children of `multiprocessing` (docs/adr/0018).
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from multiprocessing import Pipe
from multiprocessing.connection import Connection


def start_child(
    program: str, handles: Sequence[int] = (), environment: Mapping[str, str] | None = None
) -> tuple[subprocess.Popen[bytes], Connection]:
    """Start a process that can import what this one can.

    Args:
        program: Python code. It finds the number of its end of the line in sys.argv[1], and the
            handles after it.
        handles: File descriptors that it inherits.
        environment: Its variables; by default those of this process.

    Returns:
        The process and our end of the line.

    Raises:
        OSError: No process can be started.
    """
    line, theirs = Pipe()
    with theirs:
        inherited = [theirs.fileno(), *handles]
        process = subprocess.Popen(
            [sys.executable, "-c", program, *map(str, inherited)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            pass_fds=inherited,
            start_new_session=True,  # Ctrl-C is for the one that started it
            env={
                **(os.environ if environment is None else environment),
                "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
                "OMP_NUM_THREADS": "1",
                "OPENBLAS_NUM_THREADS": "1",
            },
        )
    return process, line
