"""A site as `deploy/` has it: nginx and the units, on PostgreSQL and Valkey that others keep."""

from __future__ import annotations

import http.client
import os
import socket
import sys
import threading
from importlib import import_module
from pathlib import Path

import psutil

from benchmarks.kills import Find, of_database
from benchmarks.units import Service, read_unit
from tests.front import SITE, Front
from tests.waiting import wait_until

LOOK_SECONDS = 0.1


class Deployed:
    """Its processes, each kept alive as its unit says."""

    def __init__(self, folder: Path) -> None:
        data = folder / "var"
        embedded = import_module("config.embedded")
        self.services = embedded.service_urls(
            folder / "services", database_url=None, redis_url=None
        )
        self.listening = socket.create_server(("127.0.0.1", 0), backlog=1024)  # systemd's part
        (folder / "front").mkdir()
        port = self.listening.getsockname()[1]
        self.front = Front(folder / "front", f"127.0.0.1:{port}", data / "releases")
        os.environ |= {
            "LOOKALIKE_DATA": str(data), "DATABASE_URL": self.services.database_url,
            "REDIS_URL": self.services.redis_url, "ALLOWED_HOSTS": SITE, "BEHIND_PROXY": "1",
            "PUBLIC_URL": f"https://{SITE}", "X_ACCEL_PREFIX": "/data/", "TMPDIR": str(folder),
        }  # fmt: skip
        self._start_services = embedded.start_services
        self._are_running = embedded.are_running
        self._is_over = threading.Event()
        self._keeper = threading.Thread(target=self._keep_services)

    def start(self) -> None:
        """Start all of it, and wait until pages come."""
        import_module("django.core.management").call_command("collectstatic", "--no-input", "-v0")
        self.front.check()
        restart = read_unit("nginx.service.d/lookalike.conf")["Service"]["RestartSec"]
        environment, python = dict(os.environ), sys.executable
        self.units = {
            "web": Service.of_unit("lookalike-web", environment, python, self.listening),
            "light": Service.of_unit("lookalike-light", environment, python),
            "device": Service.of_unit("lookalike-device", environment, python),
            "front": Service(self.front.command, environment, restart_after=restart),
        }
        self._keeper.start()
        wait_until(self._answers, pause=0.5)

    def _answers(self) -> bool:
        try:
            return self.front.ask("GET", "/readyz").status == 200
        except OSError:
            return False

    def _keep_services(self) -> None:
        """Start the database and the broker again, as their own units would."""
        while not self._is_over.wait(LOOK_SECONDS):
            if not self._are_running(self.services):
                self._start_services(self.services)

    def connection(self) -> http.client.HTTPConnection:
        """Return a connection that is opened when it is used."""
        return self.front.connection()

    def processes(self) -> dict[str, Find]:
        """Return one process of each kind, found when it is asked for."""

        def main(unit: str) -> Find:
            return lambda: psutil.Process(self.units[unit].process.pid)

        def part(unit: str, word: str = "") -> Find:
            first = main(unit)
            return lambda: next(
                one for one in self.units[unit].processes()
                if one != first() and word in " ".join(one.cmdline())
            )  # fmt: skip

        return {
            "the front's master": main("front"),
            "the front's worker": part("front"),
            "the web process": main("web"),
            "the light worker": main("light"),
            "a child of the light worker": part("light"),
            "the device worker's unit": main("device"),
            "its supervisor": part("device", "supervisord"),
            "the device worker": part("device", "--queues device"),
            **of_database(self.services.data_dir),
        }

    def end(self) -> None:
        """Stop all of it."""
        self._is_over.set()
        self._keeper.join()
        for unit in self.units.values():
            unit.stop()
        self.listening.close()
