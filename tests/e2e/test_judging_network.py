"""Judging on bad lines: how soon the next pair is painted; no answer is lost or doubled."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

import pytest
from django.contrib.sessions.models import Session
from playwright.sync_api import BrowserContext, Page, expect

from annotation.models import JudgementEvent, PanelMember
from tests.e2e.pages import see_pictures, session_cookie
from tests.e2e.pictures import REAL_SIDE
from tests.waiting import wait_until

LATENCY_MS = 200
N_PAIRS = int(os.environ.get("LOOKALIKE_PAINT_PAIRS", "40"))  # benchmarks/painting.py asks for 200
DEAD_MS = 200  # a little more than the time in which a second strike is ignored

# From the key going down to the frame after the change; the pictures that are then on screen must
# be those of another pair, whole. Beside it, what the browser itself measures (Event Timing).
MEASURE = """
() => {
  window.measured = [];
  window.timed = [];
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) if (entry.name === "keydown") timed.push(entry.duration);
  }).observe({ type: "event", durationThreshold: 16 });
  const pair = document.querySelector(".pair");
  addEventListener("keydown", (event) => {
    const before = pair.dataset.question;
    requestAnimationFrame(() => {
      const channel = new MessageChannel();
      channel.port1.onmessage = () => {
        const images = [...pair.querySelectorAll(".frame img")];
        measured.push({
          ms: performance.now() - event.timeStamp,
          isNext: pair.dataset.question !== before,
          isWhole: images.length === 2 && images.every((i) => i.complete && i.naturalWidth > 0),
        });
      };
      channel.port2.postMessage(null);
    });
  }, { capture: true });
}
"""


def slow_down(page: Page, latency: int) -> None:
    """Add latency to every request, as a distant server would."""
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")
    session.send(
        "Network.emulateNetworkConditions",
        {
            "offline": False,
            "latency": latency,
            "downloadThroughput": -1,
            "uploadThroughput": -1,
        },
    )


def saved(page: Page, timeout: float = 60_000) -> None:
    expect(page.locator(".judge-saved")).to_have_text("All answers saved", timeout=timeout)


def answer(page: Page, *keys: str) -> None:
    """Press keys one after the other, each on a pair of its own."""
    pair = page.locator(".pair")
    for key in keys:
        see_pictures(page)
        before = str(pair.get_attribute("data-question"))
        page.wait_for_timeout(DEAD_MS)
        page.keyboard.press(key)
        expect(pair).not_to_have_attribute("data-question", before)


def saved_uuids(campaign: Any) -> list[str]:
    events = JudgementEvent.objects.filter(question__campaign=campaign)
    return [str(uuid) for uuid in events.values_list("uuid", flat=True)]


def share(values: list[float], q: float) -> float:
    return sorted(values)[min(len(values) - 1, int(q * len(values)))]


def test_the_next_pair_is_on_screen_one_frame_after_the_key_at_200_ms_latency(
    open_page, make_person, make_campaign
):
    judge = make_person("judith")
    campaign = make_campaign(judge, n_queries=10, n_candidates=N_PAIRS // 10 + 1, side=REAL_SIDE)
    page = open_page(judge)
    slow_down(page, LATENCY_MS)
    page.goto(f"/judge/{campaign.uid}/")
    expect(page.locator(".pair .frame img")).to_have_count(2)
    page.wait_for_timeout(1500)  # a judge reads the guidelines first
    page.evaluate(MEASURE)
    judge_and_measure(page)
    assert PanelMember.objects.get(campaign=campaign).n_done == N_PAIRS


def judge_and_measure(page: Page) -> None:
    """Answer `N_PAIRS` pairs, check what was on screen after each, and print the times."""
    for i in range(N_PAIRS):
        page.keyboard.press("j" if i % 3 else "f")
        page.wait_for_timeout(DEAD_MS)
    saved(page)
    measured, timed = page.evaluate("[measured, timed]")
    assert len(measured) == N_PAIRS
    assert all(row["isNext"] and row["isWhole"] for row in measured)
    spent = [row["ms"] for row in measured]
    figures = {
        "n": len(spent),
        "p50_ms": round(share(spent, 0.5), 1),
        "p95_ms": round(share(spent, 0.95), 1),
        "max_ms": round(max(spent), 1),
        "event_timing_p95_ms": share([0.0] * (N_PAIRS - len(timed)) + timed, 0.95),
        "latency_ms": LATENCY_MS,
        "load": round(os.getloadavg()[0], 1),
    }
    sys.stderr.write(f"\nkey to paint: {json.dumps(figures)}\n")


@pytest.fixture
def desk(open_page, make_person, make_campaign):
    """A judge's page with 121 pairs, of which the next twenty have been fetched."""
    judge = make_person("judith")
    campaign = make_campaign(judge, n_queries=11, n_candidates=11)
    page = open_page(judge)
    page.goto(f"/judge/{campaign.uid}/")
    expect(page.locator(".pair .frame img")).to_have_count(2)
    return page, campaign


