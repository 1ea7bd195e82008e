"""A judge asks, an admin changes the rules for everybody, the judge reads them and goes on."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from accounts.models import Role
from annotation.models import Comment, Guideline, Judgement, JudgementEvent, PanelMember
from tests.e2e.pages import overflow, see_pair, serious_problems


def start_judging(page: Page) -> None:
    """See guidelines and keys once, and try a key."""
    expect(page.get_by_role("button", name="Start judging")).to_be_focused()
    page.keyboard.press("j")
    expect(page.locator('[data-key="j"]')).to_have_attribute("data-is-tried", "yes")
    assert serious_problems(page) == []
    page.get_by_role("button", name="Start judging").click()
    see_pair(page)
    assert Judgement.objects.count() == 0
    assert PanelMember.objects.get().read_version == 1


def ask(page: Page) -> None:
    """Ask by key, without network at first."""
    shown = page.locator(".pair").get_attribute("data-question")
    page.context.set_offline(True)
    page.keyboard.press("q")
    page.keyboard.type("Does a hood count?")
    assert serious_problems(page) == []
    page.keyboard.press("Enter")
    expect(page.locator(".judge-toast")).to_contain_text("Sent to the admins")
    assert page.locator(".pair").get_attribute("data-question") == shown
    page.context.set_offline(False)
    expect(page.locator(".judge-saved")).to_have_text("All answers saved")


def make_it_a_rule(desk: Page) -> None:
    """Reply from the overview, with a rule for everybody."""
    desk.locator(".attention-line", has_text="1 from judith").get_by_role("link").click()
    assert serious_problems(desk) == []
    desk.get_by_role("link", name="Does a hood count?").click()
    expect(desk.locator(".campaign-pair img")).to_have_count(2)
    desk.get_by_label("Reply", exact=True).fill("It does not: see the new rule.")
    desk.get_by_text("Change the guidelines with it").click()
    desk.get_by_label("This is a rule for everybody").check()
    desk.locator("#id_text").fill("# What counts\n\nThe same cut. A hood does not count.")
    expect(desk.locator("#changes ins")).to_have_text("The same cut. A hood does not count.")
    assert serious_problems(desk) == []
    assert overflow(desk) <= 0
    desk.get_by_role("button", name="Reply", exact=True).click()
    expect(desk.get_by_text("Guidelines version 2 is in force")).to_be_visible()
    assert Guideline.objects.count() == 2


def read_both(page: Page) -> None:
    """Read rule and reply before the next pair, and go on."""
    page.keyboard.press("f")
    dialog = page.locator("#guidelines")
    expect(dialog.locator("ins")).to_contain_text(["The same cut. A hood does not count."])
    assert serious_problems(page) == []
    page.keyboard.press("j")
    page.get_by_role("button", name="I have read version 2").click()
    expect(page.get_by_text("It does not: see the new rule.")).to_be_visible()
    see_pair(page)
    notice, pair = (
        page.locator(".judge-notices").bounding_box(),
        page.locator(".pair").bounding_box(),
    )
    assert notice is not None
    assert pair is not None
    assert notice["y"] + notice["height"] <= pair["y"]
    page.keyboard.press("Escape")
    expect(page.get_by_text("It does not: see the new rule.")).to_be_hidden()
    assert list(JudgementEvent.objects.values_list("guideline_version", flat=True)) == [1]
    see_pair(page)
    page.keyboard.press("j")
    expect(page.locator(".judge-count")).to_have_text("2 of 12")
    expect(page.locator(".judge-saved")).to_have_text("All answers saved")
    versions = JudgementEvent.objects.order_by("pk").values_list("guideline_version", flat=True)
    assert list(versions) == [1, 2]
    assert Comment.objects.get().seen_at is not None
    page.goto("/judge/inbox/")
    expect(page.get_by_text("It is in version 2")).to_be_visible()
    assert serious_problems(page) == []


@pytest.mark.daily
def test_a_question_becomes_a_rule_that_the_judge_reads_before_the_next_pair(
    make_person, make_campaign, open_page
):
    judge, admin = make_person("judith"), make_person("ada", Role.ADMIN)
    campaign = make_campaign(judge, n_queries=2, n_candidates=6, is_read=False)
    desk = open_page(admin)
    desk.goto("/")
    page = open_page(judge)
    page.goto(f"/judge/{campaign.uid}/")
    start_judging(page)
    ask(page)
    asks = desk.locator("#attention")
    expect(asks.get_by_text("1 from judith")).to_be_visible()  # on a page that was open before
    expect(asks).to_have_attribute("hx-trigger", "every 4s")  # so it is said within five seconds
    assert Comment.objects.count() == 1
    make_it_a_rule(desk)
    read_both(page)


def test_a_flag_is_taken_back_by_undo_and_a_letter_typed_into_a_question_answers_nothing(
    make_person, make_campaign, open_page
):
    judge = make_person("judith")
    campaign = make_campaign(judge)
    page = open_page(judge, size="phone", theme="dark")
    page.goto(f"/judge/{campaign.uid}/")
    see_pair(page)
    page.get_by_role("button", name="Ask").click()
    page.keyboard.type("jjff")
    page.keyboard.press("Escape")
    page.keyboard.press("q")
    expect(page.get_by_label("Your question or comment")).to_have_value("jjff")  # kept
    page.get_by_label("Your question or comment").fill("")
    assert overflow(page) <= 0
    page.keyboard.press("Enter")
    expect(page.locator(".judge-toast")).to_contain_text("Flagged")
    page.keyboard.press("u")
    expect(page.locator(".judge-toast")).to_contain_text("taken back")
    expect(page.locator(".judge-saved")).to_have_text("All answers saved")
    assert Comment.objects.get().withdrawn_at is not None
    assert Judgement.objects.count() == 0
