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
from lookalike.conditional.verdict_intervals import JudgedAnswer, verdict_intervals
from lookalike.conditional.verdicts import (
    Outcome,
    Share,
    Verdict,
    Vote,
    count_verdicts,
    decide,
    verdict_agreement,
)
from lookalike.release.conditional.triplet_labels import label_rows, triplet_figures, triplets_csv
from lookalike.release.format.column_text import json_value
from lookalike.release.format.folder import Folder, write_json
from lookalike.release.format.layout import FIRST_WITH_BOARD, has_sets
from lookalike.release.format.tables import write_rows
from lookalike.release.scoring import rounded
from lookalike.release.statistics import intervals_json
from lookalike.stats.units import Units

Pieces = Callable[[Folder], Iterator[bytes]]
Row = dict[str, Any]


@dataclass(frozen=True)
class JudgedTemplate:
    """A template of a release with what was said of it.

    Attributes:
        row: of the table templates.
        candidates: rows of template_candidates, the target last.
        votes: without names.
        judges: who gave them, by the release's names.
        verdict: of the panel.
        is_verified: by the panel or a ruling; None where neither says.
    """

    row: Row
    candidates: list[Row]
    votes: list[Vote]
    judges: list[str]
    verdict: Verdict
    is_verified: bool | None


def derive_sets(release: Folder) -> dict[str, Pieces]:
    """Write verdicts, labels and conditional.json, and return what writes the lists, by path."""
    if not has_sets(release.info):
        return {}
    writers: dict[str, Pieces] = {}
    figures: dict[str, Any] = {"template_sets": [], "tasks": {}, "triplet_sets": []}
    if release.info.get("template_sets"):
        judged = judged_templates(release)
        write_rows(
            release.path, "template_verdicts", [_verdict_row(template) for template in judged]
        )
        figures["template_sets"] = [
            _figures(release, entry, judged) for entry in release.info["template_sets"]
        ]
        figures["tasks"] = {
            task: _share_json([template for template in judged if template.row["task"] == task])
            for task in sorted({template.row["task"] for template in judged})
        }
        for entry in release.info["template_sets"]:
            if entry["task"] in TASKS:
                writers[f"genecis/{entry['slug']}.json"] = partial(_genecis, of=entry["slug"])
    if release.info.get("triplet_sets"):
        labels = label_rows(release.table("triplets").to_pylist())
        write_rows(release.path, "triplet_labels", labels)
        figures["triplet_sets"] = [
            triplet_figures(entry["slug"], labels) for entry in release.info["triplet_sets"]
        ]
        for entry in release.info["triplet_sets"]:
            writers[f"triplets/{entry['slug']}.csv"] = partial(triplets_csv, of=entry["slug"])
    write_json(release.path / "conditional.json", figures)
    return writers


def judged_templates(release: Folder) -> list[JudgedTemplate]:
    """Return every template with its votes and verdict, in the order of the table."""
    candidates, votes = (
        _by_template(release, f"template_{name}") for name in ("candidates", "votes")
    )
    rulings = _by_template(release, "template_rulings")
    n_panel = {entry["slug"]: entry["n_judges"] for entry in release.info["template_sets"]}
    judged = []
    for row in release.table("templates").to_pylist():
        key = (row["set"], row["position"])
        answers = [Vote(vote["choice"], vote["place"]) for vote in votes[key]]
        verdict = decide(answers, n_panel[row["set"]], len(candidates[key]) - 1)
        passes: bool | None = None
        if verdict.outcome in (Outcome.PASSES, Outcome.FAILS):
            passes = verdict.outcome == Outcome.PASSES
        elif rulings[key]:
            passes = rulings[key][0]["passes"]
        judges = [vote["annotator"] for vote in votes[key]]
        judged.append(JudgedTemplate(row, candidates[key], answers, judges, verdict, passes))
    return judged


def _by_template(release: Folder, table: str) -> Mapping[tuple[str, int], list[Row]]:
    by_template: dict[tuple[str, int], list[Row]] = defaultdict(list)
    for row in release.table(table).to_pylist():
        by_template[row["set"], row["position"]].append(row)
    return by_template


