"""While the database is away the site says so, with 503, and asks to be asked again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import psycopg
import pytest
from django.db import InterfaceError, OperationalError, connection
from django.test import Client

from config.errors import is_outage


@pytest.fixture
def outage(django_db_setup: None, django_db_blocker: object, tmp_path: Path) -> Iterator[None]:
    """Point Django at a database that does not run."""
    with django_db_blocker.unblock():  # type: ignore[attr-defined]
        connection.close()
        with mock.patch.dict(connection.settings_dict, HOST=str(tmp_path)):
            yield
        connection.close()


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
