"""The frame of every page: navigation by role, headers, no inline code, words for numbers."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from django.test import Client

from accounts.models import Role, User
from accounts.templatetags.pages import duration, percent
from config.pages.navigation import links_for

PAGES = ["/profile/", "/people/", "/people/new/", "/accounts/password/change/", "/nowhere/"]
OPEN_PAGES = ["/accounts/login/", "/accounts/password/reset/", "/accounts/signup/", "/nowhere/"]


class _Inline(HTMLParser):
    """Collects whatever a strict content security policy would refuse."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.headings: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        is_data = given.get("type") in {"application/json", "application/ld+json"}
        if tag == "style" or (tag == "script" and "src" not in given and not is_data):
            self.found.append(tag)
        self.found += [name for name in given if name == "style" or name.startswith("on")]
        if tag == "h1":
            self.headings.append(tag)


def _check_page(answer) -> None:
    policy = answer["Content-Security-Policy"]
    assert "default-src 'self'" in policy
    assert "unsafe" not in policy
    inline = _Inline()
    inline.feed(answer.content.decode())
    assert inline.found == []
    assert len(inline.headings) == 1


@pytest.mark.parametrize("path", PAGES)
def test_pages_hold_no_inline_code_and_one_heading(as_person, make_person, path):
    _check_page(as_person(make_person(Role.ADMIN)).get(path))


@pytest.mark.parametrize("path", OPEN_PAGES)
def test_the_entrance_holds_no_inline_code_and_one_heading(stranger, db, path):
    _check_page(stranger.get(path))


def test_the_back_office_alone_has_a_wider_policy_and_still_loads_nothing_foreign(
    as_person, make_person
):
    policy = as_person(make_person(Role.ADMIN)).get("/admin/")["Content-Security-Policy"]
    assert "script-src 'self' 'unsafe-eval'" in policy
    assert not re.search(r"https?:|\*", policy)


def _labels(person: User, path: str = "/") -> list[str]:
    return [link.label for link in links_for(person, path)]


def test_the_header_shows_each_role_its_own_pages(make_person):
    shown = {role: _labels(make_person(role)) for role in Role}
    assert "People" in shown[Role.ADMIN]
    assert not {"People", "Pools", "Results"} & set(shown[Role.ANNOTATOR])
    assert not {"People", "Overview"} & set(shown[Role.RESEARCHER])


def test_staff_alone_find_the_back_office_in_their_menu(as_person, make_person):
    for role in Role:
        person = make_person(role)
        menu = as_person(person).get("/profile/", follow=True).content.decode()
        assert ("Back office" in menu) is person.is_staff


def test_the_page_one_is_below_is_marked(make_person):
    links = links_for(make_person(Role.ADMIN), "/people/new/")
    assert [link.label for link in links if link.is_current] == ["People"]


@pytest.mark.parametrize(
    ("path", "label"), [("/plan/", "Pools"), ("/results/shop/without/1/", "Campaigns")]
)
def test_a_page_at_another_address_is_marked_where_its_way_begins(make_person, path, label):
    links = links_for(make_person(Role.ADMIN), path)
    assert [link.label for link in links if link.is_current] == [label]


def test_strangers_see_no_navigation(stranger, db):
    assert 'class="site-nav"' not in stranger.get("/accounts/login/").content.decode()


def test_the_page_for_a_broken_program_needs_nothing(db):
    client = Client(raise_request_exception=False)
    answer = client.get("/", HTTP_HOST="evil.example.org")
    assert answer.status_code == 400
    assert "could not be understood" in answer.content.decode()


def test_a_form_without_its_token_says_what_to_do(db):
    client = Client(enforce_csrf_checks=True)
    answer = client.post("/accounts/login/", {"login": "a", "password": "b"})
    assert answer.status_code == 403
    assert "reload the page, and send the form again" in answer.content.decode()


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (None, "unknown"),
        (-3, "0 s"),
        (59.4, "59 s"),
        (60, "1 min"),
        (200, "3 min 20 s"),
        (3600, "1 h"),
        (7500, "2 h 5 min"),
        (90_000, "1 day"),
        (400_000, "5 days"),
    ],
)
def test_durations_read_the_way_people_say_them(seconds, words):
    assert duration(seconds) == words


def test_percentages_show_the_unknown_as_a_dash():
    assert (percent(None), percent(0.1234), percent(0.1234, 1)) == ("–", "12 %", "12.3 %")
