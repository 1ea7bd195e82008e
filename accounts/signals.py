"""What opens an account ends with its password, and when the account is closed.

On the model's own signal, so that it holds on every way: pages, links, back office, commands.
"""

from __future__ import annotations

from typing import Any

from accounts.models import User
from accounts.sessions.services import end_sessions
from accounts.tokens.services import end_tokens


def end_access(sender: type[User], instance: User, **_kwargs: Any) -> None:
    """End access tokens after a new password, and sessions too when the account is closed.

    Django itself ends the sessions that know another password.
    """
    if not instance.is_active:
        end_sessions(person=instance)
        end_tokens(owner=instance, why="the account was deactivated")
    elif instance._password is not None:  # type: ignore[attr-defined]  # it was just set
        end_tokens(owner=instance, why="the password was changed")
