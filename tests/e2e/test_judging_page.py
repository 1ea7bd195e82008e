"""The judging page in Chromium: both modes, keys, undo, reasons, guidelines, access."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import FloatRect, Page, expect

from accounts.models import User
from annotation.models import Campaign, Gold, Guideline, Judgement, JudgementEvent, Question
from annotation.services import close_campaign, open_campaign, pause_campaign
from tests.e2e.pages import (
    in_windows,
    overflow,
    see_pair,
    see_pictures,
    serious_problems,
    session_cookie,
)

PAUSE_MS = 200  # longer than the dead time after an answer
LOOK_MS = 5200  # longer than the page waits before the rest of a sheet is answered at once


@pytest.fixture
def judge(make_person: Callable[..., User]) -> User:
    return make_person("judith")


@pytest.fixture
def open_desk(
    open_page: Callable[..., Page], make_campaign: Callable[..., Campaign], judge: User
) -> Callable[..., tuple[Page, Campaign]]:
    """Open a campaign's judging page, with its first pair on screen."""

    def open_it(
        *, campaign: Campaign | None = None, mode: str = "pair", **options: Any
    ) -> tuple[Page, Campaign]:
        chosen = campaign or make_campaign(judge)
        page = open_page(judge, **options)
        page.goto(f"/judge/{chosen.uid}/")
        see_pair(page)
        if mode == "sheet":
            page.keyboard.press("m")
            expect(page.locator(".cell:not(:has(img))")).to_have_count(0)
            expect(page.locator(".cell").first).to_be_visible()
        return page, chosen

    return open_it


def press(page: Page, *keys: str) -> None:
    """Press keys one after the other, slowly enough for each to count."""
    for key in keys:
        see_pictures(page)
        page.keyboard.press(key)
        page.wait_for_timeout(PAUSE_MS)


def rest_is_different(page: Page, *, is_asked: bool = False) -> None:
    """Answer the rest of a sheet, once there was time to look at it."""
    page.wait_for_timeout(LOOK_MS)
    press(page, "r", *(["1"] if is_asked else []))


def all_saved(page: Page) -> None:
    expect(page.locator(".judge-saved")).to_have_text("All answers saved")


def meet(one: FloatRect, other: FloatRect) -> bool:
    """Whether two boxes have a spot in common."""
    return (
        one["x"] < other["x"] + other["width"]
        and other["x"] < one["x"] + one["width"]
        and one["y"] < other["y"] + other["height"]
        and other["y"] < one["y"] + one["height"]
    )


def top_of(page: Page, selector: str) -> float:
    box = page.locator(selector).bounding_box()
    assert box is not None
    return box["y"]


def bottom_of(page: Page, selector: str) -> float:
    box = page.locator(selector).bounding_box()
    assert box is not None
    return box["y"] + box["height"]


def answers_of(campaign: Campaign) -> list[tuple[str, str]]:
    """(answer, mode) of what counts, in the order of answering."""
    found = Judgement.objects.filter(question__campaign=campaign).order_by("event_id")
    return list(found.values_list("answer", "event__mode"))


def test_keys_and_their_twins_answer(open_desk):
    page, campaign = open_desk()
    press(page, "j", "f", "c", "ArrowRight", "ArrowLeft")
    all_saved(page)
    assert answers_of(campaign) == [
        ("similar", "pair"),
        ("different", "pair"),
        ("cant_tell", "pair"),
        ("similar", "pair"),
        ("different", "pair"),
    ]
    event = JudgementEvent.objects.first()
    assert event is not None
    assert (event.device, event.guideline_version) == ("keyboard", 1)
    assert event.shown_at is not None
    assert event.shown_at <= event.decided_at


def test_buttons_do_what_keys_do(open_desk):
    page, campaign = open_desk()
    for name in ("Similar", "Different", "Can’t tell"):
        see_pictures(page)
        page.locator(".judge-answers").get_by_role("button", name=name).click()
        page.wait_for_timeout(PAUSE_MS)
    all_saved(page)
    assert [answer for answer, _ in answers_of(campaign)] == ["similar", "different", "cant_tell"]
    assert set(JudgementEvent.objects.values_list("device", flat=True)) == {"mouse"}


