"""Notices come once, leave the site signed, and no endpoint holds anything up or leads inside."""

from __future__ import annotations

import hashlib
import hmac
import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.handlers import Message
from django.core import mail
from django.urls import reverse
from django.utils import timezone

from accounts.models import Role, User
from jobs.models import Job, JobState
from lookalike.core.errors import Refused
from notices import webhook
from notices.models import MAX_ATTEMPTS, Channel, Delivery, Notice
from notices.services import add_webhook, choose_mail, due_channels, look, send_waiting
from tests.clients import signed_in
from tests.ports import free_port

pytestmark = pytest.mark.django_db
NOW = timezone.now()
PRIVATE = [
    "https://127.0.0.1/", "https://[::1]/", "https://10.1.2.3/", "https://169.254.169.254/latest",
    "https://[::ffff:192.168.0.1]/", "https://[64:ff9b::a00:1]/", "https://[2002:a00:1::]/",
    "https://[64:ff9b:1::a00:1]/", "https://[::10.0.0.1]/", "https://[::ffff:0:10.0.0.1]/",
    "https://[fec0::1]/", "https://192.0.0.8/",
    "https://0.0.0.0/", "https://224.0.0.1/", "https://100.64.0.1/",
]  # fmt: skip


class Endpoint:
    """A server that notes what it gets and answers as told."""

    def __init__(self) -> None:
        self.bodies: list[tuple[dict[str, str], bytes]] = []
        self.status = 204
        self.trickles = False
        self.is_over = threading.Event()
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                endpoint.bodies.append((dict(self.headers), body))
                if endpoint.trickles:
                    endpoint.trickle(self.wfile)
                    return
                self.send_response(endpoint.status)
                self.send_header("Location", f"{endpoint.url}elsewhere")
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def trickle(self, answer: Any) -> None:
        """Answer a byte at a time, for as long as somebody listens."""
        try:
            answer.write(b"HTTP/1.1 2")
            while not self.is_over.wait(0.1):
                answer.write(b"0")
        except OSError:
            return

    def close(self) -> None:
        self.is_over.set()
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def endpoint(settings: Any) -> Iterator[Endpoint]:
    settings.WEBHOOK_HOSTS = ["127.0.0.1"]
    made = Endpoint()
    yield made
    made.close()


@pytest.fixture
def ada() -> User:
    return User.objects.create_user("ada", role=Role.ADMIN, email="ada@example.org")


def fail_a_job(subject: str = "s") -> None:
    Job.objects.create(task="t", subject=subject, title=f"Import <{subject}>\n",
                       state=JobState.FAILED, error="Full disk", finished_at=NOW)  # fmt: skip


def test_a_matter_is_noticed_once_until_it_comes_again(ada: User) -> None:
    choose_mail(person=ada, choice="urgent")
    for role in (Role.RESEARCHER, Role.ADMIN):
        left = User.objects.create_user(f"x-{role}", role=Role.ADMIN, email=f"{role}@example.org")
        choose_mail(person=left, choice="all")
        User.objects.filter(pk=left.pk).update(role=role, is_active=role == Role.RESEARCHER)
    fail_a_job()
    assert look() == 1
    assert look() == 0
    for channel_id in due_channels():
        send_waiting(channel_id=channel_id)
        send_waiting(channel_id=channel_id)
    [message] = mail.outbox
    assert (message.to, message.subject) == (["ada@example.org"], "Lookalike: Failed: Import <s>")
    Job.objects.update(is_dismissed=True)
    assert look() == 0
    assert Notice.objects.get().ended_at is not None
    Job.objects.update(is_dismissed=False)
    assert look() == 1


def test_each_of_many_failed_jobs_has_one_notice_and_the_overview_counts_the_rest(
    ada: User,
) -> None:
    for number in range(7):
        fail_a_job(f"s{number}")
        assert look() == 1
    assert not Notice.objects.exclude(ended_at=None).exists()
    lines = signed_in(ada).get(reverse("overview")).context["attention"]
    assert [line.title for line in lines if line.kind == "Failed"][5:] == ["2 more"]


def test_a_webhook_is_signed_and_is_led_nowhere_else(endpoint: Endpoint, ada: User) -> None:
    channel = add_webhook(url=endpoint.url, only_urgent=False, by=ada)
    with pytest.raises(Refused, match="already"):
        add_webhook(url=endpoint.url, only_urgent=False, by=ada)
    fail_a_job()
    look()
    assert send_waiting(channel_id=channel.pk) == 1
    headers, body = endpoint.bodies[0]
    at, _, given = headers["Lookalike-Signature"].partition(",v1=")
    text = at.removeprefix("t=").encode() + b"." + body
    assert hmac.new(channel.secret.encode(), text, hashlib.sha256).hexdigest() == given
    assert json.loads(body)["url"].endswith(reverse("jobs:job", args=[Job.objects.get().uid]))
    endpoint.status = 302
    fail_a_job("other")
    look()
    assert send_waiting(channel_id=channel.pk) == 0
    assert len(endpoint.bodies) == 2, "the redirect was not followed"
    assert Delivery.objects.get(sent_at=None).outcome == "It answered 302."


