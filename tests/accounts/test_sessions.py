"""Where somebody is signed in is listed and can be ended; a new password ends what was before."""

from __future__ import annotations

import re
from datetime import timedelta
from io import StringIO

import pytest
from allauth.usersessions.models import UserSession
from django.contrib.sessions.models import Session
from django.core.cache import caches
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from accounts.models import AccessToken, Role, Scope, User
from accounts.services import password_link, set_active
from accounts.sessions.devices import device_name
from accounts.tasks import remove_sessions
from accounts.tokens.services import TokenRefusedError, create_token, use_token
from audit.actions import Action
from audit.models import Entry
from tests.clients import PASSWORD

LOGIN = "/accounts/login/"
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
IPHONE = (
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like "
    "Gecko) Version/18.5 Mobile/15E148 Safari/604.1"
)
ANOTHER = "another quiet meadow"


def browser(person: User, agent: str = FIREFOX, address: str = "10.9.8.7") -> Client:
    """A browser in which a person has signed in."""
    client = Client(REMOTE_ADDR=address, HTTP_USER_AGENT=agent)
    client.force_login(person, backend="django.contrib.auth.backends.ModelBackend")
    client.get("/profile/")
    return client


def is_in(client: Client) -> bool:
    return bool(client.get("/profile/").status_code == 200)


def text(answer) -> str:
    return re.sub(r"\s+", " ", answer.content.decode())


@pytest.mark.parametrize(
    ("header", "name"),
    [
        (FIREFOX, "Firefox on Linux"),
        (IPHONE, "Safari on iPhone"),
        ("Mozilla/5.0 (Windows NT 10.0) Chrome/138.0 Safari/537.36 Edg/138.0", "Edge on Windows"),
        ("Mozilla/5.0 (Linux; Android 15) Chrome/138.0 Mobile Safari/537.36", "Chrome on Android"),
        ("curl/8.1", "curl/8.1"),
        ("x" * 999, "x" * 40),
        ("", "Unknown"),
    ],
)
def test_devices_have_short_names(header, name):
    assert device_name(header) == name


def test_the_own_sessions_are_listed_with_device_and_address(make_person):
    person, other = make_person(), make_person()
    here = browser(person)
    browser(person, IPHONE, "2001:db8::1")
    browser(other, address="10.1.1.1")
    page = text(here.get("/profile/sessions/"))
    assert "Firefox on Linux" in page
    assert "Safari on iPhone" in page
    assert "2001:db8::1" in page
    assert "10.1.1.1" not in page
    assert page.count("this one") == 1
    for session in UserSession.objects.all():
        assert session.session_key not in page


def test_a_header_cannot_write_into_the_page(make_person):
    client = browser(make_person(), "<script>alert(1)</script>" + "x" * 4000)
    assert "<script>alert" not in text(client.get("/profile/sessions/"))


def test_one_session_is_ended_and_the_others_stay(make_person):
    person = make_person()
    here, there = browser(person), browser(person, IPHONE)
    row = UserSession.objects.get(session_key=there.session.session_key)
    here.post(f"/profile/sessions/{row.pk}/end/")
    assert is_in(here)
    assert not is_in(there)
    row = UserSession.objects.get(session_key=here.session.session_key)
    here.post(f"/profile/sessions/{row.pk}/end/")
    assert not is_in(here)


def test_nobody_ends_the_session_of_another(make_person):
    theirs = browser(make_person())
    row = UserSession.objects.get()
    eve = browser(make_person(Role.ADMIN))
    assert eve.post(f"/profile/sessions/{row.pk}/end/").status_code == 404
    assert Client().post(f"/profile/sessions/{row.pk}/end/")["Location"].startswith(LOGIN)
    assert theirs.get("/profile/sessions/end/").status_code == 405
    assert is_in(theirs)


def test_signing_out_everywhere_leaves_no_session(make_person):
    person, other = make_person(), make_person()
    browsers = [browser(person, agent) for agent in (FIREFOX, IPHONE, "curl")]
    stays = browser(other)
    assert browsers[0].post("/profile/sessions/end/")["Location"] == LOGIN
    assert [is_in(client) for client in [*browsers, stays]] == [False, False, False, True]
    assert not UserSession.objects.filter(user=person).exists()
    assert Entry.objects.filter(action=Action.SESSION_ENDED, details__device="all").count() == 1


def test_a_session_is_noted_once_in_five_minutes_and_forgotten_after_sixty_days(make_person):
    client = browser(make_person())
    before = UserSession.objects.get().last_seen_at
    client.get("/profile/")
    assert UserSession.objects.get().last_seen_at == before
    UserSession.objects.update(last_seen_at=timezone.now() - timedelta(days=61))
    browser(make_person())
    assert UserSession.objects.count() == 1


def test_an_expired_session_is_not_listed(make_person):
    person = make_person()
    browser(person, IPHONE).session.flush()
    assert "iPhone" not in text(browser(person).get("/profile/sessions/"))


# ---- what ends with a password ----


@pytest.fixture
def researcher(make_person):
    return make_person(Role.RESEARCHER)


