"""What scripts say to a judge is in the judge's language; every page holds in any direction."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from accounts.models import Role, User
from annotation.models import Campaign, Comment
from annotation.services import reply_to_comment
from annotation.services.guidelines import text_digest
from lookalike.agreement.grades import Scale
from tests.e2e.pages import in_windows, overflow, see_pair, see_pictures, serious_problems
from tests.pseudo import LANGUAGE, RIGHT_TO_LEFT, words_left, write_language

GUIDELINES = "Zusehends allerlei Getier"
NEWER = "Zusehends allerlei Getier, immerzu"
PAUSE_MS = 250


@pytest.fixture
def pseudo(tmp_path: Any, settings: Any) -> None:
    for language in (LANGUAGE, RIGHT_TO_LEFT):
        write_language(tmp_path, language)
    settings.LOCALE_PATHS = [tmp_path]
    settings.LANGUAGES = [("en", "English"), (LANGUAGE, "Pseudo"), (RIGHT_TO_LEFT, "Pseudo")]


def left_on(page: Page) -> list[str]:
    """The words that the page shows or holds, outside of the language's brackets."""
    return words_left(page.content(), {"judith", "Coats and bags, autumn", GUIDELINES})


def press(page: Page, *keys: str) -> None:
    for key in keys:
        see_pictures(page)
        page.keyboard.press(key)
        page.wait_for_timeout(PAUSE_MS)


def test_scripts_leave_no_word_untranslated(pseudo, open_page, make_person, make_campaign):
    judge = make_person("judith", language=LANGUAGE)
    campaign = make_campaign(judge, guidelines=GUIDELINES)
    page = open_page(judge)
    page.goto(f"/judge/{campaign.uid}/")
    see_pair(page)
    press(page, "j", "f", "c", "l", "j", "j", "u")
    assert left_on(page) == []
    root = "getComputedStyle(document.documentElement)"
    for name in ("--says-waiting", "--says-broken"):  # what style sheets write into frames
        assert page.evaluate(f"{root}.getPropertyValue('{name}')").startswith('"⟦')
    press(page, "s", "1")
    press(page, "?")
    assert page.locator("#help option").count() > 100
    assert left_on(page) == []
    page.locator("#key-similar").select_option("f")
    page.locator("[data-part=keys-form] [type=submit]").click()
    expect(page.locator("[data-part=keys-problem]")).to_be_visible()
    assert left_on(page) == []
    page.keyboard.press("Escape")
    press(page, "g")
    assert left_on(page) == []
    page.keyboard.press("Escape")
    press(page, "m")
    expect(page.locator(".cell").first).to_be_visible()
    press(page, "j", "r")  # too soon: it says so
    expect(page.locator("[data-part=toast]")).to_be_visible()
    assert left_on(page) == []
    page.context.set_offline(True)
    press(page, "f")
    expect(page.locator(".judge-saved")).to_contain_text("⟦No connection to the server.⟧")
    assert left_on(page) == []


@pytest.mark.daily
def test_reading_asking_and_grades_leave_no_word_untranslated(
    pseudo, open_page, make_person, make_campaign
):
    words = ("Gar nicht", "Mittel", "Gleich")
    scale = Scale(words, 1)
    judge = make_person("judith", language=LANGUAGE)
    campaign = make_campaign(judge, guidelines=GUIDELINES, is_read=False, scale=scale)
    page = open_page(judge)

    def check() -> None:
        shown = [one.rpartition(": ")[2].rstrip(".") for one in left_on(page)]
        given = {*words, "Warum"}  # and parts of the guidelines, where they are compared
        assert [one for one in shown if one not in given and one not in NEWER] == []

    page.goto(f"/judge/{campaign.uid}/")
    start = page.locator("#guidelines[open] button:visible").last
    expect(start).to_be_focused()
    check()
    start.click()
    see_pair(page)
    press(page, "1", "2")
    check()
    page.keyboard.press("q")
    expect(page.locator("#ask")).to_be_visible()
    check()
    page.keyboard.type("Warum")
    page.keyboard.press("Enter")
    expect(page.locator(".judge-toast")).to_be_visible()
    check()
    expect(page.locator(".judge-saved")).to_contain_text("⟦All answers saved⟧")
    comment = Comment.objects.get()
    reply_to_comment(
        campaign=campaign, comment=comment.uuid, reply="Warum", by=make_person("ada", Role.ADMIN),
        guidelines=NEWER, seen=text_digest(GUIDELINES, {}),
    )  # fmt: skip
    page.reload()
    expect(page.locator("#guidelines[open] ins").first).to_be_visible()
    check()
    page.locator("#guidelines[open] button:visible").last.click()
    see_pair(page)
    check()
    page.keyboard.press("s")
    check()
    page.goto("/judge/inbox/")
    check()


