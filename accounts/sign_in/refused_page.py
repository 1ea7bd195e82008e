"""The page that says why somebody is not signed in."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render


def refusal(request: HttpRequest, reason: str, status: int = 403) -> HttpResponse:
    """Return the page, with the reason in words."""
    return render(request, "accounts/refused.html", {"reason": reason}, status=status)
