"""The site's web server alone, on the test database, to be killed and started again."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path
from urllib.parse import quote

from django.conf import settings
from django.db import connection

from tests.clients import HttpJudge
from tests.waiting import wait_until


class WebServer:
    """granian with two workers, as script/server runs it."""

    def __init__(self) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port: int = probe.getsockname()[1]
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it and wait until it answers."""
        database = connection.settings_dict
        url = f"postgresql://postgres@/{database['NAME']}?host={quote(str(database['HOST']))}"
        self.process = subprocess.Popen(
            [
                str(Path(sys.executable).parent / "granian"),
                *("--interface", "wsgi", "--host", "127.0.0.1", "--port", str(self.port)),
                *("--workers", "2", "--blocking-threads", "8", "--backpressure", "64"),
                *("--no-ws", "--log-level", "warning", "config.wsgi:application"),
            ],
            cwd=settings.BASE_DIR,
            env={**os.environ, "DATABASE_URL": url, "LOG_LEVEL": "ERROR"},
            start_new_session=True,
        )
        wait_until(self.answers_or_ended)
        assert self.process.poll() is None, "the web server has ended"

    def answers_or_ended(self) -> bool:
        """Whether a page comes, or none will."""
        return self.process is None or self.process.poll() is not None or self.answers()

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
        """End all its processes at once, in whatever they are doing."""
        if self.process is not None:
            os.killpg(self.process.pid, 9)
            self.process.wait()
            self.process = None
