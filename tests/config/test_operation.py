"""Probes, metrics, logs and headers: what a site says of itself, to whom, and at what cost."""

from __future__ import annotations

import io
import json
import logging
import logging.config
import os
import subprocess
import sys
import threading
import time
import types
from datetime import datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

import pytest
import redis
from django.core.cache import cache
from django.db import OperationalError
from django.test import Client
from django.utils import timezone
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from accounts.models import Role, User
from config import env
from config.operation.health import Readiness, readiness
from config.operation.reporting import require_packages, start_reporting
from config.running.gate import Gate, Visitors
from config.running.rsgi import Adapter
from config.web import server_on
from jobs import status
from jobs.models import SILENT_AFTER, Job, Worker
from jobs.services import enqueue, run_job
from jobs.status import note_light_worker
from tests.clients import signed_in
from tests.paths import ROOT


@pytest.fixture(autouse=True)
def asked_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("config.operation.health.KEPT_SECONDS", 0.0)


@pytest.fixture
def workers(db: None) -> Worker:
    note_light_worker(0)
    cache.set(status.LIGHT_SEEN, time.time() + 3600)  # however slow this machine is
    later = timezone.now() + timedelta(hours=1)
    return Worker.objects.create(name="w", queue="device-w", device="cpu", seen_at=later)


def test_a_process_that_lives_says_so_without_a_database() -> None:
    reply = Client().get("/livez")  # pytest-django fails a test that touches the database here
    assert (reply.status_code, reply.content) == (200, b"alive\n")
    assert reply["Cache-Control"] == "no-store"


def test_probes_answer_under_any_name_and_never_redirect(workers: Worker, settings) -> None:
    settings.ALLOWED_HOSTS = ["lookalike.example.org"]
    settings.SECURE_SSL_REDIRECT = True
    for path in ("/livez", "/readyz"):
        assert Client().get(path, headers={"Host": "10.0.0.7:8000"}).status_code == 200


def test_a_whole_site_is_ready(workers: Worker) -> None:
    reply = Client().get("/readyz")
    assert reply.status_code == 200
    assert reply.json() == {
        "ready": True,
        "failing": [],
        "parts": {"database": True, "broker": True, "storage": True, "workers": True},
    }


@pytest.mark.parametrize(
    ("part", "error"),
    [
        ("database", OperationalError("password=hunter2 host=db.internal")),
        ("broker", redis.ConnectionError("redis://:hunter2@broker")),
        ("storage", OSError("read-only: /srv/hunter2")),
        ("workers", LookupError("hunter2")),
    ],
)
def test_a_part_that_fails_is_named_and_nothing_else(
    workers: Worker, monkeypatch, part: str, error: Exception
) -> None:
    def fail() -> None:
        raise error

    monkeypatch.setitem(status.CHECKS, part, fail)
    reply = Client().get("/readyz")
    assert reply.status_code == 503
    assert reply.json()["failing"] == [part]
    assert b"hunter2" not in reply.content
    assert Client().get("/readyz", {"exclude": part}).status_code == 200


def test_each_check_finds_its_part_broken(workers: Worker, monkeypatch, settings) -> None:
    settings.DATA_DIR = settings.DATA_DIR / "is not there"
    with pytest.raises(OSError):
        status.check_storage()
    status.check_workers()
    monkeypatch.setattr(status, "LIGHT_SILENT_SECONDS", -9999.0)
    with pytest.raises(LookupError, match="light"):
        status.check_workers()
    monkeypatch.undo()
    Worker.objects.update(seen_at=timezone.now() - SILENT_AFTER)
    with pytest.raises(LookupError, match="device"):
        status.check_workers()
    nowhere = redis.Redis(host="127.0.0.1", port=1)
    monkeypatch.setattr(status, "_broker", lambda: nowhere)
    with pytest.raises(redis.ConnectionError):
        status.check_broker()


