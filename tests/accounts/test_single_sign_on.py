"""Sign-in through an OpenID Connect provider: who is let in, as what, and who is not."""

from __future__ import annotations

import secrets
import urllib.error
import urllib.request
from collections.abc import Iterator
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.totp.internal.auth import TOTP
from allauth.socialaccount.models import SocialAccount
from django.core import mail
from django.test import Client

from accounts.models import Role, Scope, User
from accounts.services import set_active
from accounts.tokens.services import create_token
from config import oidc
from config.env import EnvError
from tests.clients import PASSWORD
from tests.oidc_provider import ADA, CLIENT, SECRET, FakeProvider

BEGIN = "/accounts/oidc/sso/login/"
LOGIN = "/accounts/login/"
ROLES = {"site-admins": "admin", "readers": "researcher", "experts": "annotator"}


@pytest.fixture(scope="module")
def server() -> Iterator[FakeProvider]:
    with FakeProvider() as fake:
        yield fake


def use(settings, server: FakeProvider, roles: dict[str, str]) -> None:
    settings.OIDC = oidc.Provider(server.url, CLIENT, SECRET, "the university", roles)
    settings.SOCIALACCOUNT_PROVIDERS = oidc.providers(settings.OIDC)


@pytest.fixture
def provider(server, settings, db):
    """The provider as this site knows it, with a person of its own."""
    use(settings, server, ROLES)
    server.person = dict(ADA)
    server.id_token, server.status = {}, 200
    return server


class _Stay(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: object) -> None:
        return None


def ask_provider(address: str) -> str:
    """Let the provider sign somebody in; return the path to which it sends them back."""
    with pytest.raises(urllib.error.HTTPError, match="302") as answer:
        urllib.request.build_opener(_Stay).open(address, timeout=10)
    back = answer.value.headers["Location"]
    answer.value.close()
    assert back.startswith("http://testserver/")
    return back.removeprefix("http://testserver")


def sign_in(browser, **query):
    begun = browser.get(BEGIN, query)
    assert begun.status_code == 302, begun.content
    return browser.get(ask_provider(begun.url))


def words(answer) -> str:
    return " ".join(answer.content.decode().split())


def stays_out(browser):
    return browser.get("/profile/").headers.get("Location", "").startswith(LOGIN)


def test_an_expert_signs_in_and_an_account_is_made(stranger, provider):
    page = stranger.get(LOGIN)
    assert f'href="{BEGIN}' in words(page)
    assert "Sign in through the university" in words(page)
    assert sign_in(stranger).url == "/"
    ada = User.objects.get(username="ada")
    assert (ada.role, ada.is_staff, ada.is_superuser) == (Role.ANNOTATOR, False, False)
    assert (ada.first_name, ada.email) == ("Ada", "ada@example.org")
    assert not ada.has_usable_password()
    assert stranger.get("/profile/").status_code == 200
    stranger.logout()
    sign_in(stranger)
    assert User.objects.count() == 1


def test_the_request_carries_state_nonce_and_a_challenge_that_the_address_cannot_set(
    stranger, provider
):
    forged = {"auth_params": "nonce=mine&state=mine&redirect_uri=https://evil", "scope": "all"}
    asked = dict(parse_qsl(urlsplit(stranger.get(BEGIN, forged).url).query))
    assert asked["redirect_uri"] == f"http://testserver{BEGIN}callback/"
    assert set(asked["scope"].split()) == {"openid", "profile", "email", "groups"}
    assert asked["code_challenge_method"] == "S256"
    assert len(asked["nonce"]) == 32
    assert "mine" not in asked.values()


@pytest.mark.parametrize(
    ("groups", "role"),
    [
        (["readers"], Role.RESEARCHER),
        (["experts", "site-admins"], Role.ADMIN),
        ("readers", Role.RESEARCHER),
        (["others", "experts", 5, None], Role.ANNOTATOR),
    ],
)
def test_the_first_group_of_the_list_gives_the_role(stranger, provider, groups, role):
    provider.person["groups"] = groups
    sign_in(stranger)
    ada = User.objects.get()
    assert (ada.role, ada.is_staff, ada.is_superuser) == (role, role == Role.ADMIN, False)


@pytest.mark.parametrize(
    "groups",
    [None, [], ["Experts"], ["expert"], "experts,readers", ["*"], {"experts": 1}, 7, [["experts"]]],
)
def test_whoever_has_no_group_of_the_list_is_refused_in_words(stranger, provider, groups):
    provider.person["groups"] = groups
    answer = sign_in(stranger)
    assert answer.status_code == 403
    assert "none of your groups may use this site" in words(answer)
    assert stays_out(stranger)
    assert not User.objects.exists()


def test_groups_may_stand_in_the_id_token_alone(stranger, provider):
    del provider.person["groups"]
    provider.id_token = {"groups": ["readers"]}
    sign_in(stranger)
    assert User.objects.get().role == Role.RESEARCHER


