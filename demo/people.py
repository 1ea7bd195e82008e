"""The demo's accounts: one to sign in with for each role, and the simulated experts."""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from accounts.models import Role, User

LOGINS = (
    ("demo-admin", Role.ADMIN),
    ("demo-annotator", Role.ANNOTATOR),
    ("demo-annotator-2", Role.ANNOTATOR),
    ("demo-annotator-3", Role.ANNOTATOR),
    ("demo-researcher", Role.RESEARCHER),
)


@dataclass(frozen=True)
class Login:
    """An account with its password, which is kept beside the data, readable by its owner."""

    username: str
    role: str
    password: str


def ensure_logins() -> list[Login]:
    """Make the accounts that are missing and return all of them with their passwords.

    A password is drawn once per data folder and stays. One that was changed since is not
    changed back; the list then shows the one that was drawn.
    """
    path = Path(settings.DATA_DIR) / "demo-logins.json"
    passwords: dict[str, str] = json.loads(path.read_text()) if path.exists() else {}
    for username, role in LOGINS:
        passwords.setdefault(username, secrets.token_urlsafe(9))
        if not User.objects.filter(username=username).exists():
            user = User(username=username, role=role, is_staff=role == Role.ADMIN)
            user.is_superuser = role == Role.ADMIN
            user.set_password(passwords[username])
            user.save()
    path.touch(mode=0o600)
    path.write_text(json.dumps(passwords, indent=1))
    return [Login(username, str(role.label), passwords[username]) for username, role in LOGINS]


def ensure_simulated(usernames: list[str]) -> list[User]:
    """Return the accounts of the simulated experts; nobody can sign in with them."""
    found = []
    for username in usernames:
        user, is_new = User.objects.get_or_create(
            username=username,
            defaults={"role": Role.ANNOTATOR, "is_simulated": True, "is_active": True},
        )
        if is_new:
            user.set_unusable_password()
            user.save()
        found.append(user)
    return found