def test_asking_a_thousand_times_asks_the_database_once(workers: Worker, monkeypatch) -> None:
    monkeypatch.setattr("config.operation.health.KEPT_SECONDS", 3600.0)
    n_asked = []
    monkeypatch.setattr(status, "CHECKS", {})
    monkeypatch.setattr("config.operation.health.CHECKS", {"database": lambda: n_asked.append(1)})
    fresh = Readiness()
    for _ in range(1000):
        assert fresh.parts() == {"database": True}
    assert len(n_asked) == 1
    assert readiness is not fresh


def test_the_web_server_itself_logs_as_the_site_does() -> None:
    server_on(0, Adapter(lambda environ, start: [], Gate(Visitors())))
    log = logging.getLogger("_granian")
    assert log.propagate
    assert log.handlers == []


def scrape(**headers: str) -> tuple[int, str]:
    reply = Client().get("/metrics", headers=headers)
    return reply.status_code, reply.content.decode()


def test_metrics_are_for_the_token_or_an_admin(db: None, settings) -> None:
    assert scrape()[0] == 404
    assert scrape(Authorization="Bearer ")[0] == 404
    settings.METRICS_TOKEN = "a long token"
    assert scrape()[0] == 404
    assert scrape(Authorization="Bearer a long toke")[0] == 404
    assert scrape(Authorization="Bearer \u00e9".encode().decode("latin-1"))[0] == 404
    assert scrape(Authorization="Bearer a long token")[0] == 200
    for role, code in ((Role.ANNOTATOR, 404), (Role.RESEARCHER, 404), (Role.ADMIN, 200)):
        browser = signed_in(User.objects.create_user(f"m-{role}", role=role))
        assert browser.get("/metrics").status_code == code


def test_metrics_tell_requests_queues_jobs_and_workers(workers: Worker, settings) -> None:
    settings.METRICS_TOKEN = "t"
    Client().get("/releases/")
    Client().get("/no-such-page/")
    Client().generic("BREW", "/releases/")
    Job.objects.create(task="t", subject="s", title="t")
    status.count_lost_leases("job", 3)
    code, text = scrape(Authorization="Bearer t")
    assert code == 200
    assert 'part="releases",status="200"' in text
    assert 'part="none",status="404"' in text
    assert 'method="other"' in text
    assert "such-page" not in text  # nothing that a stranger chooses becomes a label
    assert 'lookalike_jobs{state="queued"} 1.0' in text
    assert 'lookalike_queue_depth{queue="light"}' in text
    assert 'lookalike_workers{kind="device"} 1.0' in text
    assert 'lookalike_workers{kind="light"} 1.0' in text
    for name in ("lookalike_judgements", "lookalike_disk_free_bytes", "lookalike_database_bytes",
                 'lookalike_oldest_job_seconds{state="queued"}',
                 'lookalike_lease_expiries_total{kind="job"}'):  # fmt: skip
        assert name in text


def test_a_line_of_the_json_log_names_request_and_job(db: None, settings, monkeypatch) -> None:
    stream = io.StringIO()
    formatter = logging.config.DictConfigurator({}).configure_formatter(
        dict(settings.LOGGING["formatters"]["json"])
    )
    handler = logging.StreamHandler(stream)
    handler.setFormatter(formatter)
    logger = logging.getLogger("lookalike.test")
    logger.addHandler(handler)
    logger.setLevel("INFO")

    def start() -> list[object]:
        logger.warning("in %s", "a request")
        enqueue(task="t", subject="s", title="t", arguments={}, owner=admin)
        return []

    def work(_progress):
        password = "hunter2"
        try:
            assert password
            raise ValueError("a\nb")
        except ValueError:
            logger.exception("in a job")
        return {}

    monkeypatch.setattr("config.pages.overview.first_steps", start)
    admin = User.objects.create_user("ada", role=Role.ADMIN)
    try:
        request_id = signed_in(admin).get("/overview/")["X-Request-ID"]
        run_job(Job.objects.get().uid, work)
    finally:
        logger.removeHandler(handler)
    first, second = map(json.loads, stream.getvalue().splitlines())
    assert first["event"] == "in a request"
    assert first["level"] == "warning"
    assert first["logger"] == "lookalike.test"
    assert first["request_id"] == second["request_id"] == request_id
    assert second["job"] == str(Job.objects.get().uid)
    assert second["exception"][0]["exc_type"] == "ValueError"
    assert "hunter2" not in stream.getvalue()  # what a variable held is nobody's business


