"""What settings of a campaign and their values are called where an admin reads of them."""

from __future__ import annotations

import re
from typing import Any

from django import forms

from annotation.models import Campaign
from annotation.task_kinds import TaskKind

LABELS = {
    "grades": "Grades, one a line",
    "similar_from": "Similar from grade",
    "notion": "Similar in what",
    "notion_model": "Learned notion",
    "k": "Votes for each pair (k)",
    "lease_minutes": "Reserve a pair for (minutes)",
    "closes_settled": "Close pairs early",
    "repeat_percent": "Silent repeats, %",
    "mirror_percent": "Mirrored pairs, %",
    "pass_percent": "Pass mark of the qualification round, %",
}


def label_of(name: str, kind: TaskKind) -> str:
    """Return what the form calls a setting."""
    return _said_of(kind, LABELS.get(name) or name.replace("_", " ").capitalize())


def value_in_words(name: str, value: object, kind: TaskKind) -> str:
    """Return a value of a setting as the form shows it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    choices = _choices(name)
    if value in choices:
        return _said_of(kind, str(choices[value]))
    return ", ".join(str(value).splitlines()) or "none"


def speak_of(kind: TaskKind, form: forms.Form | forms.ModelForm[Campaign]) -> None:
    """Let the fields of a form say what is asked, where they speak of pairs."""
    for name, field in form.fields.items():
        field.label = field.label and _said_of(kind, str(field.label))
        field.help_text = _said_of(kind, str(field.help_text))
        if isinstance(field, forms.TypedChoiceField):
            field.choices = [(one, value_in_words(name, one, kind)) for one in _choices(name)]


def _choices(name: str) -> dict[Any, Any]:
    return dict(Campaign._meta.get_field(name).flatchoices)  # type: ignore[union-attr]


def _said_of(kind: TaskKind, text: str) -> str:
    words = {"pair": kind.noun, "pairs": kind.nouns}
    words |= {word.capitalize(): noun.capitalize() for word, noun in words.items()}
    return re.sub(r"\b[Pp]airs?\b", lambda found: words[found[0]], text)
