"""Every page of the site under axe, as each role, in both themes: a new page cannot be forgotten.

The addresses are those of the URL configuration. Each must be opened here by somebody, or say
that it is no page.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any, Literal

import pytest
from django.test import Client
from django.urls import get_resolver

from accounts.models import Role, User
from accounts.services import password_link
from annotation.models import Campaign
from tests.annotation.blind_world import files_of_pictures
from tests.clients import signed_in
from tests.e2e.pages import overflow, serious_problems
from tests.every_page import (
    A_PAGE,
    ELSEWHERE,
    NOT_OURS,
    Values,
    addresses,
    is_page,
    is_refused,
    one_of_everything,
)
from tests.routes import routes


@pytest.fixture
def people(make_person: Callable[..., User]) -> dict[str, User]:
    return {
        "admin": make_person("ada", Role.ADMIN, is_superuser=True, email="ada@example.org"),
        "annotator": make_person("judith"),
        "researcher": make_person("rita", Role.RESEARCHER),
    }


@pytest.fixture
def values(people: dict[str, User], make_campaign: Callable[..., Campaign]) -> Iterator[Values]:
    """A site with one of everything, and what stands in the addresses of its pages."""
    found = one_of_everything(people, make_campaign)
    with files_of_pictures():
        yield found


def mailed_link(admin: User, person: User) -> str:
    """Where somebody chooses a password, by the link that they were sent."""
    return password_link(actor=admin, person=person, site="")


def pages(values: Values, people: dict[str, User]) -> dict[str, list[str]]:
    """The pages that each role can open; every route must open for somebody."""
    visitors = {role: signed_in(person) for role, person in people.items()} | {"nobody": Client()}
    found: dict[str, list[str]] = {role: [] for role in visitors}
    shut = []
    for name, parts in routes(get_resolver()):
        if name.startswith(NOT_OURS) or name in ELSEWHERE:
            continue
        is_reached = False
        for role, browser in visitors.items():
            opened: list[str] = []
            for address in addresses(name, parts, values):
                reply = browser.get(address)
                is_reached = is_reached or not is_refused(reply)
                if reply.streaming:
                    reply.close()  # a file
                elif is_page(reply):
                    opened.append(address)
                if len(opened) == A_PAGE or (opened and not parts):
                    break
            found[role] += opened
        if not is_reached:
            shut.append(name)
    assert not shut, (
        f"{' '.join(shut)}: make one of these in the fixture `values`, or say why not in ELSEWHERE"
    )
    found["nobody"].append(mailed_link(people["admin"], people["annotator"]))
    return {role: sorted(set(found[role])) for role in found}


@pytest.mark.daily
@pytest.mark.timeout(1800)
def test_no_page_has_a_problem_for_anybody_in_either_theme(
    open_page: Callable[..., Any], values: Values, people: dict[str, User]
) -> None:
    problems: list[str] = []
    n_looks = 0
    themes: tuple[Literal["light", "dark"], ...] = ("light", "dark")
    for (role, found), theme in itertools.product(pages(values, people).items(), themes):
        page = open_page(people.get(role), theme=theme, reduced_motion="reduce")
        page.set_default_timeout(60_000)
        for address in found:
            page.goto(address)
            seen = serious_problems(page)
            if theme == "dark":
                page.set_viewport_size({"width": 390, "height": 844})
                if (wide := overflow(page)) > 0:
                    seen.append(f"{wide} pixels too wide for a phone")
                page.set_viewport_size({"width": 1280, "height": 850})
            problems += [f"{role}, {theme}, {address}: {problem}" for problem in seen]
            n_looks += 1
    assert n_looks > 200
    assert problems == [], "\n\n".join(problems)
