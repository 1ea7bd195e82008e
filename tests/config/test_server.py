"""script/server: one supervisor for all processes, which come back when they are killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from config import settings
from config.running import when_prepared
from tests.made_tables import copy_tables
from tests.site import Site
from tests.waiting import wait_until

pytestmark = [pytest.mark.faults]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    site = Site(tmp_path_factory.mktemp("site") / "var", is_new=True)
    site.start()
    yield site
    site.end()


def database_processes(site: Site) -> list[psutil.Process]:
    """The embedded PostgreSQL, and what it has started for each connection."""
    pid_file = site.data_dir / "postgres" / "postmaster.pid"
    postmaster = psutil.Process(int(pid_file.read_text().split()[0]))
    connections = [child for child in postmaster.children() if "[local]" in child.cmdline()[0]]
    return [postmaster, *connections]


class Visitors:
    """Ten requests a second, each of which asks the database."""

    def __init__(self, site: Site) -> None:
        self.url = f"{site.url}/releases/"
        self.answers: list[str] = []

    def come(self, n: int) -> None:
        """Ask n times, and wait for the answers."""
        visits = [threading.Thread(target=self._ask) for _ in range(n)]
        for visit in visits:
            visit.start()
            time.sleep(0.1)
        for visit in visits:
            visit.join()

    def _ask(self) -> None:
        request = urllib.request.Request(self.url, headers={"Cookie": f"sessionid={'a' * 32}"})  # noqa: S310  (our own address)
        try:
            with urllib.request.urlopen(request, timeout=60) as reply:  # noqa: S310
                self.answers.append(str(reply.status))
        except (urllib.error.URLError, ConnectionError, TimeoutError) as problem:
            self.answers.append(repr(problem))


def test_whichever_process_is_killed_requests_are_answered(site: Site) -> None:
    assert f"{site.url}/first-admin/" in site.log(), "an empty site offers its first admin a link"
    visitors = Visitors(site)
    visitors.come(10)
    for find in (
        lambda: database_processes(site)[0],
        lambda: database_processes(site)[1],
        lambda: site.processes("config.web")[0],
        lambda: site.processes("supervisord")[0],
    ):
        coming = threading.Thread(target=visitors.come, args=[30])
        coming.start()
        time.sleep(1)
        find().kill()
        coming.join()
        wait_until(lambda: len(site.processes("config.web")) == 2)
    failed = [answer for answer in visitors.answers if answer != "200"]
    assert len(failed) <= len(visitors.answers) // 100, failed


def test_killed_processes_come_back_the_next_start_recovers_and_ctrl_c_stops_all(
    site: Site,
) -> None:
    words = ("config.web", "--queues light", "--queues device")
    wait_until(lambda: all(site.processes(word) for word in words))
    killed = [process for word in words for process in site.processes(word)]
    for process in killed:  # with what it forks meanwhile, which is in its group
        with suppress(ProcessLookupError):
            os.killpg(os.getpgid(process.pid), signal.SIGKILL)
    gone = {process.pid for process in killed}
    wait_until(lambda: all({one.pid for one in site.processes(word)} - gone for word in words))
    wait_until(site.answers)

    assert site.process is not None
    site.process.kill()
    site.process.wait()
    for supervisor in site.processes("supervisord"):
        supervisor.kill()
    database_processes(site)[0].kill()
    site.start()
    assert site.answers()
    assert site.interrupt() == 0
    assert site.processes() == []
    assert not (site.data_dir / "postgres" / "postmaster.pid").exists(), site.log()


def begin(data_dir: Path) -> Site:
    """Start a server with tables of its own, and do not wait for it."""
    site = Site(data_dir)
    copy_tables(data_dir)
    with (data_dir.parent / "site.log").open("wb") as log:
        site.process = subprocess.Popen(
            [sys.executable, "-m", "config.server", "--port", str(site.port)],
            cwd=settings.BASE_DIR, stdout=log, stderr=log,
            env={**os.environ, "LOOKALIKE_DATA": str(data_dir)},
        )  # fmt: skip
    return site


def test_a_server_that_is_stopped_while_it_prepares_leaves_nothing(tmp_path: Path) -> None:
    site = begin(tmp_path / "var")
    assert site.process is not None
    wait_until(lambda: bool(site.processes("config.web")))
    assert not (site.data_dir / "run" / "prepared").exists()
    site.process.send_signal(signal.SIGTERM)
    assert site.process.wait(timeout=30) == 0
    assert site.processes() == []
    assert not (site.data_dir / "postgres" / "postmaster.pid").exists()


def test_a_site_that_cannot_be_prepared_answers_nobody_and_says_why(tmp_path: Path) -> None:
    """A file stands where a folder of static files belongs."""
    (tmp_path / "var" / "static").mkdir(parents=True)
    (tmp_path / "var" / "static" / "css").write_text("no folder")
    site = begin(tmp_path / "var")
    assert site.process is not None
    assert site.process.wait(timeout=60) == 1
    assert "The site could not be prepared: see above." in site.log()
    assert "Lookalike is at" not in site.log()
    assert not site.answers()
    assert site.processes() == []


def test_what_waits_for_a_prepared_site_goes_on_once_it_is(tmp_path: Path) -> None:
    told_by = tmp_path / "prepared"
    waiting = [sys.executable, "-P", str(Path(when_prepared.__file__))]
    program = [*waiting, str(tmp_path), sys.executable, "-c", "pass"]
    waits = subprocess.Popen(program, env={**os.environ, when_prepared.PREPARED: str(told_by)})
    with pytest.raises(subprocess.TimeoutExpired):
        waits.wait(2 * when_prepared.WEB_FIRST_SECONDS)
    told_by.touch()
    assert waits.wait(timeout=20) == 0


def test_workers_share_what_they_have_loaded() -> None:
    """The first collection of garbage would copy all that processes have in common."""
    program = "import config.celery, celery.signals as s, gc; s.celeryd_after_setup.send(None); "
    program += "print(gc.get_freeze_count())"
    frozen = subprocess.check_output([sys.executable, "-c", program], cwd=settings.BASE_DIR)
    assert int(frozen) > 10_000
