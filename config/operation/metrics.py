"""`/metrics` for Prometheus: requests by this machine's web processes, and the site's state.

Every web process writes its counters into files that all of them read, so whichever is asked
answers for all of its machine. What the database and the broker know is asked at each scrape.
"""

from __future__ import annotations

import os
import secrets
import socket
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from django.conf import settings
from django.db.models import Sum
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.views.decorators.http import require_safe

from accounts.models import User
from annotation.models import PanelMember
from jobs.models import Worker
from jobs.status import lost_leases, site_status

# read when prometheus_client is imported
FOLDER = settings.DATA_DIR / "run" / "metrics" / socket.gethostname()
FOLDER.mkdir(parents=True, exist_ok=True)
os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(FOLDER)

from prometheus_client import CollectorRegistry, Histogram, generate_latest  # noqa: E402
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily  # noqa: E402
from prometheus_client.multiprocess import MultiProcessCollector  # noqa: E402

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric

Handler = Callable[[HttpRequest], HttpResponseBase]
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
FILE_BYTES = 2**20  # as prometheus_client begins a file
METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
LATENCY = Histogram(
    "lookalike_request_seconds",
    "Time until an answer began, by the part of the site.",
    ["part", "method", "status"],
    buckets=(0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30),
    registry=None,
)


def reserve_file() -> None:
    """Occupy the disk space of this process's counters.

    They are mapped into memory. Without the space, a full disk would end the process (SIGBUS).

    Raises:
        OSError: The disk is full.
    """
    if hasattr(os, "posix_fallocate"):
        with (FOLDER / f"histogram_{os.getpid()}.db").open("ab") as file:
            os.posix_fallocate(file.fileno(), 0, FILE_BYTES)


def measured(get_response: Handler) -> Handler:
    """Measure each request."""
    reserve_file()

    def respond(request: HttpRequest) -> HttpResponseBase:
        began = time.perf_counter()
        response = get_response(request)
        method = request.method if request.method in METHODS else "other"
        LATENCY.labels(_part(request), method, response.status_code).observe(
            time.perf_counter() - began
        )
        return response

    return respond


def _part(request: HttpRequest) -> str:
    """Return the app that answered; never anything that a stranger chooses."""
    if request.path_info.startswith("/judge/"):
        return "judging"
    match = request.resolver_match
    return (match.namespaces[0] if match.namespaces else "site") if match else "none"


class SiteCollector:
    """What the database, the broker and the disk tell at each scrape."""

    def collect(self) -> Iterator[Metric]:
        """Yield the site's state."""
        status = site_status()
        done = PanelMember.objects.aggregate(n=Sum("n_done"))["n"] or 0
        yield GaugeMetricFamily("lookalike_judgements", "Answers that stand.", done)
        queues = GaugeMetricFamily("lookalike_queue_depth", "Messages waiting.", labels=["queue"])
        for name, depth in status.queues.items():
            queues.add_metric([name], depth)
        yield queues
        jobs = GaugeMetricFamily("lookalike_jobs", "Open jobs.", labels=["state"])
        ages = GaugeMetricFamily(
            "lookalike_oldest_job_seconds", "Age of the oldest open job.", labels=["state"]
        )
        for state, found in status.jobs.items():
            jobs.add_metric([state], found.n)
            ages.add_metric([state], found.seconds)
        yield jobs
        yield ages
        leases = CounterMetricFamily(
            "lookalike_lease_expiries", "Leases that ran out.", labels=["kind"]
        )
        for kind in ("job", "pair"):
            leases.add_metric([kind], lost_leases(kind))
        yield leases
        workers = GaugeMetricFamily("lookalike_workers", "Living workers.", labels=["kind"])
        workers.add_metric(["light"], int(status.is_light_alive))
        workers.add_metric(["device"], sum(worker.is_alive for worker in Worker.objects.all()))
        yield workers
        yield GaugeMetricFamily("lookalike_disk_free_bytes", "Data folder.", status.disk_free)
        yield GaugeMetricFamily("lookalike_disk_bytes", "Data folder.", status.disk_total)
        yield GaugeMetricFamily("lookalike_database_bytes", "Database.", status.database_bytes)


@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Answer a scrape that shows METRICS_TOKEN, or a signed-in admin; nobody else learns of it."""
    if not (_shows_token(request) or _is_admin(request)):
        raise Http404
    registry = CollectorRegistry()
    MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    registry.register(SiteCollector())
    return HttpResponse(generate_latest(registry), content_type=CONTENT_TYPE)


def _shows_token(request: HttpRequest) -> bool:
    given = request.headers.get("Authorization", "").removeprefix("Bearer ")
    wanted = settings.METRICS_TOKEN
    return bool(wanted) and secrets.compare_digest(given.encode(), wanted.encode())


def _is_admin(request: HttpRequest) -> bool:
    return isinstance(request.user, User) and request.user.is_active and request.user.is_admin
