"""script/server: one supervisor for all processes, which come back when they are killed."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import suppress

import pytest

from tests.site import Site
from tests.waiting import wait_until

pytestmark = [pytest.mark.faults]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    site = Site(tmp_path_factory.mktemp("site") / "var")
    yield site
    site.end()


def test_killed_processes_come_back_and_ctrl_c_stops_all(site: Site) -> None:
    site.start()
    assert f"{site.url}/first-admin/" in site.log(), "an empty site offers its first admin a link"
    for word in ("config.web", "--queues light", "--queues device"):
        wait_until(lambda word=word: bool(site.processes(word)))  # type: ignore[misc]
        killed = site.processes(word)
        for process in killed:  # with what it forks meanwhile, which is in its group
            with suppress(ProcessLookupError):
                os.killpg(os.getpgid(process.pid), signal.SIGKILL)
        gone = {process.pid for process in killed}
        wait_until(
            lambda word=word, gone=gone: any(  # type: ignore[misc]
                process.pid not in gone for process in site.processes(word)
            )
        )
    wait_until(site.answers)
    assert site.interrupt() == 0
    assert site.processes() == []
    assert not (site.data_dir / "postgres" / "postmaster.pid").exists(), site.log()


def test_after_killing_the_supervisors_the_next_start_recovers(site: Site) -> None:
    site.start()
    assert site.process is not None
    site.process.kill()
    site.process.wait()
    for supervisor in site.processes("supervisord"):
        supervisor.kill()
    postmaster = site.data_dir / "postgres" / "postmaster.pid"
    os.kill(int(postmaster.read_text().splitlines()[0]), signal.SIGKILL)
    site.start()
    assert site.answers()
    assert site.interrupt() == 0
    assert site.processes() == []
