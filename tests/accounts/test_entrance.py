"""Who gets in, where they land, and what strangers can learn."""

from __future__ import annotations

import re
import secrets

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import (
    TOTP,
    format_hotp_value,
    hotp_value,
    yield_hotp_counters_from_time,
)
from django.core import mail
from django.core.handlers.base import BaseHandler
from django.core.handlers.wsgi import WSGIRequest
from django.http import HttpRequest, HttpResponseRedirect
from django.test import Client, RequestFactory
from django.urls import reverse

from accounts.models import Role
from accounts.services import password_link
from accounts.sign_in.devices import known_device
from tests.clients import PASSWORD

LOGIN = "/accounts/login/"
ANOTHER = "another quiet meadow"


@pytest.mark.parametrize(
    ("role", "url_name"),
    [
        (Role.ANNOTATOR, "annotation:home"),
        (Role.ADMIN, "overview"),
        (Role.RESEARCHER, "evaluation:home"),
    ],
)
def test_each_role_lands_on_its_home(stranger, make_person, role, url_name):
    person = make_person(role)
    answer = stranger.post(LOGIN, {"login": person.username, "password": PASSWORD})
    assert answer.url == "/"
    assert stranger.get("/").url == reverse(url_name)


def test_people_may_sign_in_with_their_address_in_any_case(stranger, make_person):
    person = make_person()
    answer = stranger.post(LOGIN, {"login": person.email.upper(), "password": PASSWORD})
    assert answer.status_code == 302


@pytest.mark.parametrize("path", ["/", "/profile/", "/people/", "/people/new/", "/people/1/"])
def test_strangers_are_sent_to_sign_in(stranger, db, path):
    assert stranger.get(path).url.startswith(f"{LOGIN}?next=")


def test_the_back_office_uses_the_same_sign_in(stranger, db):
    answer = stranger.get("/admin/login/", follow=True)
    assert answer.redirect_chain[-1][0].startswith(LOGIN)


def test_nobody_signs_up_alone(stranger, db):
    form = {
        "username": "me",
        "email": "me@example.org",
        "password1": PASSWORD,
        "password2": PASSWORD,
    }
    assert "By invitation only" in stranger.post("/accounts/signup/", form).content.decode()


def _words(answer) -> str:
    """The page without what differs from request to request anyway."""
    text = re.sub(r'value="[^"]*"|"X-CSRFToken": "[^"]*"', "", answer.content.decode())
    return re.sub(r"\s+", " ", text)


def test_a_wrong_password_reads_the_same_as_an_unknown_name(stranger, make_person):
    known = stranger.post(LOGIN, {"login": make_person().username, "password": "wrong"})
    unknown = stranger.post(LOGIN, {"login": "nobody-at-all", "password": "wrong"})
    assert known.status_code == unknown.status_code == 200
    assert _words(known) == _words(unknown)


def test_a_closed_account_with_a_wrong_password_reads_the_same_as_an_unknown_name(
    stranger, make_person
):
    closed = make_person(is_active=False)
    known = stranger.post(LOGIN, {"login": closed.username, "password": "wrong"})
    unknown = stranger.post(LOGIN, {"login": "nobody-at-all", "password": "wrong"})
    assert _words(known) == _words(unknown)


def test_a_forgotten_password_reads_the_same_for_unknown_addresses(stranger, make_person):
    person = make_person()
    path = "/accounts/password/reset/"
    known = stranger.post(path, {"email": person.email}, follow=True)
    unknown = stranger.post(path, {"email": f"{secrets.token_hex(8)}@example.org"}, follow=True)
    assert _words(known) == _words(unknown)
    assert [message.to for message in mail.outbox] == [[person.email]]


def test_the_time_a_mail_takes_does_not_tell_who_has_an_account(make_person):
    token = "c" * 32
    request = RequestFactory().post(
        "/accounts/password/reset/", {"email": make_person().email},
        HTTP_COOKIE=f"csrftoken={token}", HTTP_X_CSRFTOKEN=token,
    )  # fmt: skip
    handler = BaseHandler()
    handler.load_middleware()
    answer = handler.get_response(WSGIRequest(request.environ))
    assert isinstance(answer, HttpResponseRedirect)
    assert mail.outbox == []
    for work in vars(answer)["_resource_closers"]:  # by the server, once it has answered
        work()
    assert len(mail.outbox) == 1


