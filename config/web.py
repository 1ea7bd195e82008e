"""One process of the web server: `python -m config.web [--host H] [--port N | --socket FD]`.

Under script/server several of them accept from one listening socket that their parent has bound:
where one dies, the others and the socket's queue take what comes. The reasons:
docs/adr/0014-requests-wait-outside-of-threads.md.
"""

from __future__ import annotations

import argparse
import asyncio
import atexit
import os
import resource
import signal
import socket
import sys
import tempfile
from contextlib import ExitStack
from importlib import import_module
from typing import Any

from granian._granian import SocketHolder
from granian.constants import HTTPModes
from granian.http import HTTP1Settings
from granian.log import LogLevels
from granian.server.embed import Server

from config.running.gate import Gate, Visitors
from config.running.memory import settle_memory
from config.running.processes import relieve_orphans
from config.running.rsgi import STALL_SECONDS, Adapter
from config.running.when_prepared import wait_for_room

SITE = "config.wsgi:application"
BACKLOG = 1024
CONNECTIONS = 4096  # at once, of one process; further ones wait in the socket's queue
SPARE_FILES = 512  # file descriptors that are not connections


def listening_socket(host: str, port: int) -> socket.socket:
    """Return a socket that listens, for web processes to inherit.

    Raises:
        OSError: the address is in use, or none of this machine's.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.create_server((host, port), family=family, backlog=BACKLOG)


def drop_stalled(descriptor: int) -> None:
    """Have connections that a socket accepts dropped once their reader takes nothing more."""
    if hasattr(socket, "TCP_USER_TIMEOUT"):  # accepted ones inherit it
        with socket.socket(fileno=os.dup(descriptor)) as listening:
            milliseconds = int(1000 * STALL_SECONDS)
            listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, milliseconds)


class InheritedServer(Server):
    """granian in this process and event loop, on a socket that is open already."""

    def __init__(self, application: Any, descriptor: int, **options: Any) -> None:
        super().__init__(application, **options)
        self.descriptor = descriptor

    def _init_shared_socket(self) -> None:
        self._shd = SocketHolder(self.descriptor, False, BACKLOG)  # type: ignore[call-arg, assignment]  # its stubs are behind


def server_on(descriptor: int, adapter: Adapter) -> InheritedServer:
    """Return the server of this process; what it says itself goes where the site's log goes."""
    return InheritedServer(
        adapter,
        descriptor,
        http=HTTPModes.http1,
        http1_settings=HTTP1Settings(
            header_read_timeout=int(1000 * STALL_SECONDS),  # also between two requests
            max_buffer_size=2**16,
        ),
        websockets=False,
        backpressure=_connections(),
        log_level=LogLevels.error,
        log_dictconfig={"loggers": {}, "handlers": {}, "formatters": {}},  # none of its own
    )


async def serve(adapter: Adapter, descriptor: int) -> None:
    """Answer requests until told to stop."""
    server = server_on(descriptor, adapter)
    loop = asyncio.get_running_loop()
    for name in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(name, server.stop)
    await server.serve()


def _connections() -> int:
    """Return how many connections this process may hold, having raised its limit of files."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = CONNECTIONS + SPARE_FILES
    files = wanted if most == resource.RLIM_INFINITY else min(wanted, most)
    resource.setrlimit(resource.RLIMIT_NOFILE, (files, most))
    return max(files - SPARE_FILES, 64)


def write_to_the_data_folder() -> None:
    """Have long bodies and answers wait on the data folder's disk, unless TMPDIR says where.

    In containers /tmp is memory. What a killed process leaves goes with old uploads.
    """
    if "TMPDIR" not in os.environ:
        folder = import_module("catalog.importing.uploads").uploads_folder()
        tempfile.tempdir = str(folder)


def leave_at_once() -> None:
    """End this process; what was registered to run at its end has run.

    A thread of granian's may ask for Python while Python is taken apart, and panics then.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def main() -> int:
    """Serve until told to stop; return the exit status."""
    served = ExitStack()
    atexit.register(served.close)  # before all others that will be, so it runs after them
    parser = argparse.ArgumentParser(prog="python -m config.web", description="Answer requests.")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--socket", type=int, help="number of an inherited listening socket")
    parser.add_argument("--application", default=SITE, help="module:name")
    options = parser.parse_args()
    descriptor = options.socket
    if descriptor is None:
        descriptor = listening_socket(options.host, options.port).detach()
    drop_stalled(descriptor)
    module, _, name = options.application.partition(":")
    if options.application == SITE:
        wait_for_room(str(import_module("config.settings").DATA_DIR))
    loaded = import_module(module)
    visitors = getattr(loaded, "visitors", None) or Visitors()
    adapter = Adapter(getattr(loaded, name), Gate(visitors))
    if options.application == SITE:  # tests serve others
        write_to_the_data_folder()
    settle_memory()
    relieve_orphans()
    asyncio.run(serve(adapter, descriptor))
    adapter.close()
    served.callback(leave_at_once)
    return 0


if __name__ == "__main__":
    sys.exit(main())
