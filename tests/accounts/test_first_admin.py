"""An empty site gets its first admin by one link that works once, or on its own machine."""

from __future__ import annotations

import threading
from datetime import timedelta
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.utils import timezone

from accounts.first_admin.services import make_secret
from accounts.models import FirstAdminLink, Role, User
from tests.clients import PASSWORD

ASKED = {
    "username": "ada",
    "email": "ada@example.org",
    "password1": PASSWORD,
    "password2": PASSWORD,
}


def printed_link() -> str:
    words = StringIO()
    call_command("first_admin_link", "--address", "http://testserver", stderr=words)
    return words.getvalue().splitlines()[-1] if words.getvalue() else ""


def path_of(link: str) -> str:
    assert link.startswith("http://testserver/first-admin/")
    return link.removeprefix("http://testserver")


def admins() -> list[str]:
    return list(User.objects.filter(role=Role.ADMIN).values_list("username", flat=True))


@pytest.fixture
def path(db: None) -> str:
    return path_of(printed_link())


def test_the_link_makes_an_admin_who_is_signed_in_and_may_make_others(stranger, path):
    assert "The first admin" in stranger.get(path).content.decode()
    assert stranger.post(path, ASKED).url == "/"
    assert stranger.get("/people/").status_code == 200
    ada = User.objects.get(username="ada")
    assert (ada.role, ada.is_staff, ada.is_superuser) == (Role.ADMIN, True, True)
    assert ada.check_password(PASSWORD)


def test_the_link_works_once(stranger, path):
    stranger.post(path, ASKED)
    second = Client()
    assert second.get(path).status_code == 404
    answer = second.post(path, ASKED | {"username": "eve", "email": "eve@example.org"})
    assert answer.status_code == 404
    assert "does not work" in answer.content.decode()
    assert admins() == ["ada"]


@pytest.mark.django_db(transaction=True)
def test_of_two_browsers_at_once_one_becomes_the_admin():
    path, together = path_of(printed_link()), threading.Barrier(4)
    statuses = []

    def claim(name: str) -> None:
        form = ASKED | {"username": name, "email": f"{name}@example.org"}
        together.wait()
        statuses.append(Client().post(path, form).status_code)
        connection.close()

    threads = [threading.Thread(target=claim, args=[f"claimant-{i}"]) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(statuses) == [302, 404, 404, 404]
    assert len(admins()) == 1


def test_the_link_expires(stranger, path):
    FirstAdminLink.objects.update(expires_at=timezone.now())
    assert stranger.get(path).status_code == 404
    assert stranger.post(path, ASKED).status_code == 404
    assert admins() == []
    FirstAdminLink.objects.update(expires_at=timezone.now() + timedelta(seconds=9))
    assert stranger.get(path).status_code == 200


@pytest.mark.parametrize("is_active", [True, False])
def test_the_link_is_dead_as_soon_as_any_admin_exists(stranger, path, make_person, is_active):
    make_person(Role.ADMIN, is_active=is_active)
    assert stranger.post(path, ASKED).status_code == 404
    assert printed_link() == ""
    assert not User.objects.filter(username="ada").exists()


def test_a_restart_prints_another_link_and_ends_the_one_before(stranger, path):
    again = path_of(printed_link())
    assert again != path
    assert stranger.get(path).status_code == 404
    assert stranger.get(again).status_code == 200


def test_a_judge_or_researcher_does_not_end_the_link(stranger, path, make_person):
    make_person(Role.ANNOTATOR)
    make_person(Role.RESEARCHER, is_staff=True)
    assert stranger.get(path).status_code == 200


def test_the_secret_is_kept_as_a_hash(db):
    secret = make_secret()
    assert secret is not None
    kept = str(FirstAdminLink.objects.values().get())
    assert secret not in kept
    assert FirstAdminLink.objects.get().digest not in secret


@pytest.mark.parametrize("wrong", ["", "x", "x" * 4000, "%00", "é" * 43])
def test_what_is_no_secret_opens_nothing(stranger, path, wrong):
    assert stranger.get(f"/first-admin/{wrong}/").status_code == 404
    stranger.post(f"/first-admin/{wrong}/", ASKED)
    assert admins() == []


def test_the_hash_itself_opens_nothing(stranger, path):
    assert stranger.get(f"/first-admin/{FirstAdminLink.objects.get().digest}/").status_code == 404


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"password1": "12345678", "password2": "12345678"}, "entirely numeric"),
        ({"password1": "ada@example", "password2": "ada@example"}, "too similar to the email"),
        ({"password1": "short", "password2": "short"}, "too short"),
        ({"password2": "another quiet meadow"}, "didn’t match"),
        ({"email": ""}, "required"),
        ({"email": "nobody"}, "valid email"),
        ({"username": "a b"}, "valid username"),
    ],
)
def test_a_weak_admin_is_refused_and_the_link_stays(stranger, path, wrong, words):
    page = stranger.post(path, ASKED | wrong)
    assert words in str(page.context["form"].errors)
    assert admins() == []
    assert stranger.post(path, ASKED).status_code == 302


