"""Which pages stand in the header, for whom."""

from __future__ import annotations

from dataclasses import dataclass

from django.urls import NoReverseMatch, reverse

from accounts.models import Role, User


@dataclass(frozen=True)
class Entry:
    """A page of the header; its URL name may belong to an app that is not installed."""

    label: str
    url_name: str
    roles: frozenset[Role]


@dataclass(frozen=True)
class Link:
    """An entry as a page shows it."""

    label: str
    url: str
    is_current: bool


_ANNOTATORS = frozenset({Role.ANNOTATOR})
_ADMINS = frozenset({Role.ADMIN})
_READERS = frozenset({Role.ADMIN, Role.RESEARCHER})

ENTRIES = (
    Entry("Judge", "annotation:home", _ANNOTATORS),
    Entry("Overview", "pooling:home", _ADMINS),
    Entry("Catalogs", "catalog:home", _READERS),
    Entry("Pools", "pooling:pools", _READERS),
    Entry("Templates", "conditional:sets", _READERS),
    Entry("Campaigns", "annotation:campaigns", _ADMINS),
    Entry("Results", "evaluation:home", _READERS),
    Entry("Releases", "releases:home", _READERS),
    Entry("Work", "jobs:jobs", _ADMINS),
    Entry("People", "accounts:people", _ADMINS),
)


def links_for(person: User, path: str) -> list[Link]:
    """Return the header's links for a person, with the one that `path` lies under marked."""
    found = [(entry.label, url) for entry in ENTRIES if (url := _url(entry, person)) is not None]
    current = max((url for _, url in found if path.startswith(url)), key=len, default=None)
    return [Link(label, url, url == current) for label, url in found]


def _url(entry: Entry, person: User) -> str | None:
    return _reversed(entry.url_name) if person.role in entry.roles else None


def _reversed(url_name: str) -> str | None:
    try:
        return reverse(url_name)
    except NoReverseMatch:
        return None
