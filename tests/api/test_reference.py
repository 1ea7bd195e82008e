"""The page of the API and docs/api.md say what the code does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.test import Client

from accounts.models import Role, Scope, User
from api.limits import REQUESTS, STRANGERS, UNKNOWN_TOKENS, UPLOADS
from api.root import api
from config.settings import BASE_DIR
from tests.clients import signed_in

DOCS = (BASE_DIR / "docs" / "api.md").read_text()
CODE = [BASE_DIR / "config" / "middleware.py", *(BASE_DIR / "api").rglob("*.py")]


def test_the_page_shows_every_route_and_every_schema(researcher):
    page = signed_in(researcher.person).get("/api/").content.decode()
    document = api.get_openapi_schema()
    for path, operations in document["paths"].items():
        assert f"<code>{path}</code>" in page
        for operation in operations.values():
            assert operation["summary"] in page
    links = set(re.findall(r'href="#(schema-\w+)"', page))
    assert links
    assert links <= set(re.findall(r'id="(schema-\w+)"', page)), "no link leads nowhere"


def test_the_page_needs_no_script_and_nothing_from_elsewhere(researcher):
    page = signed_in(researcher.person).get("/api/").content.decode()
    main = page.partition("<main")[2].partition("</main>")[0]
    assert main
    assert "<script" not in main
    assert "style=" not in main
    assert not re.findall(r'(?:src|href)="(?:https?:)?//', page)


@pytest.mark.django_db
def test_strangers_are_sent_to_sign_in():
    assert Client().get("/api/")["Location"].startswith("/accounts/login/")


@pytest.mark.django_db
def test_an_annotator_is_refused_with_a_page_in_their_language():
    judge = User.objects.create_user("ann", role=Role.ANNOTATOR, language="de")
    reply = signed_in(judge).get("/api/")
    assert reply.status_code == 403
    assert "Diese Seite ist nicht für Ihr Konto" in reply.text


def codes_in(path: Path) -> set[str]:
    text = path.read_text()
    found = set(re.findall(r'ApiError\(\s*(?:\d{3}|[\w.]+),\s*"(\w+)"', text))
    return found | set(re.findall(r'\d{3}: \("(\w+)",', text))


def test_the_document_lists_every_code_and_no_other():
    coded = set().union(*map(codes_in, CODE))
    tokens = (BASE_DIR / "accounts" / "tokens" / "services.py").read_text()
    coded |= set(re.findall(r'TokenRefusedError\(\s*"(\w+)"', tokens))
    assert set(re.findall(r"^\| (?:\d{3}, )?\d{3} \| `(\w+)`", DOCS, re.MULTILINE)) == coded
    assert len(coded) >= 15


def test_the_document_gives_scopes_and_limits_as_they_are():
    assert set(re.findall(r"^\| `([a-z:]+)` \| ", DOCS, re.MULTILINE)) == set(Scope.values)
    assert f"{REQUESTS.n} requests a minute" in DOCS
    assert REQUESTS.seconds == STRANGERS.seconds == UNKNOWN_TOKENS.seconds == 60
    assert f"{UPLOADS.n} uploads an hour" in DOCS
    assert UPLOADS.seconds == 3600
    assert f"{STRANGERS.n} requests a minute" in DOCS
    assert f"{UNKNOWN_TOKENS.n} wrong tokens a minute" in DOCS
