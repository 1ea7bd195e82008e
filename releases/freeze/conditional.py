"""Write the templates and triplets that a release takes, from the same snapshot as the pairs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from lookalike.agreement.pseudonyms import pseudonyms
from lookalike.release.errors import ReleaseError
from lookalike.release.layout import ALL_TABLES
from lookalike.release.tables import write_table
from releases.freeze.scope import Subjects
from releases.freeze.snapshot import Snapshot

VERIFICATIONS = """
select v.id, v.slug, v.name, v.state, v.guidelines, s.task, s.name, s.source, s.seed,
       s.file_sha256, s.catalog_id,
       (select count(*) from conditional_verifier m where m.verification_id = v.id)
from conditional_verification v join conditional_templateset s on s.id = v.template_set_id
where v.slug = any(%s) order by v.slug
"""
TEMPLATES = """
select v.slug, t.position, s.task, t.condition, t.reference_id, t.target_id, t.gallery, t.kinds,
       t.boxes::text
from conditional_verification v
join conditional_verification_templates a on a.verification_id = v.id
join conditional_retrievaltemplate t on t.id = a.retrievaltemplate_id
join conditional_templateset s on s.id = t.template_set_id
where v.id = any(%s) order by v.slug, t.position
"""
VERIFIERS = """
select annotator_id from conditional_verifier where verification_id = any(%s)
"""
VOTES = """
select v.slug, t.position, l.annotator_id, l.choice, l.picked
from (select distinct on (m.id, a.template_id) m.verification_id, m.annotator_id, a.template_id,
             a.choice, a.picked
      from conditional_verifieranswer a join conditional_verifier m on m.id = a.verifier_id
      where m.verification_id = any(%s)
      order by m.id, a.template_id, a.id desc) l
