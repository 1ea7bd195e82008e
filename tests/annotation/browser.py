"""What a judge's browser sends, without a browser."""

from __future__ import annotations

import json
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

from django.test import Client
from django.urls import reverse

from accounts.models import User
from annotation.models import Campaign

START = datetime(2026, 1, 1, tzinfo=UTC)


def answer_to(
    question: str, what: str = "similar", *, at: float = 0, **changes: Any
) -> dict[str, Any]:
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
        uids = [question["uid"] for question in self.next(n)]
        if uids:
            status, reply = self.send(*(answer_to(uid, what) for uid in uids))
            assert status == 200, reply
        return uids
