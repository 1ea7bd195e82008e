"""Passwords of a list of breached ones are refused, by a file or by the service's ranges."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
import requests
from django.core.exceptions import ValidationError

from accounts.sign_in.breached import BreachedPasswordValidator
from tests.clients import PASSWORD

RANGES = "https://api.pwnedpasswords.com/range/"


def digest(password: str) -> str:
    return hashlib.sha1(password.encode(), usedforsecurity=False).hexdigest().upper()


def is_refused(password: str) -> bool:
    try:
        BreachedPasswordValidator().validate(password)
    except ValidationError as problem:
        return bool(problem.code == "password_breached")
    return False


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("n_lines", [0, 1, 2, 3, 1000])
def test_every_line_of_a_file_is_found_and_nothing_else(tmp_path: Path, settings, n_lines, ending):
    listed = [f"listed {at}" for at in range(n_lines)]
    lines = sorted(f"{digest(one)}:{at + 1}" for at, one in enumerate(listed))
    path = tmp_path / "pwned.txt"
    path.write_bytes("".join(line + ending for line in lines).encode())
    settings.BREACHED_PASSWORDS = str(path)
    assert [one for one in listed if not is_refused(one)] == []
    assert [one for one in (f"other {at}" for at in range(300)) if is_refused(one)] == []


def test_without_a_list_every_password_is_taken(settings) -> None:
    settings.BREACHED_PASSWORDS = ""
    assert not is_refused("password")


def test_the_service_learns_five_letters_and_padding_is_no_match(settings, monkeypatch) -> None:
    known, padding = digest("breached"), digest("padding")
    settings.BREACHED_PASSWORDS = RANGES
    addresses = []

    def get(address: str, **_: object) -> requests.Response:
        addresses.append(address)
        answer = requests.Response()
        answer.status_code = 200
        answer._content = f"{known[5:]}:7\r\n{padding[5:]}:0\r\n".encode()
        return answer

    monkeypatch.setattr("accounts.sign_in.breached.requests.get", get)
    assert is_refused("breached")
    assert not is_refused("padding")
    assert addresses == [RANGES + known[:5], RANGES + padding[:5]]


def test_a_silent_service_stops_nobody(settings, monkeypatch) -> None:
    def get(*_: object, **__: object) -> requests.Response:
        raise requests.ConnectTimeout

    settings.BREACHED_PASSWORDS = RANGES
    monkeypatch.setattr("accounts.sign_in.breached.requests.get", get)
    assert not is_refused("breached")


def test_nobody_chooses_a_breached_password_on_the_page(tmp_path, settings, as_person, make_person):
    path = tmp_path / "pwned.txt"
    path.write_text(f"{digest('Quite-long-77-but-known')}:3\n")
    settings.BREACHED_PASSWORDS = str(path)
    person = make_person()
    client = as_person(person)
    for new, status in (("Quite-long-77-but-known", 200), ("Quite-long-77-unknown", 302)):
        sent = {"oldpassword": PASSWORD, "password1": new, "password2": new}
        assert client.post("/accounts/password/change/", sent).status_code == status