@pytest.mark.parametrize(
    ("variable", "package"),
    [("SENTRY_DSN", "sentry-sdk"), ("OTEL_EXPORTER_OTLP_ENDPOINT", "opentelemetry-sdk")],
)
def test_a_variable_without_its_package_is_refused_by_name(
    monkeypatch, variable: str, package: str
) -> None:
    monkeypatch.setitem(sys.modules, "sentry_sdk", None)
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.resources", None)
    require_packages()  # unset: nothing is imported
    monkeypatch.setenv(variable, "https://key@127.0.0.1/1")
    with pytest.raises(env.EnvError, match=f"{variable} needs packages: pip install {package}"):
        require_packages()


def test_errors_go_to_sentry_without_people(monkeypatch) -> None:
    given: dict[str, object] = {}
    fake = types.SimpleNamespace(init=lambda **options: given.update(options))
    monkeypatch.setitem(sys.modules, "sentry_sdk", fake)
    monkeypatch.setenv("SENTRY_DSN", "https://key@127.0.0.1/1")
    start_reporting()
    assert given["dsn"] == "https://key@127.0.0.1/1"
    assert given["send_default_pii"] is given["include_local_variables"] is False
    assert given["max_request_body_size"] == "never"


ONE_REQUEST = """
from wsgiref.util import setup_testing_defaults
from config.wsgi import application

environ = {"PATH_INFO": "/livez", "HTTP_TRACEPARENT": "00-" + "a" * 32 + "-" + "b" * 16 + "-01"}
setup_testing_defaults(environ)
print(b"".join(application(environ, lambda *_: None)))
"""


class Collector(BaseHTTPRequestHandler):
    """Takes what exporters send by OTLP/HTTP."""

    bodies: ClassVar[dict[str, bytes]] = {}

    def do_POST(self) -> None:
        self.bodies[self.path] = self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def test_a_request_arrives_as_a_span_where_traces_go() -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), Collector) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}"
        environment = os.environ | {"OTEL_EXPORTER_OTLP_ENDPOINT": address}
        done = subprocess.run(
            [sys.executable, "-c", ONE_REQUEST], cwd=ROOT, env=environment,
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        server.shutdown()
    assert done.stdout == "b'alive\\n'\n"
    sent = ExportTraceServiceRequest.FromString(Collector.bodies["/v1/traces"])
    [resource] = sent.resource_spans
    names = {one.key: one.value.string_value for one in resource.resource.attributes}
    assert names["service.name"] == "lookalike"
    [span] = resource.scope_spans[0].spans
    assert (span.trace_id.hex(), span.parent_span_id.hex()) == ("a" * 32, "b" * 16)
    assert any(one.value.string_value.endswith("/livez") for one in span.attributes)


@pytest.mark.parametrize("path", ["/releases/", "/accounts/login/", "/nothing-here/"])
def test_no_page_may_use_camera_microphone_or_place(db: None, path: str) -> None:
    policy = Client().get(path).get("Permissions-Policy", "")
    for feature in ("camera", "microphone", "geolocation", "payment", "usb"):
        assert f"{feature}=()" in policy


def test_strangers_learn_whom_to_tell_what_they_found(db: None, settings) -> None:
    address = "/.well-known/security.txt"
    assert Client().get(address).status_code == 404
    settings.SECURITY_CONTACT = "mailto:security@example.org"
    settings.PUBLIC_URL = "https://lookalike.example.org/"
    reply = Client().get(address)
    assert reply["Content-Type"] == "text/plain; charset=utf-8"
    fields = dict(line.split(": ", 1) for line in reply.content.decode().splitlines())
    assert fields["Contact"] == "mailto:security@example.org"
    assert fields["Canonical"] == f"https://lookalike.example.org{address}"
    expires = datetime.fromisoformat(fields["Expires"])
    assert timedelta(days=30) < expires - timezone.now() < timedelta(days=365)
