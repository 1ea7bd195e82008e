"""The web server alone, to be killed and started again."""

from __future__ import annotations

import os
import subprocess
import sys
from urllib.parse import quote

from django.conf import settings
from django.db import connection

from config.web import listening_socket
from tests.clients import HttpJudge
from tests.waiting import wait_until


class WebServer:
    """Two web processes on one socket, as script/server runs them, on the test database."""

    def __init__(self, application: str = "config.wsgi:application") -> None:
        self.application = application
        self.socket = listening_socket("127.0.0.1", 0)
        self.port: int = self.socket.getsockname()[1]
        self.processes: list[subprocess.Popen[bytes]] = []

    def start(self) -> None:
        """Start it and wait until it answers."""
        for _ in range(2):
            self.start_process()
        wait_until(self.answers_or_ended)
        assert all(process.poll() is None for process in self.processes), "it has ended"

    def start_process(self) -> None:
        """Start one of its processes."""
        database = connection.settings_dict
        url = f"postgresql://postgres@/{database['NAME']}?host={quote(str(database['HOST']))}"
        descriptor = self.socket.fileno()
        process = subprocess.Popen(
            [
                *(sys.executable, "-m", "config.web", "--socket", str(descriptor)),
                *("--application", self.application),
            ],
            cwd=settings.BASE_DIR,
            env={**os.environ, "DATABASE_URL": url, "LOG_LEVEL": "ERROR"},
            pass_fds=[descriptor],
        )
        self.processes.append(process)

    def answers_or_ended(self) -> bool:
        """Whether a page comes, or none will."""
        return self.answers() or any(process.poll() is not None for process in self.processes)

    def answers(self) -> bool:
        """Whether a page comes."""
        visitor = HttpJudge(self.port, None)
        try:
            return visitor.get("/accounts/login/")[0] == 200
        except OSError:
            return False
        finally:
            visitor.close()

    def kill(self) -> None:
        """End all its processes at once, in whatever they are doing; the socket stays."""
        for process in self.processes:
            process.kill()
        for process in self.processes:
            process.wait()
        self.processes.clear()

    def close(self) -> None:
        """Kill it and let go of the socket."""
        self.kill()
        self.socket.close()
