"""Freeze: from the database to a folder that is whole, in one consistent view of it."""

from __future__ import annotations

import hashlib
import hmac
import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.conf import settings

from catalog.images.blobs import open_blob
from evaluation.results.version import ROOT, code_version
from lookalike.agreement.pseudonyms import pseudonyms
from lookalike.core.progress import Progress
from lookalike.io.errors import InputError
from lookalike.release.archive import write_archive
from lookalike.release.derive import derive, dump_json
from lookalike.release.errors import ReleaseError
from lookalike.release.folder import Folder
from lookalike.release.labelling import label_columns, qrels_of, votes_of
from lookalike.release.layout import MANIFEST, SCHEMA_VERSION, TABLES
from lookalike.release.manifest import manifest_of
from lookalike.release.scoring import MEASURES, coarse, results_of
from lookalike.release.tables import write_table
from releases.freeze.conditional import verifiers_of, write_templates, write_triplets
from releases.freeze.holdout import percent_hidden, require_enough
from releases.freeze.model_scores import entrants_of, findings_of, write_runs
from releases.freeze.requests import FreezeRequest, parse_version
from releases.freeze.scope import Subjects, read_subjects
from releases.freeze.snapshot import Row, Snapshot, snapshot
from releases.freeze.tables import (
    judges_of,
    write_images,
    write_judgements,
    write_pairs,
    write_pool,
    write_queries,
)
from releases.site.queries import earlier_versions

ENDING = {"JPEG": "jpg", "PNG": "png", "WEBP": "webp"}

SAMPLES = """
select c.slug, s.aim, s.seed, s.sources::text, s.n_pool_pairs, s.strata::text
from evaluation_sample s join annotation_campaign c on c.id = s.campaign_id
where s.campaign_id = any(%s) order by c.slug
"""
POOL_OF = """
select c.slug, p.slug from pooling_poolcampaign l
join annotation_campaign c on c.id = l.campaign_id join pooling_pool p on p.id = l.pool_id
where c.id = any(%s)
"""
GUIDELINES = """
select c.slug, g.version, to_char(g.created_at at time zone 'UTC', 'YYYY-MM-DD'), g.text
from annotation_guideline g join annotation_campaign c on c.id = g.campaign_id
where g.campaign_id = any(%s) order by c.slug, g.version
"""


def build(request: FreezeRequest, folder: Path, progress: Progress) -> None:
    """Write everything of a release into a folder: files/, hidden/ and the archive.

    Raises:
        ReleaseError: the request cannot be met; the message says why.
    """
    files = folder / "files"
    (files / "data").mkdir(parents=True)
    hidden = folder / "hidden"
    subjects = _write_frozen(request, files, hidden, progress)
    if request.with_images:
        progress.note("Copying images")
        _copy_images(subjects, request, files)
    _derive(files, progress)
    if subjects.hidden.size:
        progress.note("Scoring models on hidden labels")
        _derive_hidden(Folder(files), hidden)
    progress.note("Hashing files")
    manifest = manifest_of(files, request.slug, request.version)
    (files / MANIFEST).write_text(manifest.text(), encoding="utf-8", newline="")
    progress.note("Packing the archive")
    write_archive(files, folder / f"{request.root}.zip", request.root)


def _write_frozen(
    request: FreezeRequest, files: Path, hidden: Path, progress: Progress
) -> Subjects:
    """Write what everything else follows from, as it is at one moment."""
    progress.note("Reading campaigns and images")
    with snapshot() as view:
        subjects = read_subjects(view, request)
        entrants = entrants_of(subjects, with_runs=request.with_runs)
        write_images(view, subjects, files, lambda row: _file_of(row, request))
        write_queries(subjects, files)
        progress.note("Reading pairs and proposals")
        pairs = write_pairs(view, subjects, files)
        write_pool(view, subjects, files, {one.name: one.id for one in reversed(entrants)})
        progress.note("Reading judgements")
        moment = {
            **_info(request, subjects, dict(view.rows(POOL_OF, [subjects.campaign_ids]))),
            "samples": _samples(view, subjects),
            **_write_answers(view, subjects, request, files, hidden),
        }
        guidelines = _guidelines(view, subjects)
    write_runs(subjects, entrants, pairs, files, progress)
    for name, content in {
        "release.json": moment,
        "models.json": [entrant.entry() for entrant in entrants],
        "guidelines.json": guidelines,
        "bias.json": findings_of(subjects.campaign_ids, is_hidden=subjects.hidden.size > 0),
    }.items():
        (files / name).write_text(dump_json(content), encoding="utf-8", newline="")
    return subjects


def _write_answers(
    view: Snapshot, subjects: Subjects, request: FreezeRequest, files: Path, hidden: Path
) -> dict[str, Any]:
    """Write what people said under names of this release; return what it takes beside pairs."""
    secret = _secret(request)
    people = {*judges_of(view, subjects).values(), *verifiers_of(view, request.template_sets)}
    names = pseudonyms(people, secret)
    kept_back = hidden if subjects.hidden.size else None
    write_judgements(view, subjects, files, kept_back, names)
    return {
        "template_sets": write_templates(view, subjects, files, request.template_sets, names),
        "triplet_sets": write_triplets(view, subjects, files, request.triplet_sets, secret),
    }


def _derive(files: Path, progress: Progress) -> None:
    try:
        derive(files, progress=progress)
    except ReleaseError:
        raise
    except InputError as problem:
        raise ReleaseError(f"The models cannot be scored: {problem}") from problem


