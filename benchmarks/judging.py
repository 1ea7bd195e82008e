"""Record an answer and serve the next pair, over HTTP: `python -m benchmarks.judging`.

A campaign of 54,170 pairs x 3 judges, at 1, 8 and 32 judges at once, in both ways of serving,
at the start of the campaign and at its end; in turns with a bare Django view that inserts one
row and returns one row on the same server (config.web, 2 processes x 8 threads) and database.

- `everyone`: a queue of 54,170 pairs for each judge (32, as many as there are clients).
- `k-of-n`: 3 of the 32 judge each pair; pairs are lent one at a time.
- `floor` runs behind the site's own middleware and sign-in, as any page of a site with accounts
  must; `barest` runs past all of it.

At the end each campaign holds three answers to all but its last 4,000 pairs; where everyone
judges everything, they are those of the first three judges, who are near the end of their queues.
Queues and answers come in seconds instead of weeks, so that the database is then tidied and
written out, as autovacuum and the checkpointer do every few minutes: the machine would not be idle
while they do. The multiple of the floor
is the median, over the rounds, of a way's p50 by that of the floor's turn in the same round.
Clients are closed loops over kept-alive connections in one process on the same machine, so that
their own time is in every figure alike. Each process of the server holds as many connections as
the other, as a proxy that chooses the least busy keeps them, and all ways of a round work over
the same: by chance, one holds 7 to 25 of 32, half of all steps are then fast and half are slow,
and the median lies anywhere in the gap between them. “log” is what the database writes into its
log for a step.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import select
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib import import_module
from itertools import count
from pathlib import Path
from typing import Any

import django

from config.web import listening_socket

ROOT = Path(__file__).resolve().parents[1]
N_PAIRS = 54_170
CLIENTS = (1, 8, 32)
N_PROCESSES = 2
TOKEN = "c" * 32


# ---- the server ----
@contextmanager
def server(data: Path) -> Iterator[int]:
    """Serve the site and the bare views; yield the port."""
    listening = listening_socket("127.0.0.1", 0)
    descriptor = listening.fileno()
    environment = {
        **os.environ,
        "LOOKALIKE_DATA": str(data),
        "DJANGO_SETTINGS_MODULE": "benchmarks.judging_site.settings",
        "LOG_LEVEL": "ERROR",
    }
    command = [
        *(sys.executable, "-m", "config.web", "--socket", str(descriptor)),
        *("--application", "benchmarks.judging_site.wsgi:application"),
    ]
    processes = [
        subprocess.Popen(command, cwd=ROOT, env=environment, pass_fds=[descriptor])
        for _ in range(N_PROCESSES)
    ]
    try:
        yield listening.getsockname()[1]  # who comes before they accept waits
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.wait(30)
        listening.close()


# ---- the clients ----
def made_uuid() -> str:
    """Return a UUID as the judging page makes it (static/js/lib/uuid.js): first the time."""
    made = bytearray(int(1000 * time.time()).to_bytes(6, "big") + os.urandom(10))
    made[6], made[8] = made[6] & 0x0F | 0x70, made[8] & 0x3F | 0x80
    return str(uuid.UUID(bytes=bytes(made)))


class Client:
    """One judge's closed loop."""

    def __init__(
        self, port: int, session: str, connection: http.client.HTTPConnection | None = None
    ) -> None:
        self.connection = connection or http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self.headers = {
            "Cookie": f"sessionid={session}; csrftoken={TOKEN}",
            "X-CSRFToken": TOKEN,
            "Content-Type": "application/json",
            "Referer": f"https://{self.connection.host}/",
        }
        self.seconds: list[float] = []

    def ask(self, verb: str, path: str, body: object = None) -> Any:
        if self.connection.sock is not None:
            looks = select.poll()
            looks.register(self.connection.sock, select.POLLIN)
            if looks.poll(0):
                self.connection.close()  # the server hung up meanwhile: browsers connect anew
        self.connection.request(
            verb, path, json.dumps(body).encode() if body else None, self.headers
        )
        reply = self.connection.getresponse()
        content = reply.read()
        assert reply.status == 200, (reply.status, content[:300])
        return json.loads(content)

    def floor(self, path: str) -> Iterator[float]:
        """Step on the bare view; yield the seconds that each step took."""
        for n in count(1):
            started = time.perf_counter()
            self.ask("POST", path, {"question": n, "answer": "similar", "next": n % 1000 + 1})
            yield time.perf_counter() - started

    def judge(self, campaign: str) -> Iterator[float]:
        """Answer a pair and get the next one, in one request; yield the seconds it took."""
        path = f"/judge/{campaign}"
        served = self.ask("GET", f"{path}/next?n=1")["questions"]
        while served:
            [question] = served
            now = datetime.now(UTC).isoformat()
            answer = {
                "uuid": made_uuid(), "question": question["uid"], "answer": "similar",
                "reason": "", "mode": "pair", "device": "keyboard", "guideline_version": 1,
                "shown_at": now, "decided_at": now, "visible_ms": 900, "load_ms": 0,
                "undoes": None,
            }  # fmt: skip
            body = {"answers": [answer], "next": {"after": question["position"], "n": 1}}
            started = time.perf_counter()
            reply = self.ask("POST", f"{path}/answers", body)
            taken = time.perf_counter() - started
            assert reply["results"][0]["status"] == "saved", reply
            served = reply["questions"]
            yield taken

    def work(self, steps: Iterator[float], barrier: threading.Barrier, seconds: float) -> None:
        """Take a step to warm up, wait for the others, then step until the time is over."""
        next(steps)
        barrier.wait()
        until = time.perf_counter() + seconds
        for taken in steps:
            self.seconds.append(taken)
            if time.perf_counter() > until:
                break