def test_a_star_lets_everybody_in(stranger, provider, settings):
    use(settings, provider, oidc.read_roles("boss=admin, *=annotator"))
    provider.person["groups"] = None
    sign_in(stranger)
    assert User.objects.get().role == Role.ANNOTATOR


def test_the_role_follows_the_group_at_each_sign_in(stranger, provider):
    for groups, role in (["site-admins"], "admin"), (["experts"], "annotator"):
        provider.person["groups"] = groups
        sign_in(stranger)
        ada = User.objects.get()
        assert (ada.role, ada.is_staff) == (role, role == "admin")
        stranger.logout()
    provider.person["groups"] = []
    assert sign_in(stranger).status_code == 403
    assert stays_out(stranger)


def test_a_wrong_nonce_is_refused(stranger, provider):
    for nonce in ("another", None, ""):
        provider.id_token = {"nonce": nonce}
        answer = sign_in(stranger)
        assert "belongs to another sign-in" in words(answer)
        assert stays_out(stranger)
    provider.person["nonce"] = "said beside the token"
    assert sign_in(stranger).status_code == 403
    assert not User.objects.exists()


def test_a_wrong_or_used_state_is_refused(stranger, provider):
    path = ask_provider(stranger.get(BEGIN).url)
    code = parse_qs(urlsplit(path).query)["code"][0]
    for state in ("", "another"):
        forged = f"{BEGIN}callback/?{urlencode({'code': code, 'state': state})}"
        assert stranger.get(forged).status_code == 401
    victim = Client()  # is sent the attacker's own answer
    assert victim.get(path).status_code == 401
    assert stays_out(victim)
    assert stranger.get(path).status_code == 302
    stranger.logout()
    assert stranger.get(path).status_code == 401
    assert stays_out(stranger)


def test_a_code_of_another_sign_in_is_refused(stranger, provider):
    stolen = parse_qs(urlsplit(ask_provider(stranger.get(BEGIN).url)).query)["code"][0]
    thief = Client()
    own = parse_qs(urlsplit(ask_provider(thief.get(BEGIN)["Location"])).query)["state"][0]
    answer = thief.get(f"{BEGIN}callback/", {"code": stolen, "state": own})
    assert answer.status_code == 401  # its code verifier is another
    assert stays_out(thief)


@pytest.mark.parametrize(
    "spoilt",
    [
        {"aud": "another client"},
        {"iss": "https://evil.example.org"},
        {"exp": 1},
        {"sub": "somebody else"},
        {"sub": None},
    ],
)
def test_an_id_token_for_another_is_refused(stranger, provider, spoilt):
    provider.id_token = spoilt
    answer = sign_in(stranger)
    assert answer.status_code == 401
    assert "Try it once more" in words(answer)
    assert stays_out(stranger)
    assert not User.objects.exists()


@pytest.mark.parametrize("was_verified", [False, True])
def test_a_verified_address_links_an_invited_person_whose_password_ends(
    stranger, provider, make_person, as_person, was_verified
):
    invited = make_person(Role.RESEARCHER, email="ada@example.org")
    create_token(owner=invited, name="old", scopes=[Scope.READ], days=9)
    if was_verified:
        EmailAddress.objects.create(user=invited, email=invited.email, verified=True)
        stranger.post(LOGIN, {"login": invited.username, "password": PASSWORD})
    elsewhere = as_person(invited)
    elsewhere.get("/profile/")
    sign_in(stranger)
    assert User.objects.get() == invited
    assert stranger.get("/profile/").status_code == 200
    invited.refresh_from_db()
    assert not invited.has_usable_password()
    assert invited.role == Role.ANNOTATOR
    assert stays_out(elsewhere)
    assert not invited.access_tokens.filter(revoked_at=None).exists()


@pytest.mark.parametrize("verified", [False, None, "false", "", 0, "yes", [True]])
def test_an_address_that_nobody_has_verified_links_nothing(
    stranger, provider, make_person, verified
):
    victim = make_person(Role.RESEARCHER, email="ada@example.org")
    provider.person["email_verified"] = verified
    sign_in(stranger)
    assert not SocialAccount.objects.filter(user=victim).exists()
    (other,) = User.objects.exclude(pk=victim.pk)
    assert (other.email, other.role) == ("", Role.ANNOTATOR)
    assert not EmailAddress.objects.exists()
    assert mail.outbox == []
    victim.refresh_from_db()
    assert victim.has_usable_password()


@pytest.mark.parametrize(
    "rights",
    [{"role": Role.ADMIN}, {"is_superuser": True, "role": Role.ADMIN}, {"is_staff": True}],
)
def test_a_local_admin_is_never_taken_over(stranger, provider, make_person, rights):
    admin = make_person(**rights | {"email": "ada@example.org"})
    provider.person["groups"] = ["site-admins"]
    answer = sign_in(stranger)
    assert answer.status_code == 403
    assert "sign in with your password" in words(answer)
    assert stays_out(stranger)
    assert not SocialAccount.objects.exists()
    admin.refresh_from_db()
    assert admin.check_password(PASSWORD)
    assert admin.role == rights.get("role", Role.ANNOTATOR)


