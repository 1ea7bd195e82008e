"""Access tokens: kept as hashes, scoped, expiring, revocable, and never an annotator's."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.core.exceptions import PermissionDenied
from django.utils import timezone

from accounts.models import AccessToken, Role, Scope
from accounts.tokens.secret import new_token, read_prefix, token_digest
from accounts.tokens.services import (
    MAX_USABLE,
    TokenRefusedError,
    create_token,
    revoke_token,
    use_token,
)
from audit.actions import Action
from audit.models import Entry
from lookalike.core.errors import Refused
from tests.clients import PASSWORD

ASKED = {"name": "notebook", "scopes": ["read"], "days": "30"}


@pytest.fixture
def researcher(make_person):
    return make_person(Role.RESEARCHER)


@pytest.fixture
def made(researcher):
    return create_token(owner=researcher, name="notebook", scopes=[Scope.READ], days=30)


def test_a_token_is_recognised_by_its_prefix_and_two_are_never_the_same():
    token, prefix = new_token()
    assert re.fullmatch(r"lkl_[a-z0-9]{8}_[\w-]{43}", token)
    assert prefix == read_prefix(token) == token[4:12]
    assert new_token().token != token


@pytest.mark.parametrize("wrong", ["", "lkl_", "Bearer x", "lkl_abcdefgh_" + "x" * 42, "x" * 10**6])
def test_what_is_no_token_has_no_prefix(wrong):
    assert read_prefix(wrong) is None


def test_only_the_hash_is_kept(made):
    row, token = made
    assert row.digest == token_digest(token)
    kept = " ".join(str(value) for value in AccessToken.objects.values().get(pk=row.pk).values())
    assert token not in kept
    assert token.rpartition(f"{row.prefix}_")[2] not in kept
    log = " ".join(str(entry.details) for entry in Entry.objects.all())
    assert token not in log
    assert row.prefix in log


def test_a_token_is_used_and_its_use_noted_to_the_minute(made):
    row, token = made
    assert use_token(token=token).owner == row.owner
    first = AccessToken.objects.get(pk=row.pk).last_used_at
    assert first is not None
    use_token(token=token)
    assert AccessToken.objects.get(pk=row.pk).last_used_at == first
    AccessToken.objects.update(last_used_at=first - timedelta(minutes=2))
    use_token(token=token)
    again = AccessToken.objects.get(pk=row.pk).last_used_at
    assert again is not None
    assert again >= first


def refused(token: str) -> str:
    with pytest.raises(TokenRefusedError) as caught:
        use_token(token=token)
    return caught.value.code


def test_an_expired_token_is_refused_from_the_very_moment(made):
    row, token = made
    AccessToken.objects.update(expires_at=timezone.now())
    assert refused(token) == "token_expired"
    assert row.last_used_at is None


def test_a_revoked_token_is_refused_and_revoking_twice_is_recorded_once(made):
    row, token = made
    revoke_token(token=row)
    revoke_token(token=row)
    assert refused(token) == "token_revoked"
    assert Entry.objects.filter(action=Action.TOKEN_REVOKED).count() == 1


def test_a_token_of_a_closed_account_is_refused(made, researcher):
    researcher.is_active = False
    researcher.save()
    assert refused(made[1]) == "account_closed"
    researcher.is_active = True
    researcher.save()
    assert refused(made[1]) == "token_revoked"


def test_a_token_that_nobody_made_is_refused(made):
    assert refused(new_token().token) == "invalid_token"
    assert refused(made[1][:-1]) == "invalid_token"
    assert refused(made[0].digest) == "invalid_token"


@pytest.mark.parametrize(
    ("role", "scope"),
    [
        (Role.ANNOTATOR, Scope.READ),
        (Role.ANNOTATOR, Scope.RUNS),
        (Role.RESEARCHER, Scope.JUDGEMENTS),
    ],
)
def test_nobody_gives_a_token_more_than_their_role_may(make_person, role, scope):
    with pytest.raises(PermissionDenied):
        create_token(owner=make_person(role), name="x", scopes=[scope], days=1)


@pytest.mark.parametrize(("scopes", "days"), [([], 1), ([Scope.READ], 0), ([Scope.READ], 367)])
def test_a_token_has_a_scope_and_an_end(researcher, scopes, days):
    with pytest.raises(Refused):
        create_token(owner=researcher, name="x", scopes=scopes, days=days)


def test_usable_tokens_are_limited_and_a_revoked_one_makes_room(researcher):
    rows = [
        create_token(owner=researcher, name="x", scopes=[Scope.READ], days=1)[0]
        for _ in range(MAX_USABLE)
    ]
    with pytest.raises(Refused, match="revoke one first"):
        create_token(owner=researcher, name="x", scopes=[Scope.READ], days=1)
    revoke_token(token=rows[0])
    create_token(owner=researcher, name="x", scopes=[Scope.READ], days=1)


# ---- pages ----
@pytest.fixture
def browser(stranger, researcher):
    """Somebody who signed in and gave the password again."""
    stranger.post("/accounts/login/", {"login": researcher.username, "password": PASSWORD})
    stranger.post("/accounts/reauthenticate/", {"password": PASSWORD})
    return stranger


def test_a_token_is_shown_once(browser, researcher):
    page = browser.post("/profile/tokens/new/", ASKED)
    assert page.status_code == 200
    token = page.context["made"]
    assert use_token(token=token).owner == researcher
    assert token in page.content.decode()
    assert page["Cache-Control"] == "private, no-store"
    again = browser.get("/profile/tokens/").content.decode()
    assert token not in again
    assert token[4:12] in again


def test_making_a_token_asks_for_the_password_again(as_person, researcher):
    reply = as_person(researcher).post("/profile/tokens/new/", ASKED)
    assert reply.status_code == 302
    assert reply["Location"].startswith("/accounts/reauthenticate/")
    assert not AccessToken.objects.exists()


def test_a_researcher_is_not_offered_judgements(browser):
    page = browser.get("/profile/tokens/new/").content.decode()
    assert "runs:write" in page
    assert "judgements:read" not in page
    reply = browser.post("/profile/tokens/new/", ASKED | {"scopes": ["read", "judgements:read"]})
    assert "scopes" in reply.context["form"].errors
    assert not AccessToken.objects.exists()


def test_a_form_without_a_scope_or_with_another_time_is_refused(browser):
    wrongs: list[dict[str, object]] = [
        {"scopes": []},
        {"days": "4000"},
        {"name": ""},
        {"name": "x" * 101},
    ]
    for wrong in wrongs:
        assert browser.post("/profile/tokens/new/", ASKED | wrong).context["form"].errors
    assert not AccessToken.objects.exists()


def test_a_person_revokes_their_own_token(browser, made):
    row, token = made
    page = browser.post(f"/profile/tokens/{row.uid}/revoke/", follow=True)
    assert "opens nothing any more" in page.content.decode()
    assert refused(token) == "token_revoked"


def test_somebody_elses_token_looks_as_if_there_were_none(as_person, make_person, made):
    row, token = made
    for role in (Role.RESEARCHER, Role.ADMIN):
        other = as_person(make_person(role))
        assert other.post(f"/profile/tokens/{row.uid}/revoke/").status_code == 404
        assert row.prefix not in other.get("/profile/tokens/").content.decode()
    assert use_token(token=token) == row


def test_an_annotator_has_no_tokens(as_person, make_person):
    judge = as_person(make_person(Role.ANNOTATOR))
    for path in ("/profile/tokens/", "/profile/tokens/new/"):
        assert judge.get(path).status_code == 403
    assert judge.post("/profile/tokens/new/", ASKED).status_code == 403
    assert "Access tokens" not in judge.get("/profile/").content.decode()


def test_strangers_are_sent_to_sign_in(stranger):
    assert stranger.get("/profile/tokens/")["Location"].startswith("/accounts/login/")
