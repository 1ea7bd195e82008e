"""Which pages the header links to, for whom."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from accounts.models import Role, User


@dataclass(frozen=True)
class Link:
    """A link of the header; `is_current` where the page lies under it."""

    label: str
    url: str
    is_current: bool


_ANNOTATORS = frozenset({Role.ANNOTATOR})
_ADMINS = frozenset({Role.ADMIN})
_READERS = frozenset({Role.ADMIN, Role.RESEARCHER})

# label, name of the URL, who sees it
ENTRIES = (
    (_("Judge"), "annotation:home", _ANNOTATORS),
    ("Overview", "overview", _ADMINS),
    ("Catalogs", "catalog:home", _READERS),
    ("Notions", "learning:home", _READERS),
    ("Pools", "pooling:pools", _READERS),
    ("Templates", "conditional:sets", _READERS),
    ("Campaigns", "annotation:campaigns", _ADMINS),
    ("Results", "evaluation:home", _READERS),
    ("Releases", "releases:home", _READERS),
    ("Jobs", "jobs:jobs", _ADMINS),
    ("People", "accounts:people", _ADMINS),
    ("Audit", "audit", _ADMINS),
)


# Pages that lie under an entry by what they are about, not by their address.
ELSEWHERE = ((r"/plan/", "pooling:pools"), (r"/results/[^/]+/without/", "annotation:campaigns"))


def header_links(request: HttpRequest) -> dict[str, Callable[[], list[Link]]]:
    """Give every template `header_links`, computed where a page has a header."""
    person = getattr(request, "user", None)  # no middleware has run before a bad request
    return {"header_links": lambda: links_for(person, request.path)}


def links_for(person: object, path: str) -> list[Link]:
    """Return the header's links for a person, with the one that `path` lies under marked."""
    if not isinstance(person, User):
        return []
    links = [(str(label), reverse(name)) for label, name, roles in ENTRIES if person.role in roles]
    moved = (reverse(name) for pattern, name in ELSEWHERE if re.match(pattern, path))
    below = next(moved, path)
    current = max((url for _, url in links if below.startswith(url)), key=len, default=None)
    return [Link(label, url, url == current) for label, url in links]