def test_nobody_links_an_account_by_hand(stranger, provider, make_person):
    eve = make_person(Role.RESEARCHER)
    stranger.post(LOGIN, {"login": eve.username, "password": PASSWORD})
    for process in ("connect", "redirect", "x"):
        assert sign_in(stranger, process=process).status_code == 403
    assert not SocialAccount.objects.exists()
    assert stranger.get("/accounts/3rdparty/").url == "/profile/"


def test_a_superuser_who_is_linked_keeps_the_role(stranger, provider):
    sign_in(stranger)
    User.objects.update(is_superuser=True, is_staff=True, role=Role.ADMIN)
    sign_in(stranger)
    ada = User.objects.get()
    assert (ada.role, ada.is_superuser, ada.is_staff) == (Role.ADMIN, True, True)


def test_a_closed_account_stays_closed(stranger, provider, make_person):
    sign_in(stranger)
    admin = make_person(Role.ADMIN, is_superuser=True)
    set_active(actor=admin, person=User.objects.get(username="ada"), is_active=False)
    assert stays_out(stranger)
    sign_in(stranger)
    assert stays_out(stranger)


def test_whoever_the_institution_answers_for_has_no_password_here(stranger, provider):
    provider.person["email"] = f"{secrets.token_hex(8)}@example.org"  # throttling counts by address
    sign_in(stranger)
    stranger.logout()
    ada = User.objects.get()
    stranger.post("/accounts/password/reset/", {"email": ada.email})
    (letter,) = mail.outbox
    path = letter.body.partition("http://testserver")[2].split()[0]
    form = stranger.get(path, follow=True)
    chosen = {"password1": PASSWORD, "password2": PASSWORD}
    answer = stranger.post(form.request["PATH_INFO"], chosen)
    assert "signed in through the university alone" in words(answer)
    assert stays_out(stranger)
    answer = stranger.post(LOGIN, {"login": "ada", "password": PASSWORD})
    assert answer.status_code == 403
    assert stays_out(stranger)


def test_a_second_factor_is_asked_for_here_too(stranger, provider):
    sign_in(stranger)
    TOTP.activate(User.objects.get(), "A" * 32)
    stranger.logout()
    assert sign_in(stranger).url == "/accounts/2fa/authenticate/"
    assert stays_out(stranger)


def test_a_provider_that_fails_is_named(stranger, provider):
    path = ask_provider(stranger.get(BEGIN).url)
    provider.status = 500
    for answer in (stranger.get(BEGIN), stranger.get(path)):
        assert answer.status_code == 503
        assert "sign-in does not answer" in words(answer)


def test_somebody_who_stops_the_sign_in_is_told(stranger, provider):
    state = parse_qs(urlsplit(stranger.get(BEGIN).url).query)["state"][0]
    stopped = {"error": "access_denied", "state": state}
    answer = stranger.get(f"{BEGIN}callback/", stopped, follow=True)
    assert "You stopped the sign-in" in words(answer)


def test_where_no_provider_is_named_there_is_no_such_page(stranger, db):
    assert stranger.get(BEGIN).status_code == 404
    assert "Sign in through" not in words(stranger.get(LOGIN))


VARIABLES = {
    "OIDC_URL": "https://id.example.org/realms/u/",
    "OIDC_CLIENT_ID": "lookalike",
    "OIDC_CLIENT_SECRET": "s",
    "OIDC_ROLES": "a=admin, b c =annotator,a=researcher",
}


def test_five_variables_name_the_provider(monkeypatch):
    for name, value in VARIABLES.items():
        monkeypatch.setenv(name, value)
    found = oidc.given()
    assert found is not None
    assert (found.url, found.name) == ("https://id.example.org/realms/u", "single sign-on")
    assert found.roles == {"a": "admin", "b c": "annotator"}
    assert set(oidc.ROLES) == set(Role.values)


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("OIDC_CLIENT_SECRET", "", "OIDC_CLIENT_SECRET"),
        ("OIDC_ROLES", "", "OIDC_ROLES"),
        ("OIDC_ROLES", "a=boss", "a=boss"),
        ("OIDC_ROLES", "admins", "admins"),
        ("OIDC_ROLES", "=admin", "=admin"),
        ("OIDC_URL", "http://id.example.org", "https://"),
        ("OIDC_URL", "id.example.org", "https://"),
    ],
)
def test_a_variable_that_cannot_be_meant_stops_the_start(monkeypatch, name, value, problem):
    for each, good in (VARIABLES | {name: value}).items():
        monkeypatch.setenv(each, good)
    with pytest.raises(EnvError, match=problem):
        oidc.given()
