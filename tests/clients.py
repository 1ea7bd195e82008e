"""What judges, people and programs send to the site, without a browser."""

from __future__ import annotations

import http.client
import json
import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore
from django.test import Client
from django.urls import reverse

from accounts.models import User
from annotation.models import Campaign
from annotation.question_names import open_question

PASSWORD = "a quiet green meadow"
START = datetime(2026, 1, 1, tzinfo=UTC)
TOKEN = "c" * 32
API = "/api/v1"


def signed_in(person: User) -> Client:
    """A browser in which somebody has signed in."""
    client = Client()
    client.force_login(person, backend="django.contrib.auth.backends.ModelBackend")
    return client


def answer_to(
    question: str, what: str = "similar", *, at: float = 0, **changes: Any
) -> dict[str, Any]:
    """An answer so many seconds after START, as the judging page sends it."""
    moment = (START + timedelta(seconds=at)).isoformat()
    return {
        "uuid": str(uuid.uuid4()),
        "question": str(question),
        "answer": what,
        "reason": "bad_image" if what == "skip" else "",
        "mode": "pair",
        "device": "keyboard",
        "guideline_version": 1,
        "shown_at": moment,
        "decided_at": moment,
        "visible_ms": 900,
        "load_ms": 5,
        "undoes": None,
    } | changes


def uid_of(campaign: Campaign, name: str) -> str:
    """The uid of a question, by the name that one of a campaign's judges has for it."""
    people = campaign.panel.values_list("annotator_id", flat=True)
    [uid] = filter(None, (open_question(person, name) for person in people))
    return str(uid)


class Browser:
    """One signed-in judge at one campaign."""

    def __init__(self, campaign: Campaign, person: User) -> None:
        self.campaign = campaign
        self.person = person
        self.client = Client()
        self.client.force_login(person)

    def url(self, name: str) -> str:
        return reverse(f"annotation:{name}", args=[self.campaign.uid])

    def next(self, n: int = 24, after: int = 0) -> list[dict[str, Any]]:
        return list(self.get("next", n=n, after=after)["questions"])

    def walk(self, what: str = "similar") -> list[dict[str, Any]]:
        """Answer everything alike, as it is served; return the questions in their order."""
        served: list[dict[str, Any]] = []
        while ahead := self.next(20):
            served += ahead
            self.send(*(answer_to(question["uid"], what) for question in ahead))
        return served

    def get(self, name: str, **query: Any) -> dict[str, Any]:
        reply = self.client.get(self.url(name), query)
        assert reply.status_code == 200, reply.content
        return dict(reply.json())

    def send(self, *answers: dict[str, Any], **more: Any) -> tuple[int, dict[str, Any]]:
        reply = self.client.post(
            self.url("answers"),
            json.dumps({"answers": list(answers), **more}),
            content_type="application/json",
        )
        is_json = reply["Content-Type"] == "application/json"
        return reply.status_code, reply.json() if is_json else {}

    def judge(self, what: str = "similar", n: int = 1) -> list[str]:
        """Answer the next n questions alike; return their uids."""
        questions = self.next(n)
        if questions:
            status, reply = self.send(*(answer_to(one["uid"], what) for one in questions))
            assert status == 200, reply
        return self.uids(questions)

    def uids(self, questions: Iterable[dict[str, Any]]) -> list[str]:
        """The uids of questions as this judge was asked them."""
        return [str(open_question(self.person.pk, question["uid"])) for question in questions]


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


@dataclass
class Caller:
    """Asks the API for a person."""

    person: User
    token: str

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}

    def get(self, path: str, status: int = 200, **query: Any) -> Any:
        reply = Client().get(f"{API}{path}", query, headers=self.headers)
        assert reply.status_code == status, (path, reply.status_code, reply.content[:500])
        return reply.json()

    def post(self, path: str, data: dict[str, object], status: int) -> Any:
        reply = Client().post(f"{API}{path}", data, headers=self.headers)
        assert reply.status_code == status, (path, reply.status_code, reply.content[:500])
        return reply.json()