def test_touch_answers(open_desk):
    page, campaign = open_desk(size="phone")
    see_pictures(page)
    page.get_by_role("button", name="Similar").tap()
    expect(page.locator(".strip li")).to_have_count(1)
    all_saved(page)
    assert answers_of(campaign) == [("similar", "pair")]
    assert set(JudgementEvent.objects.values_list("device", flat=True)) == {"touch"}


def test_held_keys_and_double_strikes_count_once(open_desk):
    page, campaign = open_desk()
    see_pictures(page)
    page.keyboard.down("j")
    for _ in range(5):
        page.keyboard.down("j")  # Playwright marks these as repeats
    page.keyboard.up("j")
    page.wait_for_timeout(PAUSE_MS)
    see_pictures(page)
    page.evaluate(  # a double strike, at once however busy the machine is
        """for (const key of ["f", "j"])
            document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }))"""
    )
    all_saved(page)
    assert [answer for answer, _ in answers_of(campaign)] == ["similar", "different"]


def test_a_held_enter_presses_a_button_once(open_desk):
    page, campaign = open_desk()
    page.locator(".judge-answers").get_by_role("button", name="Similar").focus()
    see_pictures(page)
    for _ in range(5):
        page.keyboard.down("Enter")  # the second to fifth are repeats
        page.wait_for_timeout(PAUSE_MS)
    page.keyboard.up("Enter")
    expect(page.locator(".strip li")).to_have_count(1)
    all_saved(page)
    assert answers_of(campaign) == [("similar", "pair")]


def test_skipping_asks_for_the_reason(open_desk):
    page, campaign = open_desk()
    press(page, "s")
    expect(page.get_by_role("dialog")).to_be_visible()
    press(page, "j")  # no shortcut beside a dialog
    page.keyboard.press("Escape")
    press(page, "s", "2")
    all_saved(page)
    events = JudgementEvent.objects.filter(question__campaign=campaign)
    assert list(events.values_list("answer", "reason")) == [("skip", "not_comparable")]


def test_undo_goes_back_as_far_as_one_likes(open_desk):
    page, campaign = open_desk()
    pair = page.locator(".pair")
    first = str(pair.get_attribute("data-question"))
    press(page, *"jfjfj")
    for _ in range(5):
        page.keyboard.press("u")
    expect(pair).to_have_attribute("data-question", first)
    all_saved(page)
    assert answers_of(campaign) == []
    assert JudgementEvent.objects.count() == 10
    press(page, "f")
    all_saved(page)
    assert answers_of(campaign) == [("different", "pair")]


def test_the_strip_leads_back_to_an_answer(open_desk):
    page, campaign = open_desk()
    press(page, *"jjj")
    expect(page.locator(".strip li")).to_have_count(3)
    page.get_by_role("button", name="Similar. Judge it again").nth(1).click()
    page.wait_for_timeout(PAUSE_MS)
    press(page, "f")
    all_saved(page)
    assert sorted(answer for answer, _ in answers_of(campaign)) == [
        "different",
        "similar",
        "similar",
    ]


def test_what_was_answered_before_a_reload_can_be_taken_back_after_it(open_desk):
    page, campaign = open_desk()
    press(page, *"jf")
    all_saved(page)
    page.reload()
    expect(page.locator(".strip li")).to_have_count(2)
    expect(page.locator(".judge-count")).to_have_text("2 of 24")
    press(page, "u")
    all_saved(page)
    assert answers_of(campaign) == [("similar", "pair")]


def test_where_all_is_done_there_is_nothing_to_ask_about_or_to_show_otherwise(
    open_desk, make_campaign, judge
):
    page, _ = open_desk(campaign=make_campaign(judge, n_queries=1, n_candidates=2))
    tools = [page.locator(f'.judge-tools [data-action="{name}"]') for name in ("comment", "mode")]
    for tool in tools:
        expect(tool).to_be_enabled()
    press(page, *"jj")
    expect(page.locator(".judge-state")).to_contain_text("All done")
    for tool in tools:
        expect(tool).to_be_disabled()
    press(page, "m")
    expect(page.locator('[data-part="mode-name"]')).to_have_text("Sheet")
    press(page, "u")
    for tool in tools:
        expect(tool).to_be_enabled()


