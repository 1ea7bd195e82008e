"""A judge who holds a key is stopped by the page and flagged; an admin reads, pauses, reverses."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from accounts.models import Role
from annotation.models import Judgement, PanelMember
from annotation.services import import_judgements
from tests.e2e.pages import overflow, see_pair, serious_problems
from tests.worlds import rows_of

HELD = 60  # presses that the system repeats while a key is down


@pytest.mark.daily
def test_a_held_key_is_stopped_and_flagged_and_the_admin_looks_pauses_and_reverses(
    make_person, make_campaign, open_page
):
    judge, other, admin = make_person("judith"), make_person("otto"), make_person("ada", Role.ADMIN)
    campaign = make_campaign(judge, other, n_queries=2, n_candidates=14)
    import_judgements(campaign=campaign, rows=rows_of(campaign, "ss ss ds " + ".s " * 20))
    given = Judgement.objects.count()
    page = open_page(judge)
    page.goto(f"/judge/{campaign.uid}/")
    see_pair(page)
    page.keyboard.press("m")
    expect(page.locator(".cell:not(:has(img))")).to_have_count(0)
    for _ in range(HELD):
        page.keyboard.down("r")  # held: all but the first are repeats
    expect(page.locator(".judge-toast")).to_contain_text("Holding a key answers nothing")
    page.keyboard.up("r")
    for _ in range(HELD // 4):
        page.keyboard.press("r")  # hammered
    assert Judgement.objects.count() == given
    page.wait_for_timeout(5200)
    page.keyboard.press("r")
    expect(page.get_by_role("heading", name="different?")).to_be_visible()
    page.keyboard.down("r")
    page.keyboard.press("Enter")  # the button that has the focus looks again
    expect(page.locator("dialog[open]")).to_have_count(0)
    assert Judgement.objects.count() == given
    assert PanelMember.objects.get(annotator=judge).n_stops >= 3

    desk = open_page(admin)
    desk.goto(f"/campaigns/{campaign.slug}/quality/")
    flag = desk.locator("tr", has_text="Held a key")
    expect(flag).to_contain_text("judith")
    flag.get_by_role("link", name="Read the answers").click()
    expect(desk.locator(".review-table tbody tr")).to_have_count(3)
    assert overflow(desk) <= 0
    assert serious_problems(desk) == []
    desk.go_back()
    flag.get_by_text("Pause", exact=False).first.click()
    flag.get_by_label("Why").fill("held a key")
    flag.get_by_role("button", name="Pause judith").click()
    expect(desk.get_by_text("judith is paused")).to_be_visible()
    page.reload()
    expect(page.get_by_text("Your judging is paused")).to_be_visible()
    desk.goto(f"/results/{campaign.slug}/without/1/")
    expect(desk.locator(".tile", has_text="would become similar").locator("dd")).to_have_text("1")
    desk.goto(f"/campaigns/{campaign.slug}/panel/")
    desk.get_by_role("button", name="Resume judith").click()
    expect(desk.get_by_text("judith may go on")).to_be_visible()
    page.reload()
    expect(page.locator("[data-view]:not([hidden])")).to_be_visible()