def test_an_endpoint_that_never_ends_its_answer_is_cut_and_left_alone_for_longer_each_time(
    endpoint: Endpoint, ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(webhook, "SECONDS", 0.5)
    slow = add_webhook(url=endpoint.url, only_urgent=False, by=ada)
    choose_mail(person=ada, choice="all")
    endpoint.trickles = True
    fail_a_job()
    look()
    pauses = []
    for attempt in range(1, MAX_ATTEMPTS + 1):
        started = time.monotonic()
        assert send_waiting(channel_id=slow.pk) == 0
        assert time.monotonic() - started < 30, "an answer of a byte at a time never ends"
        slow.refresh_from_db()
        pauses.append((slow.next_at - timezone.now()).total_seconds())
        if attempt < MAX_ATTEMPTS:
            assert send_waiting(channel_id=slow.pk) == 0, "not before the pause is over"
        assert len(endpoint.bodies) == attempt
        Channel.objects.filter(pk=slow.pk).update(next_at=timezone.now())
    assert pauses[:-1] == sorted(pauses[:-1])
    assert pauses[-2] > 8 * 3600
    assert Delivery.objects.get(channel=slow).is_given_up
    [mine] = due_channels()
    assert send_waiting(channel_id=mine) == 1
    fail_a_job("later")
    look()
    endpoint.trickles = False
    assert send_waiting(channel_id=slow.pk) == 1


class Postmaster(Message):
    """A mail server's part that knows nobody, until it is told otherwise."""

    def __init__(self) -> None:
        super().__init__()
        self.knows_all = False
        self.taken: list[Any] = []

    async def handle_RCPT(
        self, server: Any, session: Any, envelope: Any, address: str, options: Any
    ) -> str:
        if not self.knows_all:
            return "550 5.1.1 no such mailbox"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    def handle_message(self, message: Any) -> None:
        self.taken.append(message)


def test_a_mail_that_bounces_is_named_and_comes_once_when_it_is_taken(
    ada: User, settings: Any
) -> None:
    post = Postmaster()
    server = Controller(post, hostname="127.0.0.1", port=free_port())
    server.start()
    try:
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.EMAIL_HOST = "127.0.0.1"
        settings.EMAIL_PORT = server.port
        choose_mail(person=ada, choice="all")
        fail_a_job()
        look()
        [mine] = due_channels()
        assert send_waiting(channel_id=mine) == 0
        bounced = Delivery.objects.get()
        assert (bounced.n_attempts, bounced.sent_at) == (1, None)
        assert "no such mailbox" in bounced.outcome
        assert "no such mailbox" in signed_in(ada).get("/notices/").content.decode()
        assert due_channels() == [], "it is left alone for a while"
        Channel.objects.update(next_at=timezone.now())
        post.knows_all = True
        assert send_waiting(channel_id=mine) == 1
        assert send_waiting(channel_id=mine) == 0
    finally:
        server.stop()
    [message] = post.taken
    assert message["To"] == "ada@example.org"


def test_no_address_inside_is_taken(ada: User) -> None:
    browser = signed_in(ada)
    odd = ["http://example.org/", "https://ada:pw@example.org/", "https://", "file:///etc/passwd",
           "https://example.org/\r\nX: y", "https://example.org:99999/",
           "https://example.org/" + "x" * 500]  # fmt: skip
    for url in [*PRIVATE, *odd]:
        page = browser.post(reverse("notices:add_webhook"), {"url": url})
        assert page.context["form"].errors["url"], url
    assert not Channel.objects.exists()


def test_a_name_that_leads_inside_is_found_out_when_it_is_used() -> None:
    with pytest.raises(webhook.WebhookError, match="not on the public internet"):
        webhook.post("https://localhost/", b"{}", secret="s", headers={})


def test_the_page_is_for_admins_and_shows_a_secret_once(ada: User, endpoint: Endpoint) -> None:
    browser = signed_in(ada)
    fail_a_job()
    look()
    assert "1 new" in browser.get(reverse("overview")).content.decode()
    browser.post(reverse("notices:add_webhook"), {"url": endpoint.url})
    secret = Channel.objects.get().secret
    text = browser.get(reverse("notices:notices")).content.decode()
    assert secret in text
    assert "Import &lt;s&gt;" in text
    assert secret not in browser.get(reverse("notices:notices")).content.decode()
    assert "1 new" not in browser.get(reverse("overview")).content.decode()
    for role in (Role.RESEARCHER, Role.ANNOTATOR):
        reader = signed_in(User.objects.create_user(role, role=role))
        assert reader.get(reverse("notices:notices")).status_code == 403
        assert reader.post(reverse("notices:add_webhook"), {"url": endpoint.url}).status_code == 403