def test_undo_goes_back_beyond_what_the_page_has_loaded(open_desk):
    page, campaign = open_desk()
    press(page, *"jf" * 12)
    expect(page.locator(".judge-state")).to_contain_text("All done")
    all_saved(page)
    count = page.locator(".judge-count")
    for left in (4, 0):  # the strip holds 20
        page.reload()
        expect(page.locator(".strip li").first).to_be_visible()
        for _ in range(24):
            if str(count.text_content()).startswith(f"{left} "):
                break
            page.keyboard.press("u")
            page.wait_for_timeout(100)
        expect(count).to_have_text(f"{left} of 24")
        all_saved(page)
        assert len(answers_of(campaign)) == left
    press(page, "u")
    expect(page.locator("[data-part=said]")).to_have_text("There is nothing to take back.")


def test_undo_reads_earlier_answers_when_those_on_the_page_are_used_up(open_desk):
    page, campaign = open_desk()
    press(page, *"jf" * 12)
    all_saved(page)
    page.reload()
    expect(page.locator(".strip li")).to_have_count(20)
    for _ in range(24):
        page.keyboard.press("u")
    expect(page.locator(".judge-count")).to_have_text("0 of 24")
    all_saved(page)
    assert answers_of(campaign) == []


def test_later_comes_back_at_the_end(open_desk, make_campaign, judge):
    page, campaign = open_desk(campaign=make_campaign(judge, n_queries=1, n_candidates=3))
    press(page, *"ljj")
    expect(page.locator(".judge-state")).to_be_hidden()
    press(page, "f")
    expect(page.locator(".judge-state")).to_contain_text("All done")
    assert sorted(answer for answer, _ in answers_of(campaign)) == [
        "different",
        "similar",
        "similar",
    ]
    expect(page.locator(".judge-count")).to_have_text("3 of 3")


def test_a_sheet_is_answered_with_arrows_keys_and_the_rest(open_desk):
    page, campaign = open_desk(mode="sheet")
    cells = page.locator(".cell")
    expect(cells).to_have_count(8)
    press(page, "j")  # first; the cursor moves on
    press(page, "ArrowRight", "f")
    expect(cells.nth(0)).to_have_attribute("data-answer", "similar")
    expect(cells.nth(2)).to_have_attribute("data-answer", "different")
    query = page.locator("[data-sheet-query] img").get_attribute("src")
    rest_is_different(page)
    expect(page.locator("[data-sheet-query] img")).not_to_have_attribute("src", str(query))
    all_saved(page)
    found = answers_of(campaign)
    assert sorted(found) == sorted([("similar", "sheet")] + [("different", "sheet")] * 7)


def test_undo_returns_to_the_sheet_before(open_desk):
    page, campaign = open_desk(mode="sheet")
    query = str(page.locator("[data-sheet-query] img").get_attribute("src"))
    press(page, "j")
    rest_is_different(page)
    expect(page.locator("[data-sheet-query] img")).not_to_have_attribute("src", query)
    press(page, "u")
    expect(page.locator(".cell[data-answer]")).to_have_count(7)
    press(page, "u")
    expect(page.locator(".cell[data-answer]")).to_have_count(6)
    press(page, "j", "j")
    all_saved(page)
    assert (
        sorted(answer for answer, _ in answers_of(campaign)) == ["different"] * 5 + ["similar"] * 3
    )


def test_a_sheet_also_shows_the_pictures_of_what_was_answered_before(open_desk):
    page, _ = open_desk()
    press(page, "f", "j", "f", "m")
    expect(page.locator(".cell")).to_have_count(8)
    expect(page.locator(".cell img")).to_have_count(8)
    expect(page.locator(".cell[data-answer] img")).to_have_count(3)
    expect(page.get_by_text("Picture missing")).to_have_count(0)


def test_the_rest_is_not_answered_before_it_was_in_view(open_desk, make_campaign, judge):
    campaign = make_campaign(judge, n_queries=2, n_candidates=40)
    page, _ = open_desk(campaign=campaign, mode="sheet")
    press(page, "r")
    assert answers_of(campaign) == []
    for _ in range(6):
        press(page, "r")
    rest_is_different(page, is_asked=True)
    all_saved(page)
    assert len(answers_of(campaign)) == 20  # as many as a judge may see ahead


