"""Who is let in: tokens that open nothing, scopes, roles, limits; every error has one shape."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from accounts.models import AccessToken, Role, Scope
from accounts.tokens.secret import new_token
from accounts.tokens.services import revoke_token
from api.limits import REQUESTS, UNKNOWN_TOKENS
from tests.clients import API, Caller

pytestmark = pytest.mark.django_db


def answered(client: Client, path: str, **headers: str) -> tuple[int, str]:
    reply = client.get(f"{API}{path}", headers=headers)
    body = reply.json()
    assert reply.status_code < 400 or set(body) == {"code", "message", "details"}, body
    return reply.status_code, body.get("code", "")


def test_without_a_token_nothing_opens_and_the_answer_says_how():
    reply = Client().get(f"{API}/me")
    assert reply.status_code == 401
    assert reply["WWW-Authenticate"].startswith("Bearer")
    assert reply.json()["code"] == "not_authenticated"


@pytest.mark.parametrize(
    "header",
    [
        "Bearer",
        "Bearer ",
        "Basic eDp5",
        "Bearer nonsense",
        pytest.param(f"bearer {new_token().token}", id="unknown token"),
    ],
)
def test_a_token_that_is_none_opens_nothing(header):
    assert answered(Client(), "/me", Authorization=header) == (401, "invalid_token")


def test_an_expired_a_revoked_and_an_ownerless_token_are_told_apart(caller):
    expired, revoked, closed = (caller(Role.RESEARCHER) for _ in range(3))
    AccessToken.objects.filter(owner=expired.person).update(expires_at=timezone.now())
    revoke_token(token=AccessToken.objects.get(owner=revoked.person))
    closed.person.is_active = False
    closed.person.save()
    assert expired.get("/me", 401)["code"] == "token_expired"
    assert revoked.get("/me", 401)["code"] == "token_revoked"
    assert closed.get("/me", 401)["code"] == "account_closed"


def test_a_token_works_until_the_moment_it_expires(researcher):
    later = timezone.now() + timedelta(seconds=30)
    AccessToken.objects.filter(owner=researcher.person).update(expires_at=later)
    researcher.get("/me")


def test_a_token_opens_only_what_its_scopes_allow(caller, world):
    reader = caller(Role.ADMIN, Scope.READ)
    path = f"/campaigns/{world.campaign.slug}"
    reader.get(path)
    assert reader.get(f"{path}/judgements", 403)["code"] == "missing_scope"
    assert reader.get(f"/pools/{world.pool.slug}/pairs", 403)["code"] == "missing_scope"
    file = SimpleUploadedFile("a.csv", b"x")
    sent = reader.post(f"{path}/runs", {"name": "a", "file": file}, 403)
    assert sent["code"] == "missing_scope"
    writer = caller(Role.ADMIN, Scope.RUNS)
    assert writer.get("/me", 403)["code"] == "missing_scope"


def test_a_researcher_reaches_no_single_judgement(researcher, world):
    for path in (f"/campaigns/{world.campaign.slug}/judgements", f"/pools/{world.pool.slug}/pairs"):
        assert researcher.get(path, 403)["code"] == "forbidden"


def test_a_token_loses_what_its_owner_loses(admin, world):
    path = f"/campaigns/{world.campaign.slug}/judgements"
    admin.get(path)
    admin.person.role = Role.RESEARCHER
    admin.person.save()
    assert admin.get(path, 403)["code"] == "forbidden"
    admin.person.role = Role.ANNOTATOR
    admin.person.save()
    assert admin.get("/me", 403)["code"] == "forbidden"


def test_a_signed_in_browser_may_read_and_change_nothing(researcher, world):
    browser = Client()
    browser.force_login(researcher.person, backend="django.contrib.auth.backends.ModelBackend")
    assert browser.get(f"{API}/me").status_code == 200
    file = SimpleUploadedFile("a.csv", b"x")
    reply = browser.post(f"{API}/campaigns/{world.campaign.slug}/runs", {"name": "a", "file": file})
    assert reply.status_code == 401


def test_a_wrong_token_is_not_mended_by_a_session(researcher):
    browser = Client()
    browser.force_login(researcher.person, backend="django.contrib.auth.backends.ModelBackend")
    assert answered(browser, "/me", Authorization="Bearer x") == (401, "invalid_token")


def test_requests_are_limited_by_person_and_the_answer_says_when_to_come_back(
    researcher, caller, monkeypatch
):
    monkeypatch.setattr("api.access.REQUESTS", type(REQUESTS)("requests", 3, 3600))
    for left in (2, 1, 0):
        reply = Client().get(f"{API}/me", headers=researcher.headers)
        assert reply["RateLimit-Remaining"] == str(left)
    reply = Client().get(f"{API}/me", headers=researcher.headers)
    assert (reply.status_code, reply.json()["code"]) == (429, "rate_limited")
    assert 0 < int(reply["Retry-After"]) <= 3601
    caller(Role.RESEARCHER).get("/me")


def test_guessing_tokens_is_limited_by_address(researcher, monkeypatch):
    monkeypatch.setattr(
        "api.access.UNKNOWN_TOKENS", type(UNKNOWN_TOKENS)("unknown-tokens", 2, 3600)
    )
    wrong = {"Authorization": f"Bearer {new_token().token}"}
    assert [answered(Client(), "/me", **wrong)[0] for _ in range(3)] == [401, 401, 429]
    assert answered(Client(REMOTE_ADDR="10.9.8.7"), "/me", **wrong)[0] == 401
    researcher.get("/me")  # who has a token is not shut out by a neighbour's guesses


@pytest.mark.parametrize(
    "query",
    [{"limit": 0}, {"limit": 501}, {"limit": "x"}, {"after": "!"}, {"after": "x" * 101},
     {"after": "MS4y"}, {"after": "OTk5OTk5OTk5OTk5OTk5OTk5OTk5OTk5"}],
)  # fmt: skip
def test_a_wrong_part_of_a_list_is_refused_and_named(researcher, query):
    told = researcher.get("/catalogs", 422, **query)
    assert told["code"] in {"invalid_request", "invalid_cursor"}
    assert told["details"][0]["where"] == f"query.{next(iter(query))}"


def test_text_that_no_database_takes_is_refused(researcher, world):
    path = f"/catalogs/{world.catalog.slug}/images"
    for query in ({"product": "a\0"}, {"search": "\0"}, {"attribute": "a=\0"}, {"attribute": "a"}):
        assert researcher.get(path, 422, **query)["code"] == "invalid_request"
    researcher.get("/results", 422, campaign="\0")


def test_errors_outside_the_routes_have_the_same_shape(researcher):
    assert researcher.get("/nowhere", 404)["code"] == "not_found"
    reply = Client().put(f"{API}/me", headers=researcher.headers)
    assert (reply.status_code, reply.json()["code"]) == (405, "method_not_allowed")
    assert reply["Allow"] == "GET"


def test_a_crash_is_an_answer_in_json_without_its_insides(researcher, monkeypatch):
    def crash(*given: object) -> None:
        raise RuntimeError("secret inside")

    monkeypatch.setattr("api.routes.catalogs.read_part", crash)
    client = Client(raise_request_exception=False)
    reply = client.get(f"{API}/catalogs", headers=researcher.headers)
    assert (reply.status_code, reply.json()["code"]) == (500, "server_error")
    assert "secret" not in reply.content.decode()


def test_nothing_is_kept_by_caches(researcher: Caller):
    reply = Client().get(f"{API}/me", headers=researcher.headers)
    assert reply["Cache-Control"] == "private, no-store"
