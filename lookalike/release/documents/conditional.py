"""What a datasheet says of templates and triplets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lookalike.release.documents.facts import Facts, interval_words, number, percent
from lookalike.release.documents.markdown import single_line, table

N_CONDITIONS = 20


def conditional_part(facts: Facts) -> Iterator[str]:
    """Yield the blocks of the section, none for a release of pairs alone."""
    found = facts.conditional
    if not found:
        return
    head = "## Conditional similarity"
    # every release of triplets alone has two empty lines below the heading
    yield head if found["template_sets"] else f"{head}\n"
    if found["template_sets"]:
        yield from _templates(facts, found)
    if found["triplet_sets"]:
        yield from _triplets(facts, found["triplet_sets"])


def _templates(facts: Facts, found: dict[str, Any]) -> Iterator[str]:
    name_of = {one["slug"]: one for one in facts.info["template_sets"]}
    yield (
        "Templates ask which image of a gallery is most like a reference, given a condition. "
        "Each was put to the whole panel of its set; it is verified where more than half picked "
        "the target, or an admin ruled so. An answer is unique where more than half named the "
        "same image."
    )
    yield table(
        ("Set", "Task", "Judges", "Templates", "Verified", "Unique answer", "Agreement", "AC1"),
        [
            (
                single_line(name_of[one["set"]]["name"]),
                one["task"],
                f"{name_of[one['set']]['n_judges']}",
                f"{one['n_templates']:,}",
                f"{one['n_verified']:,}",
                percent(one["unique_share"]),
                f"{percent(one['agreement']['percent'])}"
                f"{interval_words(one['agreement'], 'percent')}",
                f"{number(one['agreement']['gwet_ac1'])}"
                f"{interval_words(one['agreement'], 'gwet_ac1')}",
            )
            for one in found["template_sets"]
        ],
    )
    yield table(
        ("Set", "Condition", "Templates", "Verified", "Unique answer"),
        [
            (
                single_line(name_of[one["set"]]["name"]),
                single_line(of["condition"]),
                f"{of['n_templates']:,}",
                f"{of['n_verified']:,}",
                percent(of["unique_share"]),
            )
            for one in found["template_sets"]
            for of in one["by_condition"][:N_CONDITIONS]
        ],
    )
    yield f"At most {N_CONDITIONS} conditions of a set are listed; conditional.json has all."


def _triplets(facts: Facts, sets: list[dict[str, Any]]) -> Iterator[str]:
    name_of = {one["slug"]: one["name"] for one in facts.info["triplet_sets"]}
    yield "Triplets ask which of two images is more like an anchor."
    yield table(
        ("Set", "Triplets", "With a majority", "Answers", "Share with the majority"),
        [
            (
                single_line(name_of[one["set"]]),
                f"{one['n_triplets']:,}",
                f"{one['n_decided']:,}",
                f"{one['n_votes']:,}",
                percent(one["human_ceiling"]),
            )
            for one in sets
        ],
    )