def test_a_form_without_its_token_makes_nobody(path):
    assert Client(enforce_csrf_checks=True).post(path, ASKED).status_code == 403
    assert admins() == []


def create(*given: str) -> None:
    call_command("create_admin", *given, stdout=StringIO())


def test_an_admin_is_made_on_the_machine_by_a_file(db, tmp_path: Path, stranger):
    file = tmp_path / "password"
    file.write_text(f"{PASSWORD}\n")
    create("ada", "--email", "ada@example.org", "--password-file", str(file))
    stranger.post("/accounts/login/", {"login": "ada", "password": PASSWORD})
    assert stranger.get("/people/").status_code == 200


def test_an_admin_is_made_by_a_variable_and_ends_the_link(stranger, path, monkeypatch):
    monkeypatch.setenv("ADMIN_PASSWORD", PASSWORD)
    create("ada", "--email", "ada@example.org")
    assert admins() == ["ada"]
    assert stranger.get(path).status_code == 404
    assert not FirstAdminLink.objects.exists()


@pytest.mark.parametrize(
    ("password", "name", "words"),
    [
        ("password", "ada", "too common"),
        ("short", "ada", "too short"),
        (PASSWORD, "ada lovelace", "valid username"),
        (PASSWORD, "TAKEN", "already exists"),
    ],
)
def test_the_command_refuses_what_the_page_refuses(db, monkeypatch, password, name, words):
    User.objects.create_user("taken")
    monkeypatch.setenv("ADMIN_PASSWORD", password)
    with pytest.raises(CommandError, match=words):
        create(name, "--email", "ada@example.org")
    assert admins() == []


def test_the_command_asks_a_person_and_nobody_else(db, monkeypatch):
    monkeypatch.delenv("ADMIN_PASSWORD", raising=False)
    monkeypatch.setattr("sys.stdin.isatty", lambda: False, raising=False)
    with pytest.raises(CommandError, match="Give NAME"):
        create()
    with pytest.raises(CommandError, match="--password-file or ADMIN_PASSWORD"):
        create("ada", "--email", "ada@example.org")
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    answers = iter(["ada", "ada@example.org"])
    passwords = iter([PASSWORD, "a slip", PASSWORD, PASSWORD])
    monkeypatch.setattr("builtins.input", lambda _question: next(answers))
    monkeypatch.setattr(
        "accounts.management.commands.create_admin.getpass", lambda _question: next(passwords)
    )
    with pytest.raises(CommandError, match="didn’t match"):
        create("ada", "--email", "ada@example.org")
    create()
    assert admins() == ["ada"]


def test_a_missing_password_file_is_named(db):
    with pytest.raises(CommandError, match="nowhere"):
        create("ada", "--email", "ada@example.org", "--password-file", "/nowhere")


def test_createsuperuser_makes_an_admin_too(db, monkeypatch, stranger):
    monkeypatch.setenv("DJANGO_SUPERUSER_PASSWORD", PASSWORD)
    given = {"interactive": False, "username": "ada", "email": "ada@example.org"}
    call_command("createsuperuser", **given, stdout=StringIO())
    stranger.post("/accounts/login/", {"login": "ada", "password": PASSWORD})
    assert stranger.get("/people/").status_code == 200
