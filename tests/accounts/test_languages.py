"""In which language pages and mails are."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.core import mail
from django.test import Client
from django.urls import reverse

from accounts.invitations.lines import parse_lines
from accounts.invitations.services import invite_people
from accounts.models import Role, User
from accounts.services import mail_password_link, password_link
from tests.clients import PASSWORD, signed_in

GERMAN = {"Accept-Language": "de-AT,de;q=0.9,en;q=0.5"}

pytestmark = pytest.mark.django_db


def person(name: str = "ann", role: Role = Role.ANNOTATOR, **fields: Any) -> User:
    return User.objects.create_user(name, password=PASSWORD, role=role, **fields)


def language_of_page(html: str) -> str:
    found = re.search(r'<html lang="([\w-]+)"', html)
    assert found
    return found[1]


def test_strangers_get_the_language_that_their_browser_asks_for():
    reply = Client().get("/accounts/login/", headers=GERMAN)
    assert "Anmelden" in reply.text
    assert language_of_page(reply.text) == reply["Content-Language"] == "de"
    assert {"Accept-Language", "Cookie"} <= set(re.split(r",\s*", reply["Vary"]))
    assert language_of_page(Client().get("/accounts/login/").text) == "en"


@pytest.mark.parametrize("asked", ["fr", "xx-" + "y" * 600, "*;q=2, de;q=x", "../../etc"])
def test_what_is_no_language_of_ours_is_english(asked):
    reply = Client().get("/accounts/login/", headers={"Accept-Language": asked})
    assert language_of_page(reply.text) == "en"


def test_the_persons_choice_comes_before_the_browsers():
    judge = person(language="es")
    reply = signed_in(judge).get(reverse("annotation:home"), headers=GERMAN)
    assert language_of_page(reply.text) == "es"


@pytest.mark.parametrize(
    ("back", "place"),
    [("judge", "judge"), ("//evil.example/", "/"), ("https://evil.example/", "/"),
     ("/\\evil.example", "/"), ("javascript:alert(1)", "/"), ("accounts:profile", "/")],
)  # fmt: skip
def test_who_chooses_a_language_stays_on_this_site(back, place):
    reply = Client().post(reverse("accounts:language"), {"language": "de", "next": back})
    assert (reply.status_code, reply["Location"]) == (302, place)


def test_a_choice_is_kept_in_the_profile_and_for_pages_that_know_nobody():
    judge = person()
    browser = signed_in(judge)
    reply = browser.post(reverse("accounts:language"), {"language": "de", "next": "/judge/"})
    assert (reply.status_code, reply["Location"]) == (302, "/judge/")
    judge.refresh_from_db()
    assert judge.language == "de"
    browser.post(reverse("account_logout"))
    assert language_of_page(browser.get("/accounts/login/").text) == "de"


@pytest.mark.parametrize(
    "target", ["https://evil.example/", "//evil.example", "javascript:alert(1)"]
)
def test_a_choice_leads_nowhere_else(target):
    data = {"language": "de", "next": target}
    assert Client().post(reverse("accounts:language"), data)["Location"] == reverse("home")


def test_a_choice_that_is_none_changes_nothing():
    judge = person(language="es")
    browser = signed_in(judge)
    for given in ("fr", "", "de\r\nSet-Cookie: x=1"):
        reply = browser.post(reverse("accounts:language"), {"language": given})
        assert not reply.cookies
    assert browser.get(reverse("accounts:language")).status_code == 405
    judge.refresh_from_db()
    assert judge.language == "es"


def test_what_was_chosen_at_sign_in_becomes_the_persons_unless_they_have_one():
    for before, after in (("", "de"), ("es", "es")):
        judge = person(f"judge-{before}", language=before)
        browser = Client()
        browser.post(reverse("accounts:language"), {"language": "de"})
        reply = browser.post(
            reverse("account_login"), {"login": judge.username, "password": PASSWORD}
        )
        assert reply.status_code == 302
        judge.refresh_from_db()
        assert judge.language == after
        assert language_of_page(browser.get(reverse("annotation:home")).text) == after


def test_the_profile_keeps_the_language_and_says_so_in_it():
    judge = person()
    browser = signed_in(judge)
    data = {"first_name": "Ann", "last_name": "", "language": "de"}
    reply = browser.post(reverse("accounts:profile"), data, follow=True)
    assert "Gespeichert." in reply.text
    assert browser.post(reverse("accounts:profile"), {"language": "fr"}).status_code == 200
    judge.refresh_from_db()
    assert judge.language == "de"


def test_who_leaves_the_language_to_the_browser_gets_what_it_asks_for():
    browser = signed_in(person())
    for language, saved, shown in (("es", "Guardado.", "es"), ("", "Gespeichert.", "de")):
        data = {"first_name": "", "last_name": "", "language": language}
        reply = browser.post(reverse("accounts:profile"), data, headers=GERMAN, follow=True)
        assert saved in reply.text
        page = browser.get(reverse("annotation:home"), headers=GERMAN).text
        assert language_of_page(page) == shown
    browser.post(reverse("account_logout"))
    assert language_of_page(browser.get("/accounts/login/").text) == "en"


def test_after_an_invitation_the_message_is_in_the_language_of_the_page():
    admin = person("ada", Role.ADMIN)
    link = password_link(actor=admin, person=person(language="de"), site="")
    browser, spanish = Client(), {"Accept-Language": "es"}
    form = browser.get(link, headers=spanish, follow=True)
    chosen = {"password1": "another quiet meadow", "password2": "another quiet meadow"}
    browser.post(form.request["PATH_INFO"], chosen, headers=spanish)
    home = browser.get(reverse("annotation:home"), headers=spanish).text
    assert language_of_page(home) == "de"
    assert "Ihr Passwort ist gespeichert." in home


def test_pages_of_admins_are_english_throughout():
    admin = signed_in(person("ada", Role.ADMIN, language="de"))
    page = admin.get(reverse("accounts:people")).text
    assert language_of_page(page) == "en"
    assert "Skip to the page" in page
    assert language_of_page(admin.get(reverse("accounts:profile")).text) == "de"


def test_errors_are_in_the_judges_language():
    browser = signed_in(person(language="de"))
    for address, status, words in (
        (reverse("accounts:people"), 403, "Diese Seite ist nicht für Ihr Konto"),
        ("/nowhere/", 404, "Unter dieser Adresse gibt es nichts"),
    ):
        reply = browser.get(address)
        assert reply.status_code == status
        assert words in reply.text
        assert language_of_page(reply.text) == "de"
    strict = Client(enforce_csrf_checks=True)
    reply = strict.post("/accounts/login/", {}, headers=GERMAN)
    assert reply.status_code == 403
    assert "Ihr Formular wurde nicht angenommen" in reply.text


def test_a_request_that_is_refused_at_once_does_not_get_the_language_of_the_one_before(settings):
    settings.DEBUG = False
    Client().get("/accounts/login/", headers=GERMAN)
    reply = Client(raise_request_exception=False).get("/accounts/login/", headers={"Host": "evil"})
    assert reply.status_code == 400
    assert language_of_page(reply.text) == "en"


def test_the_api_is_english_whatever_is_asked_for():
    reply = signed_in(person(language="de")).get("/api/v1/nowhere", headers=GERMAN)
    assert "Accept-Language" not in reply.get("Vary", "")
    assert "There is nothing" in reply.text or "token" in reply.text.lower()


def test_mails_are_in_the_language_of_who_gets_them():
    admin = person("ada", Role.ADMIN, is_superuser=True)
    lines = parse_lines("judge@example.org")
    [outcome] = invite_people(
        actor=admin,
        lines=lines,
        role=Role.ANNOTATOR,
        site="http://x",
        sends_mail=True,
        language="de",
    )
    assert outcome.person is not None
    assert outcome.person.language == "de"
    assert mail.outbox[-1].subject == "Ihr Konto bei Lookalike"
    assert "Wählen Sie hier Ihr Passwort" in mail.outbox[-1].body
    mail_password_link(person=person("bo", email="bo@example.org"), link="http://x/y")
    assert mail.outbox[-1].subject == "Your Lookalike account"
    outcome.person.set_password(PASSWORD)
    outcome.person.save()
    Client().post(reverse("account_reset_password"), {"email": "judge@example.org"})
    assert "Passwort" in mail.outbox[-1].subject


def test_words_of_scripts_are_one_cached_file_for_each_language():
    page = Client().get("/accounts/login/", headers=GERMAN).text
    [address] = re.findall(r'src="(/words/[^"]+)"', page)
    reply = Client().get(address)
    assert "immutable" in reply["Cache-Control"]
    assert reply["Content-Type"].startswith("text/javascript")
    assert "Dunkles Farbschema" in reply.text
    assert Client().get(address.replace("/de-", "/es-")).status_code == 404  # no other's version
    assert "/words/" not in Client().get("/accounts/login/").text


def test_a_language_that_is_gone_is_english():
    judge = person(language="fr")
    assert language_of_page(signed_in(judge).get(reverse("annotation:home")).text) == "en"
