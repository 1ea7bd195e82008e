"""How allauth behaves here: accounts are given, not taken."""

from __future__ import annotations

from allauth.account.adapter import DefaultAccountAdapter
from django.http import HttpRequest


class InvitedOnlyAdapter(DefaultAccountAdapter):
    """Close the public sign-up; admins make accounts."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """Return False: nobody signs up alone."""
        return False
