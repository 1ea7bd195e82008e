"""A NUL character in a query is no server error on any page."""

from __future__ import annotations

import re

import pytest
from django.urls import NoReverseMatch, get_resolver, reverse

from accounts.models import Role, User
from tests.clients import signed_in
from tests.paths import ROOT
from tests.routes import routes

APPS = (
    *("accounts", "annotation", "api", "audit", "catalog", "conditional", "config"),
    *("evaluation", "jobs", "learning", "notices", "pooling", "releases"),
)
PARAMETERS = {
    name
    for app in APPS
    for path in (ROOT / app).rglob("*.py")
    for name in re.findall(r'GET\.get(?:list)?\(\s*"(\w+)"', path.read_text())
}


def plain_addresses() -> list[str]:
    """Return every address that takes no arguments."""
    found = []
    for name, parts in routes(get_resolver()):
        if not parts and not name.startswith(("admin:", "account_logout")):
            try:
                found.append(reverse(name))
            except NoReverseMatch:
                continue
    return sorted(set(found))


@pytest.mark.django_db
def test_a_nul_character_in_a_query_is_no_server_error() -> None:
    client = signed_in(User.objects.create_user("chief", role=Role.ADMIN))
    client.raise_request_exception = False
    query = "&".join(f"{name}=a%00b" for name in sorted(PARAMETERS))
    addresses = plain_addresses()
    assert len(addresses) > 30
    status = {address: client.get(f"{address}?{query}").status_code for address in addresses}
    assert {address: code for address, code in status.items() if code >= 500} == {}
