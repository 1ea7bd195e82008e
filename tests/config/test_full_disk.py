"""A site on a small disk that fills up: 503 while it is full, nothing lost, back by itself."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.clients import HttpJudge, answer_to
from tests.site import Site
from tests.waiting import wait_until

pytestmark = [pytest.mark.faults]

DISK_MIB, FLOOR_MIB = 480, 64
RECOVERY_SECONDS = 30
NO_ROOM = {
    "ready": False,
    "failing": ["storage"],
    "parts": {"database": True, "broker": True, "storage": False},
}
PREPARE = """
import json
from pathlib import Path
from benchmarks.judging_site.campaigns import prepare
Path({path!r}).write_text(json.dumps(prepare(400, 3)))
"""
COUNT = """
from annotation.models import JudgementEvent
n = JudgementEvent.objects.filter(uuid__in={uuids!r}).count()
assert n == {n}, n
"""


@pytest.fixture(scope="module")
def disk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A small file system of its own."""
    folder = tmp_path_factory.mktemp("disk")
    command = ["mount", "-t", "tmpfs", "-o", f"size={DISK_MIB}m,mode=0755", "none", str(folder)]
    mounted = subprocess.run(command, capture_output=True, text=True, check=False)
    if mounted.returncode:
        pytest.skip(f"a small disk needs the right to mount: {mounted.stderr.strip()}")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


@pytest.fixture(scope="module")
def site(disk: Path) -> Iterator[Site]:
    """A site whose data folder and log lie on the small disk."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LEAST_FREE_MIB", str(FLOOR_MIB))
        site = Site(disk / "var")
        try:
            site.start()
            site.run(PREPARE.format(path=str(disk / "known")))
            yield site
        finally:
            site.end()


class Judge:
    """Answers pair after pair, and remembers which answers were acknowledged."""

    def __init__(self, site: Site, known: dict[str, Any]) -> None:
        self.http = HttpJudge(site.port, known["sessions"][0])
        self.path = f"/judge/{known['campaigns']['everyone']}"
        self.acknowledged: list[str] = []

    def answer(self) -> int:
        """Answer the next pair; return the status, 0 if there was none."""
        try:
            status, reply = self.http.get(f"{self.path}/next?n=1")
            if status != 200:
                return status
            answer = answer_to(reply["questions"][0]["uid"])
            status, _ = self.http.post(f"{self.path}/answers", {"answers": [answer]})
        except OSError:
            return 0
        if status == 200:
            self.acknowledged.append(answer["uuid"])
        return status


@pytest.fixture
def judge(site: Site, disk: Path) -> Iterator[Judge]:
    judge = Judge(site, json.loads((disk / "known").read_text()))
    yield judge
    judge.http.close()


def ready(site: Site) -> tuple[int, dict[str, Any]]:
    """Return what /readyz answers, workers aside."""
    url = f"{site.url}/readyz?exclude=workers"
    try:
        with urllib.request.urlopen(url, timeout=10) as reply:  # noqa: S310  (our own address)
            return reply.status, json.loads(reply.read())
    except urllib.error.HTTPError as problem:
        with problem:
            return problem.code, json.loads(problem.read())
    except OSError:
        return 0, {}


def fill(disk: Path, leave: int = 0) -> Path:
    """Fill the disk but for so many bytes; return the file that does."""
    path = disk / "filler"
    with suppress(OSError), path.open("ab", buffering=0) as file:
        while True:
            free = free_bytes(disk)
            if free <= leave:
                break
            file.write(bytes(min(2**20, free - leave)))
    return path


def free_bytes(disk: Path) -> int:
    return os.statvfs(disk).f_bavail * os.statvfs(disk).f_frsize


def test_sixty_strangers_take_nothing_of_the_disk(site: Site, disk: Path) -> None:
    before = free_bytes(disk)
    connections = []
    for _ in range(60):
        connection = http.client.HTTPConnection("127.0.0.1", site.port, timeout=10)
        connection.putrequest("POST", "/releases/")
        connection.putheader("Content-Length", str(25 * 2**20))
        connection.endheaders()
        with suppress(OSError):
            for _ in range(24):
                connection.send(bytes(2**20))
        connections.append(connection)
    assert free_bytes(disk) > before - 8 * 2**20
    assert ready(site)[0] == 200
    for connection in connections:
        connection.close()


def test_the_site_stops_being_ready_while_it_still_takes_answers(
    site: Site, disk: Path, judge: Judge
) -> None:
    filler = fill(disk, leave=(FLOOR_MIB // 2 - 4) * 2**20)
    try:
        # each of the two web processes looks every two seconds
        wait_until(lambda: ready(site) == (503, NO_ROOM))
        assert judge.answer() == 200
    finally:
        filler.unlink()
    wait_until(lambda: ready(site)[0] == 200)


def test_a_full_disk_answers_503_keeps_answers_and_recovers_alone(
    site: Site, disk: Path, judge: Judge
) -> None:
    for _ in range(20):
        assert judge.answer() == 200
    assert site.process is not None
    web = {process.pid for process in site.processes("config.web")}
    statuses, until = [], time.monotonic() + 10
    filler = fill(disk)
    try:
        while time.monotonic() < until:
            fill(disk)
            statuses.append(judge.answer())
            time.sleep(0.05)
        assert set(statuses) <= {200, 503}
        assert 503 in statuses
        assert ready(site)[0] == 503
        assert site.process.poll() is None
        # others may wait for room beside them, where the supervisor was started again
        assert web <= {process.pid for process in site.processes("config.web")}
    finally:
        filler.unlink()
    freed = time.monotonic()
    wait_until(lambda: judge.answer() == 200)
    wait_until(lambda: ready(site)[0] == 200)
    assert time.monotonic() - freed < RECOVERY_SECONDS
    uuids = judge.acknowledged
    site.run(COUNT.format(uuids=uuids, n=len(uuids)))


def kill(site: Site, word: str) -> None:
    """Kill the processes of one kind (-9)."""
    pid_file = {"postgres": "postgres/postmaster.pid", "valkey": "valkey/pid"}.get(word)
    if pid_file is not None:
        os.kill(int((site.data_dir / pid_file).read_text().split()[0]), signal.SIGKILL)
        return
    for process in site.processes(word):
        process.kill()


@pytest.mark.parametrize(
    "words",
    [["postgres"], ["valkey", "light"], ["config.web"], ["supervisord"]],
    ids=lambda words: words[0],
)
def test_what_dies_on_a_full_disk_comes_back_by_itself(
    site: Site, disk: Path, judge: Judge, words: list[str]
) -> None:
    assert judge.answer() == 200
    filler = fill(disk)
    for word in words:
        kill(site, word)
    time.sleep(6)  # several attempts to start again, while the disk stays full
    freed = time.monotonic()
    filler.unlink()
    wait_until(lambda: judge.answer() == 200)
    wait_until(lambda: ready(site)[0] == 200)
    assert time.monotonic() - freed < RECOVERY_SECONDS
    site.run(COUNT.format(uuids=judge.acknowledged, n=len(judge.acknowledged)))