def even_connections(port: int, n: int) -> list[http.client.HTTPConnection]:
    """Connect n times, as often to one process as to the other."""
    held: dict[int, list[http.client.HTTPConnection]] = {}
    while sum(map(len, held.values())) < n:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        connection.request("GET", "/process")
        its = held.setdefault(int(connection.getresponse().read()), [])
        if len(its) < -(-n // N_PROCESSES):
            its.append(connection)
        else:
            connection.close()
    return [connection for its in held.values() for connection in its]


def measure(
    clients: list[Client], seconds: float, way: Callable[[Client], Iterator[float]]
) -> list[float]:
    """Let clients work at once; return the milliseconds of every step."""
    for client in clients:
        client.seconds.clear()
    barrier = threading.Barrier(len(clients), timeout=60)
    threads = [
        threading.Thread(target=client.work, args=(way(client), barrier, seconds))
        for client in clients
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for client in clients:
        assert client.seconds, "a client has failed; its traceback is above"
    return [1000 * second for client in clients for second in client.seconds]


def figures(times: list[float], seconds: float) -> dict[str, float]:
    """Return p50, p95 and steps a second."""
    return {
        "p50_ms": round(times[len(times) // 2], 2),
        "p95_ms": round(times[int(len(times) * 0.95)], 2),
        "per_second": round(len(times) / seconds, 1),
        "n": len(times),
    }


def bytes_logged() -> int:
    """Return how much the database has written to its log so far."""
    connection = import_module("django.db").connection
    with connection.cursor() as cursor:
        cursor.execute("select pg_current_wal_insert_lsn() - '0/0'")
        return int(cursor.fetchone()[0])


def rounds(
    port: int, known: dict[str, Any], n: int, options: argparse.Namespace
) -> dict[str, dict[str, float]]:
    """Measure all ways in turns; return the figures over all rounds."""
    ways: dict[str, Callable[[Client], Iterator[float]]] = {
        "barest": lambda client: client.floor("/barest"),
        "floor": lambda client: client.floor("/floor"),
    }
    for slug, uid in known["campaigns"].items():
        ways[slug] = lambda client, uid=uid: client.judge(uid)  # type: ignore[misc]
    times: dict[str, list[float]] = {name: [] for name in ways}
    medians: dict[str, list[float]] = {name: [] for name in ways}
    logged = dict.fromkeys(ways, 0)
    for _ in range(options.rounds):
        connections = even_connections(port, n)
        clients = [
            Client(port, session, connection)
            for session, connection in zip(known["sessions"], connections, strict=False)
        ]
        for name, way in ways.items():
            before = bytes_logged()
            found = measure(clients, options.seconds, way)
            logged[name] += bytes_logged() - before
            times[name] += found
            medians[name].append(statistics.median(found))
        for client in clients:
            client.connection.close()
    return {
        name: figures(sorted(found), options.seconds * options.rounds)
        | {
            "log_kb": round(logged[name] / len(found) / 1024, 1),
            "p50_min": round(min(medians[name]), 2),
            "p50_max": round(max(medians[name]), 2),
            "x_floor": round(
                statistics.median(
                    p50 / floor for p50, floor in zip(medians[name], medians["floor"], strict=True)
                ),
                2,
            ),
        }
        for name, found in times.items()
    }


def show(when: str, n: int, found: dict[str, dict[str, float]]) -> None:
    """Print one row for each way."""
    for name, row in found.items():
        print(
            f"{when:5} {n:3} judges  {name:9} p50 {row['p50_ms']:7.2f} ms "
            f"({row['p50_min']:.2f}-{row['p50_max']:.2f})  p95 {row['p95_ms']:7.2f} ms  "
            f"{row['per_second']:7.1f}/s  log {row['log_kb']:4.1f} KB  "
            f"{row['x_floor']:5.2f} x floor",
            flush=True,
        )


def main() -> int:
    """Prepare, measure at the start, fill up, measure at the end."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=2.0, help="of each way and round")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--pairs", type=int, default=N_PAIRS)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder)
        os.environ["LOOKALIKE_DATA"] = str(data)
        os.environ["DJANGO_SETTINGS_MODULE"] = "benchmarks.judging_site.settings"
        embedded = import_module("config.embedded")  # reads the environment set above
        services = import_module("config.settings").SERVICES
        embedded.hold_services(services)
        try:
            result = _run(data, options)
        finally:
            embedded.stop_services(services)  # while their folder is still there
    if options.json:
        options.json.write_text(json.dumps(result, indent=1) + "\n")
    return 0


def _run(data: Path, options: argparse.Namespace) -> dict[str, Any]:
    (data / "static").mkdir(parents=True)
    django.setup()
    campaigns = import_module("benchmarks.judging_site.campaigns")
    started = time.perf_counter()
    known = campaigns.prepare(options.pairs)
    print(f"prepared in {time.perf_counter() - started:.0f} s", flush=True)
    result: dict[str, Any] = {}
    with server(data) as port:
        for when in ("start", "end"):
            if when == "end":
                started = time.perf_counter()
                campaigns.fill_up()
                print(f"filled up in {time.perf_counter() - started:.0f} s", flush=True)
            for n in CLIENTS:
                found = rounds(port, known, n, options)
                show(when, n, found)
                result[f"{when}-{n}"] = found
    result["differences"] = campaigns.differences()
    print(f"counters that differ from a recount: {result['differences']}", flush=True)
    return result


if __name__ == "__main__":
    sys.exit(main())
