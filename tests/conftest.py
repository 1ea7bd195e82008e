"""Each process of a test run has a data folder of its own, and with it its own services.

The first process of a checkout uses var/test-0, one beside it var/test-1, and so on.
"""

from __future__ import annotations

import fcntl
import gc
import os
from pathlib import Path

import hypothesis
import pytest

from tests.paths import ROOT, shared


def _free_data_folder() -> Path:
    for number in range(50):
        folder = ROOT / "var" / f"test-{number}"
        (folder / "static").mkdir(parents=True, exist_ok=True)  # whitenoise warns where none is
        lock = os.open(folder / "tests.lock", os.O_CREAT | os.O_WRONLY)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # until this process ends
        except BlockingIOError:
            os.close(lock)
        else:
            return folder
    raise RuntimeError("fifty test runs at once in one checkout")


DATA = _free_data_folder()
gc.disable()  # while tests are collected; hardly anything that this makes is garbage
os.environ["LOOKALIKE_DATA"] = str(DATA)
os.environ["UPLOADS_AN_HOUR"] = "100000"  # counts outlive a run, and so people seem to come back
os.environ["ANSWERS_A_MINUTE"] = "0"  # one person answers for many tests
os.environ.setdefault("XDG_RUNTIME_DIR", "/tmp")  # noqa: S108

# Nothing here is a timed test: on a loaded machine an example may take any time to make or to run.
hypothesis.settings.register_profile(
    "patient", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("patient")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Keep temporary files apart, too: a run beside this one would change their folder's mode."""
    config.option.basetemp = config.option.basetemp or str(DATA / "tmp")


def pytest_xdist_setupnodes() -> None:
    """Let no worker read the settings before it has chosen its own data folder.

    Given paths, this process has loaded a conftest that sets Django up, and they would inherit it.
    """
    os.environ.pop("DJANGO_SETTINGS_MODULE", None)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the tests that mostly wait, so that other workers have something to do beside.

    Of these, those that share one site come first: idle workers take over from the end.
    """

    def turn(item: pytest.Item) -> tuple[bool, bool]:
        is_of_site = "site" in getattr(item, "fixturenames", ())
        return item.get_closest_marker("faults") is None, not is_of_site

    items.sort(key=turn)


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """Let the collector pass over the millions of objects that stay till the end."""
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real photos, votes and TREC files."""
    return shared("")


@pytest.fixture(autouse=True)
def no_heartbeat_outside_of_a_transaction(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Keep a job's heartbeat, which has a connection of its own, from missing a row that only
    the test's transaction sees: after some seconds it would call the job lost.
    """
    marker = request.node.get_closest_marker("django_db")
    if marker is not None and not marker.kwargs.get("transaction"):
        monkeypatch.setattr("jobs.work.running.HEARTBEAT_SECONDS", 3600.0)