def test_whoever_asks_for_a_reset_does_not_choose_where_its_link_leads(make_person, settings):
    person = make_person()
    settings.GIVEN_URL = "https://judge.example.org/"
    asked = Client(headers={"host": "testserver:666"})
    asked.post("/accounts/password/reset/", {"email": person.email})
    [sent] = mail.outbox
    assert "https://judge.example.org/accounts/password/reset/key/" in sent.body
    assert "666" not in re.sub(r"/key/\S+", "", str(sent.body))


def test_a_mail_server_that_is_down_does_not_tell_who_has_an_account(
    stranger, make_person, settings
):
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 9
    for address in (make_person().email, f"{secrets.token_hex(8)}@example.org"):
        answer = stranger.post("/accounts/password/reset/", {"email": address})
        assert (answer.status_code, answer.url) == (302, "/accounts/password/reset/done/")


def test_an_invitation_says_the_user_name_and_nothing_of_a_time_before(stranger, make_person):
    admin, person = make_person(Role.ADMIN), make_person(last_login=None)
    link = password_link(actor=admin, person=person, site="")
    page = stranger.get(link, follow=True)
    assert person.username in page.text
    assert "from before" not in page.text
    wrong = Client().get(link.replace("-", "-x"), follow=True).text
    assert "does not work any more" in wrong
    assert person.username not in wrong
    chosen = {"password1": ANOTHER, "password2": ANOTHER}
    form = page.request["PATH_INFO"]
    stranger.post(form, chosen)
    assert stranger.get("/profile/").status_code == 200  # signed in
    for used in (Client().get(link), Client().get(form)):
        assert "does not work any more" in used.text
        assert person.username not in used.text
    person.refresh_from_db()
    again = password_link(actor=admin, person=person, site="")
    assert "from before" in Client().get(again, follow=True).text


@pytest.mark.parametrize("path", ["/accounts/confirm-email/", "/accounts/confirm-email/MQ:x/"])
def test_no_page_speaks_of_confirming_an_address(stranger, db, path):
    assert stranger.get(path).url == "/profile/"


def test_a_wrong_password_is_told_in_the_words_of_the_form(stranger, make_person):
    for login, words in (
        (make_person().username, "The user name or password is not correct."),
        (make_person().email, "The email address or password is not correct."),
    ):
        assert words in stranger.post(LOGIN, {"login": login, "password": "wrong"}).text


def test_forms_of_passwords_have_labels_as_others(as_person, make_person):
    page = as_person(make_person()).get(reverse("account_change_password")).text
    for words in ("Current password", "New password", "New password (again)"):
        assert f">{words}</label>" in page
    assert "Forgotten your password?" in page
    assert "Forgot your" not in page


def test_guessing_one_account_is_stopped_after_five_attempts(stranger, make_person):
    person = make_person()
    for _ in range(5):
        stranger.post(LOGIN, {"login": person.username, "password": "guess"})
    answer = stranger.post(LOGIN, {"login": person.username, "password": PASSWORD})
    assert "Too many failed login attempts" in answer.content.decode()


def at(number: int) -> Client:
    """A browser at an address of its own, which no other test uses."""
    return Client(REMOTE_ADDR=f"fd{secrets.token_hex(1)}:{secrets.token_hex(2)}:{number:x}:1::1")


def guess(browser: Client, name: str, times: int) -> str:
    for _ in range(times):
        answer = browser.post(LOGIN, {"login": name, "password": "guess"})
    return str(answer.content.decode())


TOO_MANY = "Too many failed login attempts"


def test_guessing_an_account_does_not_lock_its_owner_out_elsewhere(stranger, make_person):
    person = make_person()
    assert TOO_MANY in guess(stranger, person.username, 6)
    answer = at(1).post(LOGIN, {"login": person.username, "password": PASSWORD})
    assert answer.status_code == 302