def test_a_sheet_s_candidate_is_looked_at_closely_as_a_pair(open_desk):
    page, campaign = open_desk(mode="sheet")
    press(page, "ArrowRight", "z")
    expect(page.locator(".pair .frame img")).to_have_count(2)
    press(page, "j")
    expect(page.locator(".cell").nth(1)).to_have_attribute("data-answer", "similar")
    press(page, "z", "Escape")
    expect(page.locator(".cell")).to_have_count(8)
    all_saved(page)
    assert answers_of(campaign) == [("similar", "pair")]


def test_zoom_and_pan_are_linked(open_desk):
    page, _ = open_desk()
    transforms = "els => els.map(e => getComputedStyle(e).transform)"
    page.locator('[data-frame="query"]').hover()
    page.mouse.wheel(0, -400)
    one, two = page.locator(".zooms").evaluate_all(transforms)
    assert one == two != "matrix(1, 0, 0, 1, 0, 0)"
    page.mouse.down()
    page.mouse.move(300, 300)
    page.mouse.up()
    three, four = page.locator(".zooms").evaluate_all(transforms)
    assert three == four != one
    press(page, "f")  # the next pair starts unzoomed
    assert set(page.locator(".zooms").evaluate_all(transforms)) == {"matrix(1, 0, 0, 1, 0, 0)"}


def test_blink_shows_one_after_the_other_and_stops(open_desk):
    page, _ = open_desk()
    press(page, "b")
    off = page.locator(".pair-side.is-off")
    expect(off).to_have_count(1)
    first = off.locator("figcaption").inner_text()
    expect(off.locator("figcaption")).not_to_have_text(first)
    page.keyboard.press("Escape")
    expect(off).to_have_count(0)


def test_keys_can_be_changed_from_the_list_and_are_remembered(open_desk):
    page, campaign = open_desk()
    press(page, "?")
    page.get_by_label("Similar", exact=True).select_option("k")
    page.get_by_label("Different", exact=True).select_option("k")
    page.get_by_role("button", name="Save the keys").click()
    expect(page.get_by_role("alert").filter(has_text="already means")).to_be_visible()
    page.get_by_label("Different", exact=True).select_option("d")
    page.get_by_role("button", name="Save the keys").click()
    expect(page.get_by_role("dialog")).to_be_hidden()
    press(page, "j", "k")
    page.reload()
    expect(page.locator(".pair .frame img")).to_have_count(2)
    press(page, "d")
    all_saved(page)
    assert [answer for answer, _ in answers_of(campaign)] == ["similar", "different"]


def test_guidelines_are_one_key_away(open_desk):
    page, _ = open_desk()
    press(page, "g")
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("heading", name="What counts")).to_be_visible()
    expect(dialog).to_contain_text("Version 1")
    assert serious_problems(page) == []


def test_two_tabs_do_not_ask_the_same_pair_twice(open_desk):
    page, campaign = open_desk()
    other = page.context.new_page()
    other.goto(f"/judge/{campaign.uid}/")
    expect(other.locator(".pair .frame img")).to_have_count(2)
    for _ in range(3):
        press(page, "j")
        press(other, "f")
    all_saved(page)
    all_saved(other)
    assert (
        sorted(answer for answer, _ in answers_of(campaign)) == ["different"] * 3 + ["similar"] * 3
    )
    assert JudgementEvent.objects.count() == 6


def test_the_rest_of_a_sheet_leaves_the_answers_of_another_tab_alone(open_desk):
    page, campaign = open_desk(mode="sheet")
    press(page, *["ArrowRight"] * 7)  # the pair under the cursor is not answered elsewhere
    other = page.context.new_page()
    other.goto(f"/judge/{campaign.uid}/")
    expect(other.locator(".cell img")).to_have_count(8)
    press(other, "j", "j", "j")
    all_saved(other)
    expect(page.locator('.cell[data-answer="similar"]')).to_have_count(3)
    page.bring_to_front()
    rest_is_different(page)
    expect(page.locator(".judge-count")).to_have_text("8 of 24")
    all_saved(page)
    found = sorted(answer for answer, _ in answers_of(campaign))
    assert found == ["different"] * 5 + ["similar"] * 3
    assert JudgementEvent.objects.count() == 8


