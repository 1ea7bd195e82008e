"""Rate limits: no burst at the edge of a window, one count for each IPv6 network."""

from __future__ import annotations

import time
import uuid

import pytest
from django.test import Client

from accounts.sign_in.limits import consume
from api.limits import STRANGERS
from tests.clients import API


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """A clock that a test sets, far from the edges of other tests' windows."""
    now = [1_800_000_000.0]
    monkeypatch.setattr(time, "time", lambda: now[0])
    return now


def n_allowed(name: str, n: int, limit: int, seconds: int) -> int:
    return sum(consume(name, 1, limit=limit, seconds=seconds).is_allowed for _ in range(n))


def test_a_burst_at_the_edge_of_two_windows_stays_within_the_limit(clock: list[float]) -> None:
    name = uuid.uuid4().hex
    clock[0] += 59
    assert n_allowed(name, 700, limit=600, seconds=60) == 600
    clock[0] += 2
    assert n_allowed(name, 700, limit=600, seconds=60) <= 10


def test_a_refused_caller_is_allowed_after_the_stated_seconds(clock: list[float]) -> None:
    for offset in (0, 17.5, 59):
        name, clock[0] = uuid.uuid4().hex, 1_800_000_000.0 + offset
        n_allowed(name, 12, limit=10, seconds=60)
        refused = consume(name, 1, limit=10, seconds=60)
        assert not refused.is_allowed
        clock[0] += refused.seconds
        assert consume(name, 1, limit=10, seconds=60).is_allowed


def test_refused_attempts_do_not_prolong_the_wait(clock: list[float]) -> None:
    name = uuid.uuid4().hex
    assert n_allowed(name, 10, limit=10, seconds=60) == 10
    for _ in range(60):
        clock[0] += 1
        n_allowed(name, 5, limit=10, seconds=60)
    clock[0] += 60
    assert n_allowed(name, 12, limit=10, seconds=60) >= 4


def test_a_limit_of_zero_refuses_every_attempt(clock: list[float]) -> None:
    assert n_allowed(uuid.uuid4().hex, 3, limit=0, seconds=60) == 0


@pytest.mark.django_db
def test_addresses_of_one_ipv6_network_share_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    limit = type(STRANGERS)(uuid.uuid4().hex, 3, 3600)
    monkeypatch.setattr("api.access.STRANGERS", limit)
    status = [
        Client(REMOTE_ADDR=f"2001:db8:1:2::{host:x}").get(f"{API}/releases").status_code
        for host in range(1, 5)
    ]
    assert status == [200, 200, 200, 429]
    assert Client(REMOTE_ADDR="2001:db8:1:3::1").get(f"{API}/releases").status_code == 200
