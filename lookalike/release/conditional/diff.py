"""What changed between the templates and triplets of two releases."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from lookalike.release.format.folder import Folder
from lookalike.release.format.layout import list_tables

Key = TypeVar("Key", bound=Hashable)
Template = tuple[str, int]  # set and position
Question = tuple[str, str, str, str, str]  # set, anchor, both candidates by name, condition
OUTCOMES = {True: "verified", False: "not verified", None: "undecided"}


@dataclass(frozen=True)
class SetsChange:
    """What the second release has of templates, or of triplets, that the first has not.

    Attributes:
        n_added, n_removed: those that only one of the releases has.
        n_changed: in both, but asked otherwise (templates) or answered otherwise (triplets).
        flipped: (set, what it is, outcome before, outcome after), in order.
    """

    n_added: int = 0
    n_removed: int = 0
    n_changed: int = 0
    flipped: list[tuple[str, str, str, str]] = field(default_factory=list)

    @property
    def is_any(self) -> bool:
        """Whether anything differs."""
        return bool(self.n_added or self.n_removed or self.n_changed or self.flipped)


def templates_changed(first: Folder, second: Folder) -> SetsChange:
    """Compare templates, told by their set and their place in it."""
    asked = [_templates(folder) for folder in (first, second)]
    verdicts = [_verdicts(folder) for folder in (first, second)]
    n_added, n_removed, n_changed = _counted(*asked)
    flipped = [
        (key[0], f"template {key[1]}", OUTCOMES[verdicts[0][key]], OUTCOMES[verdicts[1][key]])
        for key in sorted(asked[0].keys() & asked[1].keys())
        if verdicts[0][key] != verdicts[1][key]
    ]
    return SetsChange(n_added, n_removed, n_changed, flipped)


def triplets_changed(first: Folder, second: Folder) -> SetsChange:
    """Compare triplets, told by their set, their images and their condition."""
    answers = [_triplets(folder) for folder in (first, second)]
    n_added, n_removed, n_changed = _counted(*answers)
    flipped = []
    for key in sorted(answers[0].keys() & answers[1].keys()):
        before, after = (_majority(key, of[key]) for of in answers)
        if before != after:
            condition = f" ({key[4]})" if key[4] else ""
            flipped.append((key[0], f"{key[1][:16]}{condition}", before, after))
    return SetsChange(n_added, n_removed, n_changed, flipped)


def _counted(before: Mapping[Key, object], after: Mapping[Key, object]) -> tuple[int, int, int]:
    return (
        len(after.keys() - before.keys()),
        len(before.keys() - after.keys()),
        sum(before[key] != after[key] for key in before.keys() & after.keys()),
    )


def _rows(folder: Folder, table: str) -> list[dict[str, Any]]:
    names = {held.name for held in list_tables(folder.info)}
    return folder.table(table).to_pylist() if table in names else []


def _templates(folder: Folder) -> dict[Template, object]:
    """Return what was asked by each template, images by SHA-256."""
    sha256 = folder.sha256_of
    candidates: dict[Template, list[object]] = defaultdict(list)
    for row in _rows(folder, "template_candidates"):
        candidate = (row["place"], sha256[row["image_id"]], row["kind"], row["box"])
        candidates[row["set"], row["position"]].append(candidate)
    return {
        key: (
            row["task"], row["condition"], sha256[row["reference_id"]], row["box"], candidates[key]
        )
        for row in _rows(folder, "templates")
        for key in [(row["set"], row["position"])]
    }  # fmt: skip


def _verdicts(folder: Folder) -> dict[Template, bool | None]:
    rows = _rows(folder, "template_verdicts")
    return {(row["set"], row["position"]): row["is_verified"] for row in rows}


def _triplets(folder: Folder) -> dict[Question, tuple[int, int]]:
    """Return how many said that the first and that the second candidate is closer."""
    sha256 = folder.sha256_of
    votes: dict[Question, tuple[int, int]] = {}
    for row in _rows(folder, "triplet_labels"):
        closer, farther = sha256[row["closer_id"]], sha256[row["farther_id"]]
        n, n_other = row["n_closer"], row["n_votes"] - row["n_closer"]
        one, other = sorted((closer, farther))
        key = (row["set"], sha256[row["anchor_id"]], one, other, row["condition"])
        votes[key] = (n, n_other) if closer == one else (n_other, n)
    return votes


def _majority(key: Question, votes: tuple[int, int]) -> str:
    """Return the candidate that most said is closer."""
    if votes[0] == votes[1]:
        return "undecided"
    return key[2 if votes[0] > votes[1] else 3][:16]
