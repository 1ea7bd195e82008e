"""The embedded servers: apart from each other, back after a kill, gone with their last user."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
import redis

from config import embedded
from config.running import postgres_account, valkey

HOLD = """
import sys
from pathlib import Path
from config import embedded
services = embedded.service_urls(Path(sys.argv[1]), database_url=None, redis_url=None)
embedded.hold_services(services)
print("up", flush=True)
sys.stdin.readline()
"""


@pytest.fixture
def services(tmp_path: Path) -> Iterator[embedded.Services]:
    found = embedded.service_urls(tmp_path / "var", database_url=None, redis_url=None)
    yield found
    embedded.stop_services(found)


def hold(services: embedded.Services) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(services.data_dir)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(embedded.__file__).parent.parent)},
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "up\n"
    return process


def let_go(process: subprocess.Popen[str]) -> None:
    process.communicate("\n", timeout=60)


def run_sql(services: embedded.Services, statement: str) -> list[tuple[object, ...]]:
    with psycopg.connect(services.database_url, autocommit=True) as connection:
        cursor = connection.execute(statement)
        return cursor.fetchall() if cursor.description else []


def broker(services: embedded.Services) -> redis.Redis:
    return redis.Redis.from_url(services.redis_url.replace("redis+socket", "unix"))


def test_servers_live_as_long_as_somebody_uses_them(services: embedded.Services) -> None:
    first, second = hold(services), hold(services)
    let_go(first)
    assert run_sql(services, "select 1") == [(1,)]
    let_go(second)
    with pytest.raises(psycopg.OperationalError):
        run_sql(services, "select 1")
    with pytest.raises(redis.ConnectionError):
        broker(services).ping()


def test_a_killed_user_leaves_servers_that_the_next_one_finds_and_stops(
    services: embedded.Services,
) -> None:
    killed = hold(services)
    run_sql(services, "create table facts (n int)")
    killed.kill()
    killed.communicate()
    following = hold(services)
    assert run_sql(services, "select count(*) from facts") == [(0,)]
    let_go(following)
    with pytest.raises(psycopg.OperationalError):
        run_sql(services, "select 1")


@pytest.mark.faults
def test_killed_servers_come_back_with_their_data(services: embedded.Services) -> None:
    user = hold(services)
    run_sql(services, "create table facts (n int)")
    run_sql(services, "insert into facts values (7)")
    pid_file = services.data_dir / "postgres" / "postmaster.pid"
    os.kill(int(pid_file.read_text().splitlines()[0]), signal.SIGKILL)
    os.kill(int(broker(services).info()["process_id"]), signal.SIGKILL)
    embedded.start_services(services)
    assert run_sql(services, "select n from facts") == [(7,)]
    assert broker(services).ping()
    let_go(user)


@pytest.mark.faults
def test_a_broker_that_is_late_is_waited_for_and_not_replaced(
    services: embedded.Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    user = hold(services)
    pid = int(broker(services).info()["process_id"])
    monkeypatch.setattr(valkey, "ANSWER_SECONDS", 0.1)
    monkeypatch.setattr(valkey, "START_SECONDS", 0)
    os.kill(pid, signal.SIGSTOP)
    with pytest.raises(embedded.ServiceError, match="does not answer"):
        embedded.start_services(services)
    os.kill(pid, signal.SIGCONT)
    embedded.start_services(services)
    assert broker(services).info()["process_id"] == pid
    let_go(user)


def test_two_data_folders_do_not_meet(services: embedded.Services, tmp_path: Path) -> None:
    other = embedded.service_urls(tmp_path / "other", database_url=None, redis_url=None)
    one, two = hold(services), hold(other)
    run_sql(services, "create table facts (n int)")
    broker(services).set("seen", "here")
    assert run_sql(other, "select to_regclass('facts')") == [(None,)]
    assert broker(other).get("seen") is None
    let_go(one)
    let_go(two)


def test_given_urls_are_used_and_nothing_is_started_in_their_place(tmp_path: Path) -> None:
    urls = ("postgresql://127.0.0.1:1/x", "redis://127.0.0.1:1/0")
    found = embedded.service_urls(tmp_path, database_url=urls[0], redis_url=urls[1])
    with pytest.raises(embedded.ServiceError, match="does not answer"):
        embedded.hold_services(found)
    assert (found.database_url, found.redis_url) == urls
    assert list(tmp_path.iterdir()) == []


def test_a_long_path_gets_short_sockets(tmp_path: Path) -> None:
    found = embedded.service_urls(tmp_path / ("deep" * 30), database_url=None, redis_url=None)
    assert len(found.redis_url.removeprefix("redis+socket://")) < 100


def test_processes_that_add_postgresqls_account_at_once_wait_for_each_other(
    monkeypatch: pytest.MonkeyPatch,
):
    busy = "useradd: cannot lock /etc/passwd; try again later."
    seen = iter([False, False, False, False, True])
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(postgres_account, "_account_exists", lambda: next(seen))
    monkeypatch.setattr(
        subprocess, "run", lambda command, **_: subprocess.CompletedProcess(command, 1, "", busy)
    )
    assert postgres_account._owner() == postgres_account.ACCOUNT

    monkeypatch.setattr(postgres_account, "_account_exists", lambda: False)
    monkeypatch.setattr(postgres_account, "ACCOUNT_SECONDS", 0.2)
    with pytest.raises(embedded.ServiceError, match="could not be added: useradd: cannot lock"):
        postgres_account._owner()
