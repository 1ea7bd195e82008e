"""What follows from the templates and triplets of a release: verdicts, labels, figures, lists."""

from __future__ import annotations

import json
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import PurePosixPath
from typing import Any

from lookalike.agreement.coefficients import Agreement
from lookalike.conditional.formats.genecis import OBJECT_TASKS, TASKS, genecis_entries
from lookalike.conditional.types import (
    Box,
    Distractor,
    DistractorKind,
    Provenance,
    RetrievalTemplate,
    Task,
    View,
)
from lookalike.conditional.verdicts import (
    Outcome,
    Share,
    Verdict,
    Vote,
    agreement_of,
    share_of,
    verdict_of,
)
from lookalike.release.column_text import json_value
from lookalike.release.folder import Folder
from lookalike.release.layout import has_sets
from lookalike.release.scoring import rounded
from lookalike.release.tables import write_rows
from lookalike.release.triplet_labels import label_rows, triplet_figures, triplets_csv

Pieces = Callable[[Folder], Iterator[bytes]]
Row = dict[str, Any]


@dataclass(frozen=True)
class JudgedTemplate:
    """A template of a release with what was said of it.

    Attributes:
        row: of the table templates.
        candidates: rows of template_candidates, the target last.
        votes: without names.
        verdict: of the panel.
        is_verified: by the panel or a ruling; None where neither says.
    """

    row: Row
    candidates: list[Row]
    votes: list[Vote]
    verdict: Verdict
    is_verified: bool | None


