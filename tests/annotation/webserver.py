"""The site's web server alone, on the test database, to be killed and started again."""

from __future__ import annotations

import http.client
import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from urllib.parse import quote

from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore
from django.db import connection

from accounts.models import User

TOKEN = "c" * 32


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
        deadline = time.monotonic() + 60
        while not self.answers():
            assert time.monotonic() < deadline, "the web server does not answer"
            assert self.process.poll() is None, "the web server has ended"
            time.sleep(0.1)

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


class HttpJudge:
    """One signed-in judge's connection, over real HTTP; any failure is an OSError."""

    def __init__(self, port: int, session: str | None) -> None:
        self.port = port
        cookies = f"csrftoken={TOKEN}"
        if session:
            cookies += f"; {settings.SESSION_COOKIE_NAME}={session}"
        self.headers = {"Cookie": cookies, "X-CSRFToken": TOKEN}
        self.connection: http.client.HTTPConnection | None = None

    def get(self, path: str) -> tuple[int, Any]:
        """Return the status and, for JSON, the body."""
        return self._ask("GET", path, None)

    def post(self, path: str, body: object) -> tuple[int, Any]:
        """Send JSON; return the status and, for JSON, the body."""
        return self._ask("POST", path, json.dumps(body).encode())

    def post_and_hang_up(self, path: str, body: object) -> None:
        """Send JSON and do not wait for the reply, as a lost connection does."""
        self._send("POST", path, json.dumps(body).encode())
        self.close()

    def close(self) -> None:
        """Hang up."""
        if self.connection is not None:
            self.connection.close()
        self.connection = None

    def _send(self, verb: str, path: str, body: bytes | None) -> http.client.HTTPConnection:
        if self.connection is None:
            self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        headers = {**self.headers, "Content-Type": "application/json"} if body else self.headers
        self.connection.request(verb, path, body=body, headers=headers)
        return self.connection

    def _ask(self, verb: str, path: str, body: bytes | None) -> tuple[int, Any]:
        try:
            reply = self._send(verb, path, body).getresponse()
            content = reply.read()
        except (http.client.HTTPException, OSError) as problem:
            self.close()
            raise OSError(str(problem)) from problem
        is_json = reply.headers.get_content_type() == "application/json"
        return reply.status, json.loads(content) if is_json else None


def session_of(person: User) -> str:
    """Sign somebody in; return the session's key."""
    session = SessionStore()
    session[SESSION_KEY] = str(person.pk)
    session[BACKEND_SESSION_KEY] = "django.contrib.auth.backends.ModelBackend"
    session[HASH_SESSION_KEY] = person.get_session_auth_hash()
    session.create()
    return str(session.session_key)