def test_nothing_is_stored_as_an_answer_of_who_signed_in_since(
    open_desk, make_campaign, make_person, judge, live_server
):
    second = make_person("second")
    campaign = make_campaign(judge, second)
    page, _ = open_desk(campaign=campaign)
    context = page.context
    context.route("**/answers", lambda route: route.abort())
    press(page, "j")
    bar = page.locator(".judge-saved")
    expect(bar).to_contain_text("1 answer not saved yet")
    own = context.cookies()
    context.add_cookies([session_cookie(second, live_server.url)])
    context.unroute("**/answers")
    expect(bar).to_contain_text("Somebody else is signed in here now")
    assert JudgementEvent.objects.count() == 0
    context.add_cookies(own)
    page.evaluate("dispatchEvent(new Event('online'))")
    all_saved(page)
    assert set(JudgementEvent.objects.values_list("member__annotator__username", flat=True)) == {
        "judith"
    }


def test_zoomed_pictures_are_panned_by_keyboard_and_it_answers_nothing(open_desk):
    page, campaign = open_desk()
    transforms = "els => els.map(e => e.style.transform)"
    press(page, "z")
    one, two = page.locator(".zooms").evaluate_all(transforms)
    press(page, "Shift+ArrowRight", "Shift+ArrowDown")
    three, four = page.locator(".zooms").evaluate_all(transforms)
    assert three == four != one == two
    press(page, "Shift+ArrowLeft", "Shift+ArrowUp")
    assert page.locator(".zooms").evaluate_all(transforms) == [one, two]
    assert JudgementEvent.objects.count() == 0
    press(page, "ArrowRight")
    all_saved(page)
    assert answers_of(campaign) == [("similar", "pair")]


def test_pictures_that_did_not_come_are_asked_for_again(open_page, make_campaign, judge):
    campaign = make_campaign(judge)
    page = open_page(judge)
    page.route("**/view", lambda route: route.abort())
    page.goto(f"/judge/{campaign.uid}/")
    expect(page.locator(".pair .is-broken")).to_have_count(2, timeout=20_000)
    page.keyboard.press("j")
    page.unroute("**/view")
    see_pair(page)
    page.route("**/thumb", lambda route: route.abort())
    press(page, "m")
    missing = page.get_by_text("Picture missing")
    expect(missing).to_have_count(8, timeout=20_000)
    page.keyboard.press("f")
    page.wait_for_timeout(PAUSE_MS)
    page.unroute("**/thumb")
    page.evaluate("dispatchEvent(new Event('online'))")
    expect(page.locator(".cell img")).to_have_count(8, timeout=20_000)
    expect(missing).to_have_count(0)
    assert JudgementEvent.objects.count() == 0
    press(page, "j")
    all_saved(page)
    assert answers_of(campaign) == [("similar", "sheet")]


def test_a_pen_can_choose_the_reason_for_skipping(open_desk):
    page, _ = open_desk()
    press(page, "s")
    page.get_by_role("button", name="Bad image").evaluate(
        "button => button.dispatchEvent("
        "new PointerEvent('click', {pointerType: 'pen', bubbles: true}))"
    )
    all_saved(page)
    assert set(JudgementEvent.objects.values_list("device", "reason")) == {("touch", "bad_image")}


@in_windows
@pytest.mark.parametrize("mode", ["pair", "sheet"])
def test_both_modes_are_accessible(open_desk, size, theme, mode):
    page, _ = open_desk(size=size, theme=theme, mode=mode)
    press(page, "j", "f")
    assert serious_problems(page) == []
    assert overflow(page) <= 0
    press(page, "?")
    assert serious_problems(page) == []


def test_a_closed_campaign_takes_no_answers_and_says_so(open_desk, make_campaign, judge):
    campaign = make_campaign(judge, n_queries=1, n_candidates=3)
    page, _ = open_desk(campaign=campaign)
    close_campaign(campaign=campaign, by=None, reason="Enough.")
    press(page, "j")
    parked = page.get_by_role("region", name="Answers that were not accepted")
    expect(parked).to_contain_text(re.compile("closed", re.IGNORECASE))
    expect(page.locator(".judge-state")).to_contain_text("This campaign is closed")
    page.reload()
    expect(parked).to_contain_text(re.compile("closed", re.IGNORECASE))
    expect(page.locator(".judge-state")).to_contain_text("This campaign is closed")
    bar = page.locator(".judge-saved")
    expect(bar).to_have_text("Not accepted: 1")
    expect(page.get_by_role("button", name="Undo")).to_be_disabled()
    page.keyboard.press("u")
    page.wait_for_timeout(PAUSE_MS)
    expect(parked.get_by_role("listitem")).to_have_count(1)
    expect(page.locator(".judge-state")).to_be_visible()
    page.on("dialog", lambda dialog: dialog.accept())
    parked.get_by_role("button", name="Remove").click()
    all_saved(page)
    assert answers_of(campaign) == []


