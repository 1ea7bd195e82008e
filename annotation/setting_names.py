"""What settings of a campaign and their values are called where an admin reads of them."""

from __future__ import annotations

from annotation.models import Campaign

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


def label_of(name: str) -> str:
    """Return what the form calls a setting."""
    return LABELS.get(name) or name.replace("_", " ").capitalize()


def value_in_words(name: str, value: object) -> str:
    """Return a value of a setting as the form shows it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    choices = dict(Campaign._meta.get_field(name).flatchoices)  # type: ignore[union-attr]
    return str(choices.get(value, ", ".join(str(value).splitlines()) or "none"))