def test_the_owner_gets_in_by_a_known_browser_at_the_guessers_own_address(stranger, make_person):
    person = make_person()
    assert stranger.post(LOGIN, {"login": person.email, "password": PASSWORD}).status_code == 302
    del stranger.cookies["sessionid"]  # signed out; the browser is the same
    guesser = Client(REMOTE_ADDR=stranger.defaults["REMOTE_ADDR"])
    assert TOO_MANY in guess(guesser, person.username, 6)
    assert TOO_MANY in guess(guesser, "somebody-else", 9)  # now the address itself is slowed
    answer = stranger.post(LOGIN, {"login": person.email.upper(), "password": PASSWORD})
    assert answer.status_code == 302


def test_a_known_browser_may_not_guess_either_nor_is_it_known_to_others(stranger, make_person):
    person, other = make_person(), make_person()
    stranger.post(LOGIN, {"login": person.username, "password": PASSWORD})
    del stranger.cookies["sessionid"]  # signed out; the browser is the same
    assert TOO_MANY in guess(stranger, person.username, 6)
    forged = at(2)
    forged.cookies["device"] = stranger.cookies["device"].value + "x"
    assert known_device(request_of(forged), person.username) == ""
    assert known_device(request_of(stranger), person.username) != ""
    assert known_device(request_of(stranger), other.username) == ""


def request_of(browser: Client) -> HttpRequest:
    request = HttpRequest()
    request.COOKIES = {name: morsel.value for name, morsel in browser.cookies.items()}
    return request


def test_guessing_one_account_from_many_addresses_is_slowed_but_not_for_its_owner(
    stranger, make_person
):
    person = make_person()
    stranger.post(LOGIN, {"login": person.username, "password": PASSWORD})
    del stranger.cookies["sessionid"]  # signed out; the browser is the same
    for number in range(10):
        assert TOO_MANY not in guess(at(number), person.username, 5)
    assert TOO_MANY in guess(at(11), person.username, 1)
    answer = stranger.post(LOGIN, {"login": person.username, "password": PASSWORD})
    assert answer.status_code == 302


def test_guessing_many_accounts_from_one_address_is_slowed(stranger, db):
    for number in range(10):
        assert TOO_MANY not in guess(stranger, f"name-{number}", 1)
    assert TOO_MANY in guess(stranger, "name-11", 1)


def test_guessing_many_accounts_from_one_address_is_stopped_with_a_page(stranger, make_person):
    for i in range(31):
        answer = stranger.post(LOGIN, {"login": f"name-{i}", "password": "guess"})
    assert answer.status_code == 429
    assert "Wait a few minutes" in answer.content.decode()


def test_a_second_factor_is_asked_for_once_it_is_set_up(stranger, make_person):
    person = make_person()
    TOTP.activate(person, "A" * 32)
    answer = stranger.post(LOGIN, {"login": person.username, "password": PASSWORD})
    assert answer.url == reverse("mfa_authenticate")
    assert stranger.get("/profile/").status_code == 302
    counter = next(iter(yield_hotp_counters_from_time()))
    code = format_hotp_value(hotp_value("A" * 32, counter))
    assert stranger.post(answer.url, {"code": code}).status_code == 302
    assert stranger.get("/profile/").status_code == 200


def test_the_second_factor_can_be_set_up_by_everybody(as_person, make_person, stranger):
    for role in Role:
        person = make_person(role)
        stranger.logout()
        stranger.post(LOGIN, {"login": person.username, "password": PASSWORD})
        stranger.post(reverse("account_reauthenticate"), {"password": PASSWORD})
        page = stranger.get(reverse("mfa_activate_totp"))
        secret = page.context["form"].secret
        counter = next(iter(yield_hotp_counters_from_time()))
        code = format_hotp_value(hotp_value(secret, counter))
        stranger.post(reverse("mfa_activate_totp"), {"code": code})
        kinds = set(Authenticator.objects.filter(user=person).values_list("type", flat=True))
        assert kinds == {"totp", "recovery_codes"}


def test_what_signed_in_people_see_is_kept_out_of_caches(as_person, make_person):
    answer = as_person(make_person()).get("/profile/")
    assert "no-store" in answer["Cache-Control"]