def test_all_answers_of_a_closed_campaign_are_in_sight_with_their_buttons(
    open_desk, make_campaign, judge
):
    campaign = make_campaign(judge, n_queries=1, n_candidates=4)
    page, _ = open_desk(campaign=campaign)
    page.route("**/answers", lambda route: route.abort())
    press(page, *"jf")
    close_campaign(campaign=campaign, by=None, reason="Enough.")
    page.unroute("**/answers")
    page.evaluate("dispatchEvent(new Event('online'))")
    parked = page.get_by_role("region", name="Answers that were not accepted")
    expect(parked.get_by_role("listitem")).to_have_count(2)
    for button in parked.get_by_role("button").all():
        expect(button).to_be_in_viewport(ratio=1)
    assert bottom_of(page, ".judge-notices") <= top_of(page, ".judge-state")


def test_a_pause_keeps_answers_until_the_campaign_is_open_again(open_desk):
    page, campaign = open_desk()
    pause_campaign(campaign=campaign, by=None, reason="Lunch.")
    press(page, "j")
    bar = page.locator(".judge-saved")
    expect(bar).to_contain_text("1 answer not saved yet")
    expect(page.locator(".judge-state")).to_contain_text("This campaign is paused")
    expect(page.locator("[data-action=similar]")).to_be_disabled()
    assert answers_of(campaign) == []
    open_campaign(campaign=campaign, reason="Lunch is over.")
    page.evaluate("dispatchEvent(new Event('online'))")  # the button may be gone by itself
    all_saved(page)
    assert answers_of(campaign) == [("similar", "pair")]
    see_pair(page)
    expect(page.locator(".judge-count")).to_have_text("1 of 24")


@pytest.mark.parametrize("size", ["desktop", "phone"])
@pytest.mark.parametrize(
    "language", ["de", *(pytest.param(one, marks=pytest.mark.daily) for one in ("en", "es"))]
)
def test_unsaved_answers_are_told_whole_and_move_no_picture(
    open_page, make_campaign, make_person, size, language
):
    judge = make_person("judith", language=language)
    campaign = make_campaign(judge)
    Campaign.objects.update(name="Coats, bags and jumpers, autumn and winter, all brands")
    page = open_page(judge, size=size)
    page.goto(f"/judge/{campaign.uid}/")
    see_pair(page)
    press(page, *"jffjj")
    bar = page.locator(".judge-saved")
    expect(bar).to_have_attribute("data-is", "saved")
    expect(page.locator(".judge-eta")).not_to_be_empty()
    before = page.locator(".pair").bounding_box()
    page.context.set_offline(True)
    press(page, "f")
    expect(bar).to_have_attribute("data-is", "retrying")
    assert page.locator(".pair").bounding_box() == before
    words = bar.locator("span")
    assert words.evaluate("one => one.scrollHeight - one.clientHeight") <= 1
    assert words.evaluate("one => one.scrollWidth - one.clientWidth") <= 1
    others = ":is(.judge-progress > *, .judge-tools .button)"
    boxes = [words.bounding_box(), *(one.bounding_box() for one in page.locator(others).all())]
    shown = [box for box in boxes if box]
    assert not [1 for one in shown[1:] if meet(shown[0], one)]
    assert overflow(page) <= 0
    assert serious_problems(page) == []


def test_a_campaign_without_guidelines_says_so(open_desk, make_campaign, judge):
    page, _ = open_desk(campaign=make_campaign(judge, guidelines=""))
    page.keyboard.press("g")
    expect(page.locator("#guidelines")).to_contain_text("There are no guidelines.")
    assert serious_problems(page) == []


