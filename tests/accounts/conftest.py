from __future__ import annotations

import itertools
import secrets
from collections.abc import Callable

import pytest
from django.test import Client

from accounts.models import Role, User
from tests.clients import PASSWORD, signed_in

_numbers = itertools.count(1)


@pytest.fixture
def make_person(db: None) -> Callable[..., User]:
    """Make a person with a name that no earlier test has used (throttling counts by name)."""

    def make(role: Role = Role.ANNOTATOR, **fields: object) -> User:
        name = f"p{next(_numbers)}-{secrets.token_hex(4)}"
        given = {"email": f"{name}@example.org", "is_staff": role == Role.ADMIN} | fields
        person = User(username=name, role=role, **given)
        person.set_password(PASSWORD)
        person.save()
        return person

    return make


@pytest.fixture
def stranger() -> Client:
    """A browser at an address that no earlier test has used (throttling counts by address)."""
    one, two, three = secrets.randbelow(255), secrets.randbelow(255), secrets.randbelow(255)
    return Client(REMOTE_ADDR=f"10.{one}.{two}.{three}")


@pytest.fixture
def as_person() -> Callable[[User], Client]:
    return signed_in