@pytest.fixture
def token(researcher) -> str:
    return create_token(owner=researcher, name="notebook", scopes=[Scope.READ], days=9)[1]


def opens(token: str) -> bool:
    try:
        use_token(token=token)
    except TokenRefusedError:
        return False
    return True


def change(client: Client, person: User) -> None:
    given = {"oldpassword": PASSWORD, "password1": ANOTHER, "password2": ANOTHER}
    assert client.post("/accounts/password/change/", given).status_code == 302
    person.refresh_from_db()
    assert person.check_password(ANOTHER)


def test_a_new_password_ends_tokens_and_other_sessions(researcher, token):
    here, there = browser(researcher), browser(researcher, IPHONE)
    change(here, researcher)
    assert is_in(here)
    assert not is_in(there)
    assert "iPhone" not in text(here.get("/profile/sessions/"))
    assert not opens(token)
    entry = Entry.objects.get(action=Action.TOKEN_REVOKED)
    assert entry.details == {"n": 1, "why": "the password was changed"}


def test_a_password_by_link_ends_tokens_and_sessions(researcher, token, make_person, stranger):
    admin = make_person(Role.ADMIN)
    there = browser(researcher)
    link = password_link(actor=admin, person=researcher, site="http://testserver")
    assert opens(token), "the link alone ends nothing"
    form = stranger.get(link.removeprefix("http://testserver"), follow=True)
    chosen = {"password1": ANOTHER, "password2": ANOTHER}
    stranger.post(form.request["PATH_INFO"], chosen)
    assert not is_in(there)
    assert not opens(token)


def test_a_password_set_on_the_machine_ends_tokens(researcher, token, monkeypatch):
    monkeypatch.setattr("getpass.getpass", lambda *_, **__: ANOTHER)
    call_command("changepassword", researcher.username, stdout=StringIO())
    assert not opens(token)


def test_other_changes_of_an_account_end_nothing(researcher, token, stranger):
    researcher.first_name = "Rosa"
    researcher.save()
    stranger.post(LOGIN, {"login": researcher.username, "password": PASSWORD})
    stranger.post("/profile/", {"first_name": "R", "last_name": ""})
    assert opens(token)


def test_a_better_hash_of_the_same_password_ends_nothing(researcher, token, settings, stranger):
    before = researcher.password
    better = "django.contrib.auth.hashers.PBKDF2PasswordHasher"
    settings.PASSWORD_HASHERS = [better, *settings.PASSWORD_HASHERS]
    stranger.post(LOGIN, {"login": researcher.username, "password": PASSWORD})
    researcher.refresh_from_db()
    assert researcher.password != before
    assert opens(token)


def test_what_a_closed_account_had_does_not_come_back(researcher, token, make_person):
    admin, there = make_person(Role.ADMIN), browser(researcher)
    set_active(actor=admin, person=researcher, is_active=False)
    set_active(actor=admin, person=researcher, is_active=True)
    assert not is_in(there)
    assert not opens(token)
    assert AccessToken.objects.get().revoked_at is not None


def test_the_back_office_closes_an_account_as_well(researcher, token, make_person):
    superuser = make_person(Role.ADMIN, is_superuser=True)
    there, office = browser(researcher), browser(superuser)
    fields = {"username": researcher.username, "role": "researcher", "email": researcher.email}
    path = f"/admin/accounts/user/{researcher.pk}/change/"
    assert office.post(path, fields).status_code == 302  # the box for “active” is not ticked
    assert office.post(path, fields | {"is_active": "on"}).status_code == 302
    assert not is_in(there)
    assert not opens(token)


def test_the_pages_say_what_ends(researcher):
    client = browser(researcher)
    assert "end when you change your password" in text(client.get("/profile/tokens/"))
    assert "your access tokens end" in text(client.get("/accounts/password/change/"))


@pytest.mark.parametrize(("idle_hours", "stays"), [(12, False), (14, True), (0, True)])
def test_a_session_that_was_left_alone_ends(make_person, settings, idle_hours, stays):
    settings.SESSION_IDLE_HOURS = idle_hours
    client = browser(make_person())
    UserSession.objects.update(last_seen_at=timezone.now() - timedelta(hours=13))
    caches["process"].clear()
    assert is_in(client) is stays
    assert is_in(client) is stays


def test_expired_sessions_are_removed_with_their_devices(db: None, settings) -> None:
    settings.SESSION_IDLE_HOURS = 12
    person = User.objects.create_user("pia")
    expired, idle, living = (browser(person) for _ in range(3))
    now = timezone.now()
    Session.objects.filter(session_key=expired.session.session_key).update(
        expire_date=now - timedelta(seconds=1)
    )
    UserSession.objects.filter(session_key=idle.session.session_key).update(
        last_seen_at=now - timedelta(hours=13)
    )
    assert remove_sessions() == {"removed": 2}
    assert {one.session_key for one in Session.objects.all()} == {living.session.session_key}
    assert UserSession.objects.count() == 1
    assert "accounts.remove_expired_sessions" in settings.CELERY_BEAT_SCHEDULE
