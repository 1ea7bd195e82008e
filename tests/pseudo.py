"""A made-up language in which each text stands in brackets, so that words left in code show."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import allauth
import django
from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from django.conf import settings
from django.utils.translation import to_locale
from lxml import html  # type: ignore[import-untyped]

LANGUAGE = "en-xa"
RIGHT_TO_LEFT = "ar-xb"
OPEN, CLOSE = "⟦", "⟧"
SAID = ("aria-label", "aria-description", "title", "placeholder", "alt", "data-confirm")
SILENT = ("script", "style", "svg", "pre", "code", "template")
# the name of the program, those of languages in themselves, and of what has one name everywhere
KNOWN = ("Lookalike", "English", "Deutsch", "Español", "العربيّة", "JavaScript")


def write_language(folder: Path, language: str = LANGUAGE) -> None:
    """Write the made-up language's files, with all that we, Django and allauth say."""
    place = folder / to_locale(language) / "LC_MESSAGES"
    place.mkdir(parents=True)
    ours = Path(settings.BASE_DIR, "locale/de/LC_MESSAGES")
    theirs = [
        *Path(django.__file__).parent.glob("**/locale/en/LC_MESSAGES/django.po"),
        *Path(allauth.__file__).parent.glob("locale/en/LC_MESSAGES/django.po"),
    ]
    for domain, sources in (
        ("django", [*theirs, ours / "django.po"]),
        ("djangojs", [ours / "djangojs.po"]),
    ):
        made = Catalog(locale="en")
        for path in sources:
            with path.open("rb") as file:
                for message in read_po(file):
                    if message.id:
                        ids = message.id
                        text = (
                            tuple(map(_bracketed, ids))
                            if isinstance(ids, tuple)
                            else _bracketed(ids)
                        )
                        made.add(ids, text, context=message.context)
        with (place / f"{domain}.mo").open("wb") as file:
            write_mo(file, made)


def _bracketed(text: Any) -> str:
    start, end = ("\n" * text.startswith("\n"), "\n" * text.endswith("\n"))
    return f"{start}{OPEN}{text.strip(chr(10))}{CLOSE}{end}"


def words_left(page: str, said_by_people: Collection[str] = ()) -> list[str]:
    """Return the texts of a page that stand outside of brackets.

    Args:
        page: HTML.
        said_by_people: what stands in no catalog, such as names.
    """
    known = sorted({*said_by_people, *KNOWN}, key=len, reverse=True)
    root = html.document_fromstring(page)
    texts = "".join(f"{text}\0" for text in _texts(root))
    found = _outside(texts, known)
    for element in root.iter():
        if isinstance(element.tag, str):
            for name in SAID:
                found += [f"{name}: {left}" for left in _outside(element.get(name, ""), known)]
    return found


def _texts(element: html.HtmlElement) -> Iterator[str]:
    if isinstance(element.tag, str) and element.tag not in SILENT:
        yield element.text or ""
        for child in element:
            yield from _texts(child)
    yield element.tail or ""


def _outside(text: str, known: Collection[str]) -> list[str]:
    """Return what has words at no depth of brackets; single letters are keys."""
    depth, outside = 0, []
    for sign in text:
        depth += (sign == OPEN) - (sign == CLOSE)
        outside.append(sign if depth == 0 and sign != CLOSE else "\0")
    parts = "".join(outside)
    for name in known:
        parts = parts.replace(name, "\0")
    return [part.strip() for part in parts.split("\0") if re.search(r"[^\W\d_]{2}", part)]