def _verdict_row(template: JudgedTemplate) -> Row:
    return {
        "set": template.row["set"],
        "position": template.row["position"],
        "n_votes": len(template.votes),
        "outcome": template.verdict.outcome.value,
        "is_unique": template.verdict.is_unique,
        "is_verified": template.is_verified,
    }


def _agreement_intervals(release: Folder, members: Sequence[JudgedTemplate]) -> Row:
    """Return the intervals of agreement; templates of one reference's product are one unit.

    Releases before `FIRST_WITH_BOARD` have none.
    """
    if release.info.get("schema_version", 1) < FIRST_WITH_BOARD:
        return {}
    references = [template.row["reference_id"] for template in members]
    answers = [
        JudgedAnswer(at, judge, vote)
        for at, template in enumerate(members)
        for judge, vote in zip(template.judges, template.votes, strict=True)
    ]
    found = verdict_intervals(
        answers,
        [len(template.candidates) for template in members],
        [str(code) for code in Units.of(references, release.product_of).codes.tolist()],
    )
    named = {"percent": "percent", "alpha": "krippendorff_alpha", "ac1": "gwet_ac1"}
    return {"intervals": {key: intervals_json(found[name]) for name, key in named.items()}}


def _figures(release: Folder, entry: Row, judged: Sequence[JudgedTemplate]) -> Row:
    members = [template for template in judged if template.row["set"] == entry["slug"]]
    n_of = Counter(template.row["condition"] for template in members)
    agreed = verdict_agreement(
        [template.votes for template in members], [len(template.candidates) for template in members]
    )
    return {
        "set": entry["slug"],
        "task": entry["task"],
        **_share_json(members),
        "agreement": agreement_json(agreed) | _agreement_intervals(release, members),
        "by_condition": [
            {"condition": name, **_share_json([o for o in members if o.row["condition"] == name])}
            for name in sorted(n_of, key=lambda name: (-n_of[name], name))
        ],
    }


def _share_json(judged: Sequence[JudgedTemplate]) -> Row:
    share: Share = count_verdicts(template.verdict for template in judged)
    return {
        "n_templates": share.n,
        "n_verified": sum(template.is_verified is True for template in judged),
        "by_outcome": {outcome.value: n for outcome, n in share.by_outcome.items()},
        "n_unique": share.n_unique,
        "unique_share": rounded(share.unique_share),
        "pass_share": rounded(share.pass_share),
    }


def agreement_json(agreement: Agreement) -> Row:
    """Return the figures of agreement that make sense for answers of many kinds."""
    figures = {"percent": agreement.percent, "krippendorff_alpha": agreement.alpha,
               "gwet_ac1": agreement.ac1}  # fmt: skip
    return {name: None if math.isnan(v) else rounded(v) for name, v in figures.items()}


def _genecis(release: Folder, of: str) -> Iterator[bytes]:
    """Yield the verified templates of a set as an official file, one entry a line."""
    pictures = _pictures(release)
    chosen = [
        _template(template, pictures)
        for template in judged_templates(release)
        if template.row["set"] == of and template.is_verified
    ]
    before = "[\n"
    for entry in genecis_entries(chosen) if chosen else ():
        yield f"{before}{json_value(entry)}".encode()
        before = ",\n"
    yield b"\n]\n" if chosen else b"[]\n"


def _pictures(release: Folder) -> dict[str, tuple[str, Box]]:
    """Return name and extent of each image; GeneCIS names images by number where files do."""
    table = release.table("images", ["image_id", "path", "width", "height"])
    pictures = {}
    for row in table.to_pylist():
        stem = PurePosixPath(row["path"]).stem
        name = str(int(stem)) if stem.isascii() and stem.isdecimal() else row["path"]
        pictures[row["image_id"]] = (name, Box(0, 0, row["width"], row["height"]))
    return pictures


def _template(
    template: JudgedTemplate, pictures: Mapping[str, tuple[str, Box]]
) -> RetrievalTemplate:
    is_of_objects = Task(template.row["task"]) in OBJECT_TASKS

    def view(image: str, box: Box | None) -> View:
        """Return a view; in attribute tasks the format wants a box of every image."""
        name, extent = pictures[image]
        return View(name, box or (None if is_of_objects else extent))

    return template_of(template.row, template.candidates, view)


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