@pytest.mark.parametrize("state", ["finished", "paused", "closed", "offline"])
def test_states_leave_no_word_untranslated(pseudo, open_page, make_person, make_campaign, state):
    judge = make_person("judith", language=LANGUAGE)
    campaign = make_campaign(judge, guidelines=GUIDELINES, n_queries=1, n_candidates=1)
    page = open_page(judge)
    if state in {"paused", "closed"}:
        Campaign.objects.update(state=state)
    if state == "offline":
        page.route("**/next?*", lambda route: route.abort())
    page.goto(f"/judge/{campaign.uid}/")
    if state == "finished":
        see_pair(page)
        press(page, "j")
    expect(page.locator(".judge-state")).to_be_visible()
    expect(page.locator("[data-part=state-text]")).not_to_be_empty()
    assert left_on(page) == []


@pytest.fixture(params=["de", pytest.param("es", marks=pytest.mark.daily), RIGHT_TO_LEFT])
def language(request: pytest.FixtureRequest) -> str:
    if request.param == RIGHT_TO_LEFT:
        request.getfixturevalue("pseudo")
    return str(request.param)


@pytest.fixture
def judge(make_person: Any, language: str) -> User:
    return make_person("judith", language=language)  # type: ignore[no-any-return]


@in_windows
def test_pages_hold_in_long_words_and_from_right_to_left(
    open_page, judge, make_campaign, size, theme
):
    campaign = make_campaign(judge)
    page = open_page(judge, size=size, theme=theme)
    direction = "rtl" if judge.language == RIGHT_TO_LEFT else "ltr"
    for path in ("/judge/", "/profile/", "/profile/sessions/", "/nowhere/", "/accounts/2fa/"):
        page.goto(path)
        assert page.evaluate("document.documentElement.dir") == direction
        assert overflow(page) <= 0, path
        assert serious_problems(page) == []
    page.goto(f"/judge/{campaign.uid}/")
    see_pair(page)
    assert overflow(page) <= 0
    assert serious_problems(page) == []
    press(page, "j")
    answers = page.locator(".judge-answers .answer")
    left, right = answers.first.bounding_box(), answers.last.bounding_box()
    assert left is not None
    assert right is not None
    assert left["x"] < right["x"]  # as the arrow keys say, in any direction
    for side in page.locator(".judge-answers button:visible").all():
        assert side.evaluate("one => one.scrollWidth - one.clientWidth") <= 1


def test_a_judge_changes_the_language_where_they_are(open_page, make_person, make_campaign):
    judge = make_person("judith")
    campaign = make_campaign(judge)
    page = open_page(judge)
    page.goto(f"/judge/{campaign.uid}/")
    page.locator("summary", has_text="judith").click()
    page.get_by_role("button", name="Deutsch").click()
    expect(page.get_by_role("button", name="Ähnlich")).to_be_visible()
    expect(page).to_have_url(re.compile(str(campaign.uid)))
    see_pair(page)
    press(page, "j")
    expect(page.locator(".judge-saved")).to_have_text("Alle Antworten gespeichert")
    page.goto("/judge/")
    expect(page.get_by_text("1 von 24 beantwortet")).to_be_visible()


def test_the_language_can_be_chosen_at_sign_in(open_page, transactional_db):
    page = open_page()
    page.goto("/accounts/login/")
    page.get_by_role("button", name="Español").click()
    expect(page.get_by_role("heading", name="Iniciar sesión")).to_be_visible()
    page.goto("/accounts/password/reset/")
    expect(page.get_by_role("heading", name="Contraseña olvidada")).to_be_visible()
