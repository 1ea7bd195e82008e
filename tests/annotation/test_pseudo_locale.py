"""No word that a judge reads is left in code: pages in a made-up language, all in brackets."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from allauth.mfa.totp.internal.auth import TOTP, generate_totp_secret
from django.conf import settings
from django.core import mail
from django.db import OperationalError
from django.test import Client, RequestFactory
from django.urls import reverse

from accounts.models import User
from accounts.services import mail_password_link
from accounts.sign_in.refused_page import refusal
from annotation.models import Campaign, CampaignState, Stage
from annotation.services import close_campaign, pause_campaign
from conditional.campaigns.services import ask_panel
from conditional.models import TemplateSet, TripletQuestion, TripletSet
from config.pages import errors
from config.pages.refusals import bad_request
from tests.clients import PASSWORD, answer_to, signed_in
from tests.conditional.cases import built_set, make_catalog
from tests.pseudo import LANGUAGE, words_left, write_language

GUIDELINES = "Zusehends allerlei Getier"
NAME = "Kampagnenname"
CSS = Path(settings.BASE_DIR, "static/css")
PEOPLE = ("judith", "judith@example.org", GUIDELINES, NAME)

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def language(tmp_path, settings):
    write_language(tmp_path)
    settings.LOCALE_PATHS = [tmp_path]
    settings.LANGUAGES = [("en", "English"), (LANGUAGE, "Pseudo")]


@pytest.fixture
def judge(db: None) -> User:
    return User.objects.create_user(
        "judith", email="judith@example.org", password=PASSWORD, language=LANGUAGE
    )


def stranger() -> Client:
    return Client(headers={"Accept-Language": LANGUAGE})


def check(reply: Any, *others: str, status: int = 200) -> None:
    assert reply.status_code == status
    assert f'<html lang="{LANGUAGE}"' in reply.text
    assert words_left(reply.text, {*PEOPLE, *others}) == []


def test_the_check_finds_words():
    page = '<p>⟦All <a href="/">of</a> it⟧ <b>Left</b></p><img alt="Bag"><i>J</i><p title="⟦x⟧ yz">'
    assert words_left(page) == ["Left", "alt: Bag", "title: yz"]


def test_style_sheets_say_no_word():
    sheets = "".join(path.read_text() for path in sorted(CSS.glob("**/*.css")))
    said = re.findall(r"\"([^\"]*)\"", "".join(re.findall(r"\bcontent:(.*?);", sheets)))
    assert len(said) > 10
    assert [words for words in said if re.search(r"[^\W\d_]{2}", words)] == []


def test_the_entrance(judge):
    browser = stranger()
    for name in ("account_login", "account_reset_password", "account_reset_password_done"):
        check(browser.get(reverse(name)))
    check(browser.get(reverse("account_signup")))
    check(browser.get(reverse("account_inactive")))
    check(browser.post(reverse("account_login"), {"login": "judith", "password": "wrong"}))
    check(browser.post(reverse("account_login"), {}))
    check(browser.post(reverse("account_reset_password"), {"email": "no address"}))
    browser.post(reverse("account_reset_password"), {"email": judge.email})
    letter = mail.outbox[-1]
    assert words_left(f"<p>{letter.subject}</p>", PEOPLE) == ["[testserver]"]
    link = re.search(r"http://testserver(\S+)", str(letter.body))
    assert link
    page = browser.get(link[1], follow=True)
    check(page)
    taken = {"password1": "123", "password2": "1234"}
    check(browser.post(page.redirect_chain[-1][0], taken))
    check(browser.get(re.sub(r"-[^/]+/$", "-x/", link[1]), follow=True))


def test_invitations(judge):
    mail_password_link(person=judge, link="http://x/y")
    body = mail.outbox[-1].body.replace("http://x/y", "")
    assert words_left(f"<p>{mail.outbox[-1].subject} {body}</p>", PEOPLE) == []


def test_ones_own_account(judge):
    browser = signed_in(judge)
    names = ("accounts:profile", "accounts:sessions", "account_change_password", "account_logout")
    for name in names:
        check(
            browser.get(reverse(name), headers={"User-Agent": "Firefox on Linux"}),
            "127.0.0.1",
            "Firefox",
            "Linux",
        )
    too_long = {"first_name": "x" * 200, "language": "fr"}
    check(browser.post(reverse("accounts:profile"), too_long), too_long["first_name"], "fr")
    check(browser.post(reverse("accounts:profile"), {}, follow=True))
    check(browser.post(reverse("account_change_password"), {"oldpassword": "x", "password1": "1"}))


def test_the_second_factor(judge):
    browser = signed_in(judge)
    unsure = reverse("account_reauthenticate")
    check(browser.get(unsure))
    check(browser.post(unsure, {"password": "wrong"}))
    browser.post(unsure, {"password": PASSWORD})
    for name in ("mfa_index", "mfa_activate_totp"):
        check(browser.get(reverse(name)))
    check(browser.post(reverse("mfa_activate_totp"), {"code": "1"}))
    TOTP.activate(judge, generate_totp_secret())
    for name in ("mfa_index", "mfa_deactivate_totp", "mfa_generate_recovery_codes"):
        check(browser.get(reverse(name)))
    for _ in range(2):
        check(browser.post(reverse("mfa_generate_recovery_codes"), follow=True))
        check(browser.get(reverse("mfa_index")))
        check(browser.get(reverse("mfa_generate_recovery_codes")))
    browser = stranger()
    page = browser.post(
        reverse("account_login"), {"login": "judith", "password": PASSWORD}, follow=True
    )
    check(page)
    assert page.redirect_chain[-1][0] == reverse("mfa_authenticate")
    check(browser.post(reverse("mfa_authenticate"), {"code": "1"}))


def test_errors(judge, monkeypatch, settings):
    browser = signed_in(judge)
    browser.raise_request_exception = False
    check(browser.get("/nowhere/"), status=404)
    check(browser.get(reverse("accounts:people")), status=403)
    strict = Client(enforce_csrf_checks=True, headers={"Accept-Language": LANGUAGE})
    check(strict.post(reverse("account_login")), status=403)
    monkeypatch.setitem(settings.ACCOUNT_RATE_LIMITS, "login", "1/m/ip")
    for _ in range(3):
        reply = stranger().post(reverse("account_login"), {"login": "x", "password": "y"})
    check(reply, status=429)
    request = RequestFactory().get("/")
    request.user, request.session = judge, browser.session
    for page, status in (
        (bad_request(request, ValueError()), 400),
        (errors.server_error(request), 500),
        (refusal(request, "", 403), 403),
    ):
        check(page, status=status)
    try:
        raise OperationalError
    except OperationalError:
        check(errors.server_error(request), status=503)


def _campaigns(judge: User, campaign_of: Any) -> list[Campaign]:
    pairs = campaign_of(panel=[judge], guidelines=GUIDELINES)
    catalog = make_catalog()
    triplets = TripletSet.objects.create(slug="t", name="T", catalog=catalog)
    anchor, *images = catalog.images.order_by("pk")[:4]
    TripletQuestion.objects.bulk_create(
        TripletQuestion(triplet_set=triplets, position=at, anchor=anchor, first=one, second=other)
        for at, (one, other) in enumerate(pairwise(images))
    )
    asked: tuple[TemplateSet | TripletSet, ...] = (built_set(catalog, n_templates=3), triplets)
    made = [
        pairs,
        *(
            ask_panel(asked_set=one, name=f"{NAME} {n}", panel=[judge])
            for n, one in enumerate(asked)
        ),
    ]
    Campaign.objects.filter(pk=pairs.pk).update(name=NAME)
    return made


def test_the_start_in_all_states_and_the_judging_page_of_each_kind(judge, campaign_of):
    browser = signed_in(judge)
    check(browser.get(reverse("annotation:home")))
    campaigns = _campaigns(judge, campaign_of)
    for campaign in campaigns:
        check(browser.get(reverse("annotation:judge", args=[campaign.uid])))
    home = reverse("annotation:home")
    check(browser.get(home))
    for stage in Stage:
        judge.memberships.update(stage=stage)
        check(browser.get(home))
    judge.memberships.update(stage=Stage.JUDGING, is_paused=True)
    check(browser.get(home))
    judge.memberships.update(is_paused=False)
    Campaign.objects.update(is_simulated=True)
    check(browser.get(home))
    pause_campaign(campaign=campaigns[0], by=None, reason="x")
    close_campaign(campaign=campaigns[1], by=None, reason="x")
    check(browser.get(home))
    assert {campaign.state for campaign in Campaign.objects.all()} == {*CampaignState} - {"draft"}


def test_refused_answers(judge, campaign_of):
    campaign = campaign_of(panel=[judge])
    browser = signed_in(judge)
    address = reverse("annotation:answers", args=[campaign.uid])
    [question, *_] = browser.get(reverse("annotation:next", args=[campaign.uid])).json()[
        "questions"
    ]

    def refusals(*answers: Any) -> list[str]:
        reply = browser.post(address, {"answers": answers}, content_type="application/json")
        return [row["message"] for row in reply.json()["results"]]

    messages = [
        *refusals(answer_to(str(campaign.uid))),
        *refusals(answer_to(question["uid"], guideline_version=9)),
        *refusals(answer_to(question["uid"], "skip", reason="")),
        *refusals(answer_to(question["uid"], "withdrawn", undoes=str(campaign.uid))),
    ]
    pause_campaign(campaign=campaign, by=None, reason="x")
    messages += refusals(answer_to(question["uid"]))
    close_campaign(campaign=campaign, by=None, reason="x")
    messages += refusals(answer_to(question["uid"]))
    assert all(messages)
    assert words_left(f"<p>{' '.join(messages)}</p>") == []
