"""Whether a name is free, said while somebody types it, with one that is."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.text import slugify

LONGEST = 80


@dataclass(frozen=True)
class NameCheck:
    """What a name would become, or why it cannot be.

    Attributes:
        slug: its short form, of addresses and commands.
        problem: "" where the name can be had.
        free: a name like it that can be had; "" where there is no problem, or nothing like it.
    """

    slug: str
    problem: str = ""
    free: str = ""


def check_name(
    name: str, rows: QuerySet[Any], *, what: str, reserved: Collection[str] = ()
) -> NameCheck:
    """Return whether a new thing may have a name.

    Args:
        name: as typed.
        rows: the things there are, each with a slug.
        what: one of them in a word.
        reserved: short names that are addresses of pages.
    """
    slug = slugify(name)[:LONGEST]
    if not slug:
        return NameCheck("", "Give a name with at least one letter or digit.")
    taken = set(rows.filter(slug__startswith=slug[: LONGEST - 5]).values_list("slug", flat=True))
    taken |= set(reserved)
    if slug not in taken:
        return NameCheck(slug)
    problem = f"There is a {what} “{slug}” already."
    if slug in reserved:
        problem = f"“{slug}” is the address of a page."
    number, stem = 2, name.strip()[: LONGEST - 5]
    while slugify(f"{stem} {number}") in taken:
        number += 1
    return NameCheck(slug, problem, f"{stem} {number}")


def typing_attributes(address: Any) -> dict[str, Any]:
    """Return what makes a text field ask an address about its value while somebody types.

    The answer lands in the page's #name-check.
    """
    return {
        "hx-get": address,
        "hx-trigger": "input changed delay:300ms",
        "hx-target": "#name-check",
        "hx-sync": "this:replace",
        "autocomplete": "off",
    }


def name_check_page(request: HttpRequest, check: NameCheck | None) -> HttpResponse:
    """Answer a field that asked about its value; None says nothing of it."""
    return render(request, "catalog/_name_check.html", {"check": check})
