"""A passkey signs somebody in, without a password; Chromium has an authenticator to try it with."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from allauth.mfa.models import Authenticator
from playwright.sync_api import Page, expect

from accounts.models import Role, User
from audit.actions import Action
from audit.models import Entry
from tests.clients import PASSWORD
from tests.e2e.pages import serious_problems

ADD = "/accounts/2fa/webauthn/add/"


def with_authenticator(page: Page, *, verifies: bool = True) -> None:
    """Give a window a device that says yes to everything, if it verifies its owner."""
    devices = page.context.new_cdp_session(page)
    devices.send("WebAuthn.enable")
    options = {
        "protocol": "ctap2",
        "transport": "internal",
        "hasResidentKey": True,
        "hasUserVerification": True,
        "isUserVerified": verifies,
        "automaticPresenceSimulation": True,
    }
    devices.send("WebAuthn.addVirtualAuthenticator", {"options": options})


def add_passkey(page: Page) -> None:
    page.goto(ADD)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Go on").click()
    expect(page.get_by_role("heading", name="Add a passkey")).to_be_visible()
    assert serious_problems(page) == []
    page.get_by_role("button", name="Add the passkey").click()


def test_an_admin_adds_a_passkey_and_signs_in_with_it_alone(
    open_page: Callable[..., Page], make_person: Callable[..., User], settings
) -> None:
    settings.REQUIRE_ADMIN_MFA = True
    admin = make_person("chief", Role.ADMIN)
    page = open_page(admin)
    with_authenticator(page)
    add_passkey(page)
    expect(page.get_by_role("heading", name="Recovery codes")).to_be_visible()
    assert Authenticator.objects.get(user=admin, type="webauthn").wrap().is_passwordless
    assert Entry.objects.filter(action=Action.SECOND_FACTOR_ADDED, subject_id=admin.pk).exists()
    page.goto("/accounts/2fa/webauthn/")
    expect(page.get_by_text("Without a password")).to_be_visible()
    assert serious_problems(page) == []
    page.context.clear_cookies()
    page.goto("/accounts/login/?next=/overview/")
    assert serious_problems(page) == []
    page.get_by_role("button", name="Sign in with a passkey").click()
    expect(page.get_by_role("heading", name="Overview", level=1)).to_be_visible()


def test_a_device_without_a_passkey_is_told_and_gets_nowhere(
    open_page: Callable[..., Page], make_person: Callable[..., User]
) -> None:
    make_person("judith")
    page = open_page()
    with_authenticator(page)
    page.goto("/accounts/login/")
    page.get_by_role("button", name="Sign in with a passkey").click()
    expect(page.locator("[data-passkey-error]")).to_be_visible(timeout=90_000)
    page.goto("/profile/")
    expect(page.get_by_role("heading", name="Sign in", level=1)).to_be_visible()


@pytest.mark.parametrize("is_active", [True, False])
def test_a_passkey_follows_the_password_and_ends_with_the_account(
    open_page: Callable[..., Page], make_person: Callable[..., User], is_active: bool
) -> None:
    person = make_person("judith")
    page = open_page(person)
    with_authenticator(page)
    add_passkey(page)
    expect(page.get_by_role("heading", name="Recovery codes")).to_be_visible()
    User.objects.update(is_active=is_active)
    page.context.clear_cookies()
    page.goto("/accounts/login/?next=/profile/")
    if is_active:
        page.get_by_label("User name").fill("judith")
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Sign in", exact=True).click()
        page.get_by_role("button", name="Use a passkey").click()
        expect(page.get_by_role("heading", name="Profile", level=1)).to_be_visible()
    else:
        page.get_by_role("button", name="Sign in with a passkey").click()
        page.wait_for_url("**/accounts/inactive/")
        page.goto("/profile/")
        expect(page.get_by_role("heading", name="Sign in", level=1)).to_be_visible()
