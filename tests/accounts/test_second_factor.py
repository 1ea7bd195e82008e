"""A site may demand a second factor of its admins, who can then do nothing before they have it."""

from __future__ import annotations

import time

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import (
    TOTP,
    format_hotp_value,
    hotp_value,
    yield_hotp_counters_from_time,
)
from django.test import Client
from django.urls import reverse

from accounts.models import Role, Scope, User
from accounts.tokens.services import create_token
from tests.clients import PASSWORD
from tests.waiting import wait_until

LOGIN = "/accounts/login/"
SET_UP = reverse("mfa_activate_totp")


@pytest.fixture(autouse=True)
def demanded(settings) -> None:
    settings.REQUIRE_ADMIN_MFA = True


def code_for(secret, steps_ago=0):
    _, now, _ = yield_hotp_counters_from_time()
    return format_hotp_value(hotp_value(secret, now - steps_ago))


def ask_with_token(person: User):
    token = create_token(owner=person, name="t", scopes=[Scope.READ], days=1)[1]
    return Client().get("/api/v1/me", headers={"Authorization": f"Bearer {token}"})


@pytest.fixture
def admin(make_person):
    return make_person(Role.ADMIN, is_superuser=True)


@pytest.mark.parametrize(
    "path",
    [
        *("/", "/overview/", "/people/", "/people/new/", "/profile/", "/profile/tokens/new/"),
        *("/admin/", "/admin/accounts/user/", "/accounts/password/change/", "/api/", "/nowhere/"),
    ],
)
def test_an_admin_without_one_is_led_to_its_set_up(as_person, admin, path):
    assert as_person(admin).get(path).url == SET_UP


def test_an_admin_without_one_changes_nothing(as_person, admin, make_person):
    client, person = as_person(admin), make_person()
    assert client.post(f"/people/{person.pk}/active/", {"is_active": "0"}).url == SET_UP
    assert client.post("/profile/", {"first_name": "X"}).url == SET_UP
    person.refresh_from_db()
    assert person.is_active


def test_neither_session_nor_token_opens_the_api(as_person, admin):
    reply = as_person(admin).get("/api/v1/me")
    assert (reply.status_code, reply.json()["code"]) == (403, "second_factor_required")
    reply = ask_with_token(admin)
    assert (reply.status_code, reply.json()["code"]) == (401, "second_factor_required")


@pytest.mark.parametrize("rights", [{"role": Role.ADMIN}, {"is_staff": True}])
def test_whoever_may_enter_the_back_office_counts(as_person, make_person, rights):
    assert as_person(make_person(**rights)).get("/profile/").url == SET_UP


def test_others_go_on_without(as_person, make_person):
    for role in (Role.ANNOTATOR, Role.RESEARCHER):
        assert as_person(make_person(role)).get("/profile/").status_code == 200
    assert ask_with_token(make_person(Role.RESEARCHER)).status_code == 200


def test_a_site_that_demands_none_lets_admins_on(as_person, admin, settings):
    settings.REQUIRE_ADMIN_MFA = False
    assert as_person(admin).get("/profile/").status_code == 200
    assert ask_with_token(admin).status_code == 200


def test_a_code_that_runs_out_while_it_is_typed_is_taken_and_no_older_one(as_person, admin):
    there = as_person(admin)
    there.post(reverse("account_reauthenticate"), {"password": PASSWORD})
    secret = there.get(SET_UP).context["form"].secret
    wait_until(lambda: time.time() % 30 < 25)  # the next step does not begin meanwhile
    there.post(SET_UP, {"code": code_for(secret, steps_ago=2)})
    assert there.get("/people/").status_code == 302
    there.post(SET_UP, {"code": code_for(secret, steps_ago=1)})
    assert there.get("/people/").status_code == 200


def test_an_admin_sets_it_up_and_a_recovery_code_works_once(stranger, admin):
    stranger.post(LOGIN, {"login": admin.username, "password": PASSWORD})
    asked = stranger.get(SET_UP, follow=True)
    assert "asks its admins for a second factor" in asked.content.decode()
    stranger.post(reverse("account_reauthenticate"), {"password": PASSWORD})
    asked = stranger.get(SET_UP)
    assert "asks its admins for a second factor" in asked.content.decode()
    stranger.post(SET_UP, {"code": code_for(asked.context["form"].secret)})
    assert stranger.get("/people/").status_code == 200
    assert ask_with_token(admin).status_code == 200
    assert "no-store" in stranger.get(reverse("mfa_view_recovery_codes"))["Cache-Control"]

    codes = Authenticator.objects.get(user=admin, type="recovery_codes").wrap()
    first = codes.get_unused_codes()[0]
    for is_used in (False, True):
        stranger.logout()
        stranger.post(LOGIN, {"login": admin.username, "password": PASSWORD})
        stranger.post(reverse("mfa_authenticate"), {"code": first})
        assert (stranger.get("/people/").status_code == 200) is not is_used


def test_recovery_codes_alone_are_no_second_factor(as_person, admin):
    TOTP.activate(admin, "A" * 32)
    Authenticator.objects.create(user=admin, type="recovery_codes", data={})
    assert as_person(admin).get("/profile/").status_code == 200
    Authenticator.objects.filter(type="totp").delete()
    assert as_person(admin).get("/profile/").url == SET_UP


def test_switching_it_off_leads_back_to_the_set_up(stranger, admin):
    TOTP.activate(admin, "A" * 32)
    stranger.post(LOGIN, {"login": admin.username, "password": PASSWORD})
    stranger.post(reverse("mfa_authenticate"), {"code": code_for("A" * 32)})
    stranger.post(reverse("account_reauthenticate"), {"password": PASSWORD})
    stranger.post(reverse("mfa_deactivate_totp"))
    assert not Authenticator.objects.filter(user=admin, type="totp").exists()
    assert stranger.get("/people/").url == SET_UP


def test_an_admin_may_always_sign_out(as_person, admin):
    client = as_person(admin)
    client.post("/accounts/logout/")
    assert client.get("/people/").url.startswith(LOGIN)
