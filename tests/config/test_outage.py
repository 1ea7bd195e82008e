"""While the database is away requests wait for it, then 503 says so and asks to be asked again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from threading import Timer
from typing import Any
from unittest import mock

import psycopg
import pytest
from django.db import InterfaceError, OperationalError, connection
from django.test import Client

from config.database import base
from config.pages.errors import is_outage

SOCKET = ".s.PGSQL.5432"


@pytest.fixture
def outage(django_db_setup: None, django_db_blocker: object, tmp_path: Path) -> Iterator[Path]:
    """Point Django at a folder without a database; return where its socket would be."""
    with django_db_blocker.unblock():  # type: ignore[attr-defined]
        connection.close()
        real = connection.settings_dict["HOST"]
        with mock.patch.dict(connection.settings_dict, HOST=str(tmp_path), TEST_HOST=real):
            yield tmp_path / SOCKET
        connection.close()


@pytest.fixture
def patience(monkeypatch: pytest.MonkeyPatch) -> base.Outage:
    """That of a web process."""
    fresh = base.Outage()
    monkeypatch.setattr(base, "outage", fresh)
    return fresh


@pytest.fixture
def visitor() -> Client:
    visitor = Client(raise_request_exception=False)
    visitor.cookies["sessionid"] = "a" * 32
    return visitor


@pytest.mark.parametrize("path", ["/", "/releases/", "/admin/", "/overview/", "/catalogs/"])
def test_a_page_answers_503_and_tries_again_by_itself(
    outage: None, visitor: Client, path: str
) -> None:
    reply = visitor.get(path)
    assert (reply.status_code, reply["Retry-After"]) == (503, "5")
    assert b'http-equiv="refresh"' in reply.content
    assert b"Back in a moment" in reply.content


def test_a_broker_that_is_away_is_told_likewise(db: None, visitor: Client, settings: Any) -> None:
    away = {**settings.CACHES["default"], "LOCATION": "unix:///nowhere/valkey.sock"}
    settings.CACHES = {**settings.CACHES, "default": away}
    page = visitor.post("/accounts/password/reset/", {"email": "ada@example.org"})
    assert (page.status_code, page["Retry-After"]) == (503, "5")
    reply = visitor.get("/api/v1/releases")
    assert (reply.status_code, reply["Retry-After"]) == (503, "5")
    assert reply.json()["message"].startswith("The broker is not reached")


def test_what_was_sent_is_not_sent_again_by_itself(outage: None, visitor: Client) -> None:
    reply = visitor.post("/accounts/login/", {"login": "a", "password": "b"})
    assert (reply.status_code, reply["Retry-After"]) == (503, "5")
    assert b'http-equiv="refresh"' not in reply.content
    assert b"has not been confirmed" in reply.content


@pytest.mark.parametrize("path", ["/api/v1/catalogs", "/api/v1/releases"])
def test_the_api_answers_in_json(outage: None, visitor: Client, path: str) -> None:
    reply = visitor.get(path, headers={"Authorization": "Bearer lk_" + "a" * 40})
    assert (reply.status_code, reply["Retry-After"]) == (503, "5")
    assert reply.json()["code"] == "unavailable"


def test_a_request_waits_until_the_database_is_back(
    outage: Path, visitor: Client, patience: base.Outage
) -> None:
    patience.patience = 60.0
    real = Path(str(connection.settings_dict["TEST_HOST"])) / SOCKET
    comes_back = Timer(0.5, outage.symlink_to, [real])
    comes_back.start()
    assert visitor.get("/releases/").status_code == 200
    assert patience.began is None


def test_an_outage_is_waited_for_once(outage: Path, visitor: Client, patience: base.Outage) -> None:
    patience.patience = 0.2
    assert visitor.get("/releases/").status_code == 503
    assert not patience.is_to_be_waited_for()
    began = patience.began
    assert visitor.get("/releases/").status_code == 503
    assert patience.began == began


@pytest.mark.django_db(transaction=True)
def test_a_page_under_which_the_connection_is_cut_is_read_once_more(visitor: Client) -> None:
    is_cut = False

    def cut(execute: Any, *statement: Any) -> Any:
        nonlocal is_cut
        if not is_cut:
            is_cut = True
            execute("select pg_terminate_backend(pg_backend_pid())", None, *statement[2:])
        return execute(*statement)

    with connection.execute_wrapper(cut):
        reply = visitor.get("/releases/")
    assert is_cut
    assert reply.status_code == 200


@pytest.mark.parametrize(
    ("state", "is_away"),
    [(None, True), ("57P01", True), ("57P03", True), ("08006", True), ("53300", True),
     ("40P01", False), ("57014", False), ("53100", False)],
)  # fmt: skip
def test_only_a_lost_database_counts(state: str | None, is_away: bool) -> None:
    cause = psycopg.OperationalError()
    cause.sqlstate = state
    problem = OperationalError()
    problem.__cause__ = cause
    assert is_outage(problem) == is_away
    assert is_outage(InterfaceError("the connection is closed"))
    assert not is_outage(ValueError())