def _derive_hidden(release: Folder, hidden: Path) -> None:
    """Write the labels that are kept back, and the rounded means that may be shown of them."""
    kept_back = Folder(hidden)
    votes = votes_of(release.image_ids, kept_back.table("judgements"), kept_back.table("rulings"))
    table = TABLES["labels"]
    columns = label_columns(votes, release.info["tie_rule"])
    write_table(hidden / table.path, table.schema, columns)
    labels = release.compared(labels=kept_back.table("labels"))
    qrels = qrels_of(labels) if labels.num_rows else None
    require_enough(len(qrels.query_ids) if qrels else 0)
    found = results_of(release, qrels).summary
    for model in found["models"]:
        model.pop("coverage")
        model["measures"] = {
            name: {"value": coarse(one["value"], one["n_queries"] or found["n_queries"])}
            for name, one in model["measures"].items()
        }
    (hidden / "results.json").write_text(dump_json(found), encoding="utf-8", newline="")


def _secret(request: FreezeRequest) -> bytes:
    """Return the key of this version's pseudonyms: always the same, stored nowhere."""
    name = f"pseudonyms of {request.slug} {request.version}"
    return hmac.new(settings.SECRET_KEY.encode(), name.encode(), hashlib.sha256).digest()


def _guidelines(view: Snapshot, subjects: Subjects) -> list[dict[str, Any]]:
    names = ("campaign", "version", "date", "text")
    return [
        dict(zip(names, row, strict=True)) for row in view.rows(GUIDELINES, [subjects.campaign_ids])
    ]


def _samples(view: Snapshot, subjects: Subjects) -> list[dict[str, Any]]:
    """Return what was drawn below the pools."""
    names = ("campaign", "aim", "seed", "sources", "n_pool_pairs", "strata")
    return [
        {name: json.loads(cell) if name in {"sources", "strata"} else cell
         for name, cell in zip(names, row, strict=True)}
        for row in view.rows(SAMPLES, [subjects.campaign_ids])
    ]  # fmt: skip


def _file_of(row: Row, request: FreezeRequest) -> str:
    return f"images/{row[1]}.{ENDING[row[7]]}" if request.with_images else ""


def _copy_images(subjects: Subjects, request: FreezeRequest, files: Path) -> None:
    images = subjects.images
    (files / "images").mkdir()
    for at in images.first_row.tolist():
        row = images.rows[at]
        try:
            with (
                open_blob(row[1], "original") as stored,
                (files / _file_of(row, request)).open("wb") as copy,
            ):
                shutil.copyfileobj(stored, copy)
        except FileNotFoundError:
            raise ReleaseError(
                f"The picture {row[3]} is missing; import the catalog again, or freeze "
                "without images."
            ) from None


def _info(request: FreezeRequest, subjects: Subjects, pool_of: Mapping[str, str]) -> dict[str, Any]:
    """Return what release.json holds.

    Args:
        request: what is asked for.
        subjects: what it is about.
        pool_of: slug of the pool by slug of the campaign that judges it.
    """
    kept = ("slug", "name", "tie_rule", "serving", "k", "seed", "guideline_version",
            "is_simulated", "n_questions")  # fmt: skip
    return {
        "schema_version": SCHEMA_VERSION,
        "name": request.slug,
        "title": request.title,
        "version": request.version,
        "date": request.date,
        "description": request.description,
        "authors": list(request.authors) or [request.title],
        "url": request.url,
        "licence": {
            "labels": request.label_licence,
            "images": request.image_terms,
            "with_images": request.with_images,
        },
        "campaigns": [
            {name: one[name] for name in kept}
            | {"pool": pool_of.get(one["slug"], "")}
            | ({"asking_order": one["asking_order"]} if one["asking_order"] != "shuffled" else {})
            for one in subjects.campaigns
        ],
        "pools": [
            {
                "slug": pool.slug,
                "name": pool.name,
                "k": pool.k,
                "seed": pool.seed,
                "query_rule": pool.rule,
                "exclude_same_product": pool.excludes,
                "n_queries": pool.n_queries,
                **({"candidate_rule": pool.candidates} if pool.candidates else {}),
            }
            for pool in subjects.pools
        ],
        "tie_rule": subjects.tie_rule,
        "exclude_same_product": subjects.excludes,
        "measures": list(MEASURES),
        "seeds": {"negatives": request.seed, "hidden": request.seed},
        "hidden_percent": percent_hidden(
            subjects.hidden.size, subjects.queries.size, request.hidden_percent
        ),
        "panel": {"expertise": request.expertise, "payment": request.payment},
        "uses": {"intended": request.intended, "excluded": request.excluded},
        "code": {"version": code_version(), "lockfile_sha256": _lockfile()},
        "commands": ["python -m releases verify ."],
        "changelog": _changelog(request),
    }


def _lockfile() -> str:
    return hashlib.sha256((ROOT / "constraints.txt").read_bytes()).hexdigest()


def _changelog(request: FreezeRequest) -> list[dict[str, str]]:
    """Return the entries of this version and of those before it, newest first."""
    before = earlier_versions(request.slug, parse_version(request.version))
    text = request.changes.strip() or ("No changes are noted." if before else "First version.")
    mine = {"version": request.version, "date": request.date, "text": text}
    return [mine, *(before[0].info["changelog"] if before else [])]
