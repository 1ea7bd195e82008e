"""What changed between two releases: pairs, labels, judges, sets, and every model's scores."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from lookalike.release.conditional.diff import SetsChange, templates_changed, triplets_changed
from lookalike.release.format.folder import Folder
from lookalike.release.opened import open_release

SHOWN = 10


@dataclass(frozen=True)
class ScoreChange:
    """A measure of a model in both releases; None where a release lacks it."""

    model: str
    measure: str
    before: float | None
    after: float | None

    @property
    def change(self) -> float | None:
        """The difference, None where either side is missing."""
        return None if self.before is None or self.after is None else self.after - self.before


@dataclass(frozen=True)
class Difference:
    """What the second release has that the first has not, and the other way round.

    Pairs are named by the SHA-256 of query and candidate.

    Attributes:
        before, after: names and versions.
        n_pairs_added, n_pairs_removed: pairs put to the judges.
        n_labels_added, n_labels_removed: pairs with a label.
        flipped: (query, candidate, label before, label after), in order.
        n_judges: before and after; pseudonyms differ, so judges are only counted.
        n_judgements: before and after.
        models_added, models_removed: names.
        scores: every measure of every model.
        n_regraded: pairs with another grade.
        templates, triplets: of sets of the same slug.
    """

    before: str
    after: str
    n_pairs_added: int
    n_pairs_removed: int
    n_labels_added: int
    n_labels_removed: int
    flipped: list[tuple[str, str, int, int]]
    n_judges: tuple[int, int]
    n_judgements: tuple[int, int]
    models_added: list[str]
    models_removed: list[str]
    scores: list[ScoreChange]
    n_regraded: int = 0
    templates: SetsChange = field(default_factory=SetsChange)
    triplets: SetsChange = field(default_factory=SetsChange)

    def as_json(self) -> dict[str, Any]:
        """Return it ready to be written."""
        return {
            **asdict(self),
            "scores": [{**asdict(score), "change": score.change} for score in self.scores],
        }


def diff(before: str | Path, after: str | Path) -> Difference:
    """Compare two release folders or zips.

    Raises:
        ReleaseError: one of them is no release.
    """
    with open_release(before) as first, open_release(after) as second:
        return difference(first, second)


def difference(first: Folder, second: Folder) -> Difference:
    """Compare two unpacked releases."""
    pairs = [_pairs(folder) for folder in (first, second)]
    labels = [labels_by_content(folder) for folder in (first, second)]
    shared = labels[0].keys() & labels[1].keys()
    flipped = sorted(
        (*pair, labels[0][pair], labels[1][pair])
        for pair in shared
        if labels[0][pair] != labels[1][pair]
    )
    counts = [folder.json("statistics.json") for folder in (first, second)]
    names = [{model["name"] for model in folder.models} for folder in (first, second)]
    return Difference(
        before=first.title,
        after=second.title,
        n_pairs_added=len(pairs[1] - pairs[0]),
        n_pairs_removed=len(pairs[0] - pairs[1]),
        n_labels_added=len(labels[1].keys() - labels[0].keys()),
        n_labels_removed=len(labels[0].keys() - labels[1].keys()),
        flipped=flipped,
        n_judges=(counts[0]["n_judges"], counts[1]["n_judges"]),
        n_judgements=(counts[0]["n_judgements"], counts[1]["n_judgements"]),
        models_added=sorted(names[1] - names[0]),
        models_removed=sorted(names[0] - names[1]),
        scores=_scores(first, second),
        n_regraded=_n_regraded(first, second),
        templates=templates_changed(first, second),
        triplets=triplets_changed(first, second),
    )


def _pairs(folder: Folder) -> set[tuple[str, str]]:
    sha256 = folder.sha256_of
    rows = folder.rows("pairs", "query_id", "image_id")
    return {(sha256[query], sha256[image]) for query, image in rows}


def labels_by_content(folder: Folder, column: str = "label") -> dict[tuple[str, str], int]:
    """Return the label, or grade, of each pair: by the SHA-256 of query and candidate."""
    sha256 = folder.sha256_of
    return {
        (sha256[query], sha256[image]): label
        for query, image, label in folder.rows("labels", "query_id", "image_id", column)
        if label is not None
    }


def _n_regraded(first: Folder, second: Folder) -> int:
    """Return how many pairs have a grade in both, and another one."""
    grades = [
        labels_by_content(folder, "grade") if folder.scale else {} for folder in (first, second)
    ]
    return sum(grade != grades[1].get(pair, grade) for pair, grade in grades[0].items())


def _scores(first: Folder, second: Folder) -> list[ScoreChange]:
    values = [_values(folder) for folder in (first, second)]
    keys = list(dict.fromkeys([*values[0], *values[1]]))
    return [ScoreChange(*key, values[0].get(key), values[1].get(key)) for key in keys]


def _values(folder: Folder) -> dict[tuple[str, str], float | None]:
    names = {model["id"]: model["name"] for model in folder.models}
    return {
        (names[model["id"]], measure): outcome["value"]
        for model in folder.json("results.json")["models"]
        for measure, outcome in model["measures"].items()
    }


def _sets_text(what: str, change: SetsChange) -> list[str]:
    if not change.is_any:
        return []
    return [
        f"{what}: {change.n_added:,} added, {change.n_removed:,} removed, {change.n_changed:,} "
        f"changed, {len(change.flipped):,} flipped",
        *_flips([f"{of}, {name} from {was} to {now}" for of, name, was, now in change.flipped]),
    ]


def _flips(flips: list[str]) -> list[str]:
    more = [f"… and {len(flips) - SHOWN:,} more"] if len(flips) > SHOWN else []
    return [f"flipped: {flip}" for flip in flips[:SHOWN]] + more


def difference_text(difference: Difference) -> str:
    """Return a difference for people, ready for a changelog."""
    lines = [
        f"{difference.before} → {difference.after}",
        f"pairs: {difference.n_pairs_added:,} added, {difference.n_pairs_removed:,} removed",
        f"labels: {difference.n_labels_added:,} added, {difference.n_labels_removed:,} removed, "
        f"{len(difference.flipped):,} flipped",
        f"judges: {difference.n_judges[0]:,} before, {difference.n_judges[1]:,} now",
        f"judgements: {difference.n_judgements[0]:,} before, {difference.n_judgements[1]:,} now",
    ]
    if difference.n_regraded:
        lines.append(f"grades: {difference.n_regraded:,} changed")
    for what, names in (("added", difference.models_added), ("removed", difference.models_removed)):
        if names:
            lines.append(f"models {what}: {', '.join(names)}")
    lines += _flips(
        [f"{q[:16]} {c[:16]} from {was} to {now}" for q, c, was, now in difference.flipped]
    )
    lines += _sets_text("templates", difference.templates)
    lines += _sets_text("triplets", difference.triplets)
    for score in difference.scores:
        if score.change:
            lines.append(
                f"{score.model}, {score.measure}: {score.before:.4f} → {score.after:.4f} "
                f"({score.change:+.4f})"
            )
    return "\n".join(lines) + "\n"