def test_all_that_is_held_can_be_judged_without_network_and_arrives_once(desk):
    page, campaign = desk
    page.wait_for_load_state("networkidle")
    context: BrowserContext = page.context
    context.set_offline(True)
    answer(page, *"jf" * 9, "j")
    see_pictures(page)
    page.wait_for_timeout(DEAD_MS)
    page.keyboard.press("f")
    expect(page.get_by_text("No connection", exact=True)).to_be_visible()
    expect(page.get_by_text("Your answers are kept on this device")).to_be_visible()
    bar = page.locator(".judge-saved")
    expect(bar).to_contain_text("20 answers not saved yet")
    expect(bar).to_contain_text("Kept on this device")
    assert saved_uuids(campaign) == []
    context.set_offline(False)
    saved(page)
    uuids = saved_uuids(campaign)
    assert len(uuids) == len(set(uuids)) == 20
    assert PanelMember.objects.get(campaign=campaign).n_done == 20
    expect(page.locator(".judge-count")).to_have_text("20 of 121")
    answer(page, "j")  # and on it goes


# Writing that has begun and never ends, as on a busy disk: it is undone when the tab closes.
BUSY_DISK = """
() => {
  IDBObjectStore.prototype.put = function () {
    const again = () => (this.count().onsuccess = again);
    again();
  };
}
"""


@pytest.mark.parametrize(
    ("disk", "words"),
    [("() => {}", "5 answers not saved yet"), (BUSY_DISK, "Saving 5 answers")],
    ids=["idle", "busy"],
)
def test_answers_outlive_a_closed_tab(desk, disk, words):
    page, campaign = desk
    page.evaluate(disk)
    page.route("**/answers", lambda route: route.abort())
    answer(page, *"jjjjj")
    expect(page.locator(".judge-saved")).to_contain_text(words)
    context = page.context
    page.close()
    assert saved_uuids(campaign) == []
    again = context.new_page()
    again.goto(f"/judge/{campaign.uid}/")
    saved(again)
    assert len(saved_uuids(campaign)) == 5
    expect(again.locator(".strip li")).to_have_count(5)
    expect(again.locator(".judge-count")).to_have_text("5 of 121")


def test_a_lost_reply_doubles_nothing(desk):
    page, campaign = desk
    n_lost = 0

    def lose(route: Any) -> None:
        nonlocal n_lost
        if n_lost < 3:
            n_lost += 1
            route.fetch()  # the server takes it, and the reply is lost
            route.abort()
        else:
            route.continue_()

    page.route("**/answers", lose)
    answer(page, *"ffff")
    saved(page)
    assert n_lost == 3
    assert len(saved_uuids(campaign)) == 4


def test_a_second_tab_sends_what_the_first_has_left(desk):
    page, campaign = desk
    page.route("**/answers", lambda route: route.abort())
    answer(page, *"jjj")
    other = page.context.new_page()
    other.goto(f"/judge/{campaign.uid}/")
    saved(other)
    saved(page)
    assert len(saved_uuids(campaign)) == 3


def test_somebody_who_was_signed_out_keeps_their_answers(desk, live_server):
    page, campaign = desk
    see_pictures(page)
    Session.objects.all().delete()
    page.keyboard.press("j")
    expect(page.locator(".judge-saved")).to_contain_text("You are signed out")
    judge = PanelMember.objects.get(campaign=campaign).annotator

    def signs_in_again() -> bool:
        """Whether the answer is stored then; a picture that still comes takes the cookie away."""
        page.context.add_cookies([session_cookie(judge, live_server.url)])
        page.evaluate("dispatchEvent(new Event('online'))")  # the button may be gone by itself
        page.wait_for_timeout(1000)
        return bool(saved_uuids(campaign))

    wait_until(signs_in_again)
    saved(page)
    assert len(saved_uuids(campaign)) == 1


def test_another_person_on_the_same_browser_sends_nothing_of_the_first(
    open_page, make_person, make_campaign, live_server
):
    first, second = make_person("first"), make_person("second")
    campaign = make_campaign(first, second)
    page = open_page(first)
    context = page.context
    context.route("**/answers", lambda route: route.abort())

    def open_as(judge: Any) -> Page:
        context.add_cookies([session_cookie(judge, live_server.url)])
        window: Page = context.new_page()
        window.goto(f"/judge/{campaign.uid}/")
        expect(window.locator(".pair .frame img")).to_have_count(2)
        return window

    page = open_as(first)
    see_pictures(page)
    page.keyboard.press("j")
    expect(page.locator(".judge-saved")).to_contain_text("1 answer not saved yet")
    page.close()
    context.unroute("**/answers")

    page = open_as(second)
    saved(page)
    expect(page.locator(".strip li")).to_have_count(0)
    page.close()
    assert not JudgementEvent.objects.filter(member__annotator=second).exists()

    page = open_as(first)
    saved(page)
    (event,) = JudgementEvent.objects.filter(question__campaign=campaign)
    assert event.member.annotator == first