def derive_sets(release: Folder) -> dict[str, Pieces]:
    """Write verdicts, labels and conditional.json, and return what writes the lists, by path."""
    if not has_sets(release.info):
        return {}
    found: dict[str, Pieces] = {}
    figures: dict[str, Any] = {"template_sets": [], "tasks": {}, "triplet_sets": []}
    if release.info.get("template_sets"):
        judged = judged_templates(release)
        write_rows(release.path, "template_verdicts", [_verdict_row(one) for one in judged])
        figures["template_sets"] = [
            _figures_of(one, judged) for one in release.info["template_sets"]
        ]
        figures["tasks"] = {
            task: _share_json([one for one in judged if one.row["task"] == task])
            for task in sorted({one.row["task"] for one in judged})
        }
        for one in release.info["template_sets"]:
            if one["task"] in TASKS:
                found[f"genecis/{one['slug']}.json"] = partial(_genecis, of=one["slug"])
    if release.info.get("triplet_sets"):
        labels = label_rows(release.table("triplets").to_pylist())
        write_rows(release.path, "triplet_labels", labels)
        figures["triplet_sets"] = [
            triplet_figures(one["slug"], labels) for one in release.info["triplet_sets"]
        ]
        for one in release.info["triplet_sets"]:
            found[f"triplets/{one['slug']}.csv"] = partial(triplets_csv, of=one["slug"])
    text = json.dumps(figures, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    (release.path / "conditional.json").write_text(text, encoding="utf-8", newline="")
    return found


def judged_templates(release: Folder) -> list[JudgedTemplate]:
    """Return every template with its votes and verdict, in the order of the table."""
    candidates, votes = (
        _by_template(release, f"template_{name}") for name in ("candidates", "votes")
    )
    rulings = _by_template(release, "template_rulings")
    n_panel = {one["slug"]: one["n_judges"] for one in release.info["template_sets"]}
    found = []
    for row in release.table("templates").to_pylist():
        key = (row["set"], row["position"])
        given = [Vote(vote["choice"], vote["place"]) for vote in votes[key]]
        verdict = verdict_of(given, n_panel[row["set"]], len(candidates[key]) - 1)
        passes: bool | None = None
        if verdict.outcome in (Outcome.PASSES, Outcome.FAILS):
            passes = verdict.outcome == Outcome.PASSES
        elif verdict.outcome == Outcome.ADJUDICATE and rulings[key]:
            passes = rulings[key][0]["passes"]
        found.append(JudgedTemplate(row, candidates[key], given, verdict, passes))
    return found


def _by_template(release: Folder, table: str) -> Mapping[tuple[str, int], list[Row]]:
    found: dict[tuple[str, int], list[Row]] = defaultdict(list)
    for row in release.table(table).to_pylist():
        found[row["set"], row["position"]].append(row)
    return found


def _verdict_row(one: JudgedTemplate) -> Row:
    return {
        "set": one.row["set"],
        "position": one.row["position"],
        "n_votes": len(one.votes),
        "outcome": one.verdict.outcome.value,
        "is_unique": one.verdict.is_unique,
        "is_verified": one.is_verified,
    }


def _figures_of(given: Row, judged: Sequence[JudgedTemplate]) -> Row:
    mine = [one for one in judged if one.row["set"] == given["slug"]]
    n_of = Counter(one.row["condition"] for one in mine)
    agreed = agreement_of([one.votes for one in mine], [len(one.candidates) for one in mine])
    return {
        "set": given["slug"],
        "task": given["task"],
        **_share_json(mine),
        "agreement": agreement_json(agreed),
        "by_condition": [
            {"condition": name, **_share_json([o for o in mine if o.row["condition"] == name])}
            for name in sorted(n_of, key=lambda name: (-n_of[name], name))
        ],
    }


def _share_json(judged: Sequence[JudgedTemplate]) -> Row:
    share: Share = share_of(one.verdict for one in judged)
    return {
        "n_templates": share.n,
        "n_verified": sum(one.is_verified is True for one in judged),
        "by_outcome": {outcome.value: n for outcome, n in share.by_outcome.items()},
        "n_unique": share.n_unique,
        "unique_share": rounded(share.unique_share),
        "pass_share": rounded(share.pass_share),
    }


def agreement_json(found: Agreement) -> Row:
    """Return the figures of agreement that make sense for answers of many kinds."""
    figures = {"percent": found.percent, "krippendorff_alpha": found.alpha, "gwet_ac1": found.ac1}
    return {name: None if math.isnan(v) else rounded(v) for name, v in figures.items()}


def _genecis(release: Folder, of: str) -> Iterator[bytes]:
    """Yield the verified templates of a set as an official file, one entry a line."""
    pictures = _pictures(release)
    chosen = [
        _template(one, pictures)
        for one in judged_templates(release)
        if one.row["set"] == of and one.is_verified
    ]
    before = "[\n"
    for entry in genecis_entries(chosen) if chosen else ():
        yield f"{before}{json_value(entry)}".encode()
        before = ",\n"
    yield b"\n]\n" if chosen else b"[]\n"


def _pictures(release: Folder) -> dict[str, tuple[str, Box]]:
    """Return name and extent of each image; GeneCIS names images by number where files do."""
    table = release.table("images", ["image_id", "path", "width", "height"])
    found = {}
    for row in table.to_pylist():
        stem = PurePosixPath(row["path"]).stem
        name = str(int(stem)) if stem.isascii() and stem.isdecimal() else row["path"]
        found[row["image_id"]] = (name, Box(0, 0, row["width"], row["height"]))
    return found


def _template(one: JudgedTemplate, pictures: Mapping[str, tuple[str, Box]]) -> RetrievalTemplate:
    is_of_objects = Task(one.row["task"]) in OBJECT_TASKS

    def view(image: str, box: Box | None) -> View:
        """Return a view; in attribute tasks the format wants a box of every image."""
        name, extent = pictures[image]
        return View(name, box or (None if is_of_objects else extent))

    return template_of(one.row, one.candidates, view)


def template_of(
    row: Row, candidates: Sequence[Row], view: Callable[[str, Box | None], View]
) -> RetrievalTemplate:
    """Return a template of a release.

    Args:
        row: of the table templates.
        candidates: of template_candidates, the target last.
        view: what is shown of an image and its box, None for the whole image.
    """

    def shown(image: str, box: str) -> View:
        return view(image, Box(*json.loads(box)) if box else None)

    *distractors, target = candidates
    return RetrievalTemplate(
        task=Task(row["task"]),
        condition=row["condition"],
        reference=shown(row["reference_id"], row["box"]),
        target=shown(target["image_id"], target["box"]),
        gallery=tuple(
            Distractor(shown(other["image_id"], other["box"]), DistractorKind(other["kind"]))
            for other in distractors
        ),
        provenance=Provenance("release", row["position"]),
    )
