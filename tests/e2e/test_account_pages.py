"""The entrance and the people pages in a real browser: look, accessibility, theme."""

from __future__ import annotations

import re
from datetime import timedelta

from allauth.usersessions.models import UserSession
from django.utils import timezone
from playwright.sync_api import expect

from accounts.first_admin.services import make_secret
from accounts.models import Role
from tests.clients import PASSWORD
from tests.e2e.pages import in_windows, overflow, serious_problems


@in_windows
def test_the_entrance_is_accessible(open_page, db, size, theme):
    page = open_page(size=size, theme=theme)
    first_admin = f"/first-admin/{make_secret()}/"
    for path in ("/accounts/login/", "/accounts/password/reset/", first_admin, "/nowhere/"):
        page.goto(path)
        assert serious_problems(page) == []
        assert overflow(page) <= 0


@in_windows
def test_the_people_pages_are_accessible(open_page, make_person, size, theme):
    admin = make_person("ada", Role.ADMIN, is_superuser=True, email="ada@example.org")
    other = make_person("a-rather-long-user-name-of-a-judge", email="x" * 50 + "@example.org")
    page = open_page(admin, size=size, theme=theme)
    for path in ("", "sessions/"):
        page.goto(f"/profile/{path}")
        assert serious_problems(page) == []
        assert overflow(page) <= 0
    for path in ("/people/", "/people/new/", f"/people/{other.pk}/"):
        page.goto(path)
        assert serious_problems(page) == []
        assert overflow(page) <= 0
    page.goto(f"/people/{other.pk}/")
    page.get_by_role("button", name="Make a link").click()
    expect(page.get_by_label("Link to choose a password")).to_have_value(re.compile("/reset/key/"))
    assert serious_problems(page) == []


def test_a_phone_shows_all_of_a_session(open_page, make_person):
    page = open_page(make_person("ann", language="de"), size="phone")
    page.goto("/profile/sessions/")
    UserSession.objects.update(last_seen_at=timezone.now() - timedelta(hours=3, minutes=42))
    page.reload()
    button = page.locator("td button").bounding_box()
    assert button is not None
    for time in page.locator("td time").all():
        box = time.bounding_box()
        assert box is not None
        assert box["x"] + box["width"] <= button["x"]


def test_a_phone_cuts_the_name_in_the_menu_alone(open_page, make_person):
    page = open_page(make_person("a-rather-long-name"), size="phone")
    page.goto("/profile/")
    summary = page.locator(".menu > summary")
    name, arrow = summary.locator("span").all()
    assert name.evaluate("one => one.scrollWidth - one.clientWidth") > 0
    assert summary.evaluate("one => one.scrollWidth - one.clientWidth") <= 0
    boxes = [one.bounding_box() for one in (page.locator(".brand"), summary, arrow)]
    middles = [box["y"] + box["height"] / 2 for box in boxes if box]
    assert max(middles) - min(middles) < 2, "all in one line"


def test_somebody_signs_in_and_out(open_page, make_person, live_server):
    person = make_person("ada", Role.ADMIN)
    page = open_page()
    page.goto("/people/")
    page.get_by_label("User name or email").fill(person.username)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()
    expect(page).to_have_url(re.compile("/people/$"))
    page.locator("summary", has_text="ada").click()
    page.get_by_role("button", name="Sign out").click()
    page.goto("/people/")
    expect(page).to_have_url(re.compile("/accounts/login/"))


def test_a_chosen_theme_is_remembered_and_does_not_flash(open_page, db):
    page = open_page(theme="light")
    page.goto("/accounts/login/")
    light = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    page.get_by_role("button", name="Use the dark theme").click()
    dark = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    assert dark != light
    # the colour of the very first paint: before any module has run
    page.route("**/base.js", lambda route: route.abort())
    page.goto("/accounts/login/")
    assert page.evaluate("getComputedStyle(document.documentElement).backgroundColor") == dark


def test_the_keyboard_reaches_the_page_past_the_header(open_page, make_person):
    page = open_page(make_person("ada", Role.ADMIN))
    page.goto("/people/")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the page")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Add a person")).to_be_focused()


def test_the_menu_closes_on_escape_and_elsewhere(open_page, make_person):
    page = open_page(make_person("ada", Role.ADMIN))
    page.goto("/people/")
    menu = page.locator("details.menu")
    page.locator("summary", has_text="ada").click()
    expect(menu).to_have_attribute("open", "")
    page.keyboard.press("Escape")
    expect(menu).not_to_have_attribute("open", "")
    page.locator("summary", has_text="ada").click()
    page.locator("h1").click()
    expect(menu).not_to_have_attribute("open", "")


def test_the_back_office_works_under_its_policy(open_page, make_person):
    page = open_page(make_person("ada", Role.ADMIN, is_superuser=True))
    for path in ("/admin/", "/admin/accounts/user/", "/admin/jobs/job/"):
        assert page.goto(path).status == 200