def test_training_explains_each_answer_before_it_goes_on(open_page, make_campaign, judge):
    draft = make_campaign(judge, is_open=False)
    pair = draft.questions.first()
    assert pair is not None
    taught = Question.objects.create(
        campaign=draft, query=pair.query, candidate=pair.candidate, kind="training", position=0
    )
    Gold.objects.create(question=taught, answer="similar", why="The same cut and the same collar.")
    open_campaign(campaign=draft)
    page = open_page(judge)
    page.goto(f"/judge/{draft.uid}/")
    see_pair(page)
    expect(page.locator(".judge-bar")).to_contain_text("Training")
    name = str(page.locator(".pair").get_attribute("data-question"))
    press(page, "f")
    feedback = page.locator(".judge-feedback")
    expect(feedback).to_contain_text("Expected: Similar")
    expect(feedback).to_contain_text("The same cut and the same collar.")
    assert serious_problems(page) == []
    press(page, "Enter")
    expect(feedback).to_be_hidden()
    expect(page.locator(".pair")).not_to_have_attribute("data-question", name)
    expect(page.locator(".judge-bar")).not_to_contain_text("Training")


def test_new_guidelines_are_read_before_the_next_pair_and_named_by_later_answers(
    open_desk, make_campaign, judge
):
    campaign = make_campaign(judge, n_queries=5, n_candidates=6)
    page, _ = open_desk(campaign=campaign)
    press(page, "j")
    all_saved(page)
    Guideline.objects.create(campaign=campaign, version=2, text="# Stricter now")
    Campaign.objects.filter(pk=campaign.pk).update(guideline_version=2)
    press(page, "f")
    expect(page.get_by_role("heading", name="Stricter now")).to_be_visible()
    for key in ("Escape", "Escape", "j"):
        page.keyboard.press(key)  # neither closes it nor answers
        page.wait_for_timeout(PAUSE_MS)
    assert Judgement.objects.count() == 2
    page.reload()  # nor does this
    expect(page.get_by_role("heading", name="Stricter now")).to_be_visible()
    page.get_by_role("button", name="I have read version 2").click()
    expect(page.locator("dialog[open]")).to_have_count(0)
    see_pair(page)
    press(page, "j")
    all_saved(page)
    versions = JudgementEvent.objects.order_by("pk").values_list("guideline_version", flat=True)
    assert list(versions) == [1, 1, 2]
    page.reload()
    see_pair(page)
    expect(page.locator("dialog[open]")).to_have_count(0)


@pytest.mark.daily  # a hundred answers, as fast as they are taken
def test_a_break_is_proposed_after_a_hundred_answers_and_can_be_declined(
    open_desk, make_campaign, judge
):
    page, _ = open_desk(campaign=make_campaign(judge, n_queries=5, n_candidates=21))
    press(page, *"f" * 100)
    notice = page.get_by_text("100 answers")
    expect(notice).to_be_visible()
    press(page, "f")
    expect(notice).to_be_hidden()


@pytest.mark.parametrize("size", ["desktop", "phone"])
def test_a_break_notice_covers_no_picture_and_goes_with_an_answer_or_escape(open_desk, size):
    page, campaign = open_desk(size=size)
    notice = page.locator("[data-part=break]")
    before = page.locator(".pair").bounding_box()

    def propose() -> None:
        page.locator("[data-part=break-text]").evaluate(
            "one => one.textContent = 'Rest. '.repeat(30)"
        )
        notice.evaluate("one => one.hidden = false")

    propose()
    assert bottom_of(page, ".judge-notices") <= top_of(page, ".pair")
    see_pair(page)
    assert overflow(page) <= 0
    assert serious_problems(page) == []
    page.keyboard.press("Escape")
    expect(notice).to_be_hidden()
    assert page.locator(".pair").bounding_box() == before
    propose()
    notice.get_by_role("button", name="Go on").click()
    expect(notice).to_be_hidden()
    propose()
    press(page, "j")
    expect(notice).to_be_hidden()
    all_saved(page)
    assert answers_of(campaign) == [("similar", "pair")]


def test_a_judge_without_campaigns_is_told_what_comes(open_page, judge):
    page = open_page(judge)
    page.goto("/judge/")
    expect(page.get_by_role("heading", name="Nothing to judge yet")).to_be_visible()
    assert serious_problems(page) == []


def test_a_judge_finds_their_campaign(open_page, make_campaign, judge):
    make_campaign(judge)
    page = open_page(judge, size="phone")
    page.goto("/")
    expect(page.get_by_role("heading", name="Coats and bags, autumn")).to_be_visible()
    assert serious_problems(page) == []
    page.get_by_role("link", name="Start judging").click()
    see_pair(page)