join conditional_retrievaltemplate t on t.id = l.template_id
join conditional_verification v on v.id = l.verification_id
where l.choice <> 'withdrawn'
"""
TEMPLATE_RULINGS = """
select distinct on (v.slug, t.position) v.slug, t.position, r.passes
from conditional_templateruling r join conditional_verification v on v.id = r.verification_id
join conditional_retrievaltemplate t on t.id = r.template_id
where v.id = any(%s) order by v.slug, t.position, r.id desc
"""
TRIPLET_SETS = """
select id, slug, name, source, file_sha256, catalog_id from conditional_tripletset
where slug = any(%s) order by slug
"""
TRIPLETS = """
select s.slug, t.position, t.anchor_id, t.closer_id, t.farther_id, t.condition, t.worker
from conditional_triplet t join conditional_tripletset s on s.id = t.triplet_set_id
where s.id = any(%s) order by s.slug, t.position
"""

Row = dict[str, Any]


def verifiers_of(view: Snapshot, slugs: Sequence[str]) -> set[int]:
    """Return the accounts of the panels of some verifications."""
    ids = [row[0] for row in view.rows(VERIFICATIONS, [list(slugs)])]
    return {row[0] for row in view.rows(VERIFIERS, [ids])}


def write_templates(
    view: Snapshot, subjects: Subjects, folder: Path, slugs: Sequence[str], names: Mapping[int, str]
) -> list[Row]:
    """Write the templates of some verifications with votes and rulings; return their entries.

    Args:
        view: the moment that is frozen.
        subjects: the rest of the release.
        folder: of its files.
        slugs: of the verifications.
        names: pseudonym of each account on a panel.

    Raises:
        ReleaseError: one does not exist, is still open, or is of another catalog.
    """
    if not slugs:
        return []
    found = view.rows(VERIFICATIONS, [list(slugs)])
    _check("verification of templates", slugs, [row[1] for row in found])
    for row in found:
        if row[3] != "closed":
            raise ReleaseError(f"Judges still verify “{row[2]}”; close it before it is released.")
        _check_catalog(subjects, row[2], row[10])
    ids = [row[0] for row in found]
    templates, candidates = _templates(subjects, view.rows(TEMPLATES, [ids]))
    votes = [
        {"set": slug, "position": at, "annotator": names[person], "choice": choice, "place": place}
        for slug, at, person, choice, place in view.rows(VOTES, [ids])
    ]
    votes.sort(key=lambda row: (row["set"], row["position"], row["annotator"]))
    rulings = [
        {"set": slug, "position": at, "passes": passes}
        for slug, at, passes in view.rows(TEMPLATE_RULINGS, [ids])
    ]
    for table, rows in (
        ("templates", templates),
        ("template_candidates", candidates),
        ("template_votes", votes),
        ("template_rulings", rulings),
    ):
        _write(folder, table, rows)
    keys = ("slug", "name", "state", "guidelines", "task", "template_set", "source", "seed",
            "file_sha256", "catalog", "n_judges")  # fmt: skip
    entries = [dict(zip(keys, row[1:], strict=True)) for row in found]
    return [{key: one[key] for key in keys if key not in {"state", "catalog"}} for one in entries]


def _templates(subjects: Subjects, found: Iterable[Sequence[Any]]) -> tuple[list[Row], list[Row]]:
    templates, candidates = [], []
    for slug, position, task, condition, reference, target, gallery, kinds, text in found:
        boxes = json.loads(text)
        at = {"set": slug, "position": position}
        named = _named(subjects, [reference, *gallery, target])
        templates.append(
            {**at, "task": task, "condition": condition, "reference_id": named[0],
             "box": _box(boxes.get("reference"))}
        )  # fmt: skip
        roles = [*(f"gallery[{place}]" for place in range(len(gallery))), "target"]
        rows = zip(named[1:], [*kinds, "target"], roles, strict=True)
        candidates += [
            {**at, "place": place, "image_id": image, "kind": kind, "box": _box(boxes.get(role))}
            for place, (image, kind, role) in enumerate(rows)
        ]
    return templates, candidates


def _box(box: list[float] | None) -> str:
    return json.dumps(box) if box else ""


def write_triplets(
    view: Snapshot, subjects: Subjects, folder: Path, slugs: Sequence[str], secret: bytes
) -> list[Row]:
    """Write the answers of some sets of triplets; return their entries.

    Raises:
        ReleaseError: one does not exist, has no answers, or is of another catalog.
    """
    if not slugs:
        return []
    found = view.rows(TRIPLET_SETS, [list(slugs)])
    _check("set of triplets", slugs, [row[1] for row in found])
    for row in found:
        _check_catalog(subjects, row[2], row[5])
    answers = view.rows(TRIPLETS, [[row[0] for row in found]])
    empty = {row[1] for row in found} - {row[0] for row in answers}
    if empty:
        raise ReleaseError(f"The set of triplets “{min(empty)}” has no answers yet.")
    names = _workers(answers, secret)
    rows = []
    for slug, position, anchor, closer, farther, condition, worker in answers:
        images = _named(subjects, [anchor, closer, farther])
        rows.append(
            {"set": slug, "position": position, "condition": condition,
             "annotator": names[slug, worker] if worker else "",
             **dict(zip(("anchor_id", "closer_id", "farther_id"), images, strict=True))}
        )  # fmt: skip
    _write(folder, "triplets", rows)
    keys = ("slug", "name", "source", "file_sha256")
    return [dict(zip(keys, row[1:5], strict=True)) for row in found]


def _workers(answers: Iterable[Sequence[Any]], secret: bytes) -> dict[tuple[str, str], str]:
    """Return a name for each worker of each set that nobody can trace back."""
    known = sorted({(row[0], row[6]) for row in answers if row[6]})
    numbered = pseudonyms(range(len(known)), secret + json.dumps(known).encode())
    return {one: f"w{numbered[at][1:]}" for at, one in enumerate(known)}


def _named(subjects: Subjects, image_ids: Sequence[int]) -> list[str]:
    images = subjects.images
    return [images.names[code] for code in images.code(image_ids).tolist()]


def _check(what: str, wanted: Sequence[str], found: Sequence[str]) -> None:
    missing = sorted(set(wanted) - set(found))
    if missing:
        raise ReleaseError(f"There is no {what} “{missing[0]}”.")


def _check_catalog(subjects: Subjects, name: str, catalog: int) -> None:
    if catalog not in {row[2] for row in subjects.images.rows}:
        raise ReleaseError(f"“{name}” is about another catalog than the campaigns.")


def _write(folder: Path, name: str, rows: Sequence[Row]) -> None:
    table = ALL_TABLES[name]
    columns = {column: [row[column] for row in rows] for column in table.schema.names}
    write_table(folder / table.path, table.schema, columns)
