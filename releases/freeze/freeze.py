"""Freeze: from the database to a folder that is whole, in one consistent view of it."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.conf import settings

from annotation.queries.frozen_rows import FrozenCampaign, frozen_guidelines, frozen_judges
from conditional.campaigns.frozen_rows import verifiers_of
from evaluation.below_pool.frozen_rows import frozen_samples
from evaluation.results.version import ROOT, code_version
from jobs.work.snapshot import Snapshot, snapshot
from lookalike.agreement.pseudonyms import pseudonyms
from lookalike.core.progress import Progress
from lookalike.io.errors import InputError
from lookalike.metrics.measures import known_measures
from lookalike.release.derive import derive
from lookalike.release.errors import ReleaseError
from lookalike.release.format.archive import write_archive
from lookalike.release.format.folder import Folder, write_json
from lookalike.release.format.layout import (
    MANIFEST,
    PRODUCT_PREFIX,
    SCHEMA_VERSION,
    SIGNATURE,
)
from lookalike.release.format.manifest import make_entry, make_manifest
from lookalike.release.format.tables import write_table
from lookalike.release.labelling import collect_votes, label_columns, make_qrels
from lookalike.release.model_entries import complete_entries
from lookalike.release.scoring import GRADED_MEASURES, MEASURES, coarse, compute_results
from lookalike.release.signature import read_signing_key
from pooling.pools.frozen_rows import FrozenPool, pools_of_campaigns
from releases.freeze.conditional import write_templates, write_triplets
from releases.freeze.copied_images import copy_images, file_of
from releases.freeze.hidden_labels import percent_hidden, require_enough
from releases.freeze.model_scores import list_models, write_runs
from releases.freeze.negatives import draw_at_freeze
from releases.freeze.requests import FreezeRequest, parse_version, title_as_author
from releases.freeze.rounds import check_rounds, pairs_to_score, write_rounds
from releases.freeze.scope import Scope, read_scope
from releases.freeze.tables import (
    write_images,
    write_judgements,
    write_pairs,
    write_pool,
    write_queries,
)
from releases.site.queries import earlier_versions


def build(request: FreezeRequest, folder: Path, progress: Progress) -> None:
    """Write everything of a release into a folder: files/, hidden/ and the archive.

    Raises:
        ReleaseError: the request cannot be met; the message says why.
    """
    check_rounds(request)
    files = folder / "files"
    (files / "data").mkdir(parents=True)
    hidden = folder / "hidden"
    scope = _write_frozen(request, files, hidden, progress)
    if request.with_images:
        progress.note("Copying images")
        copy_images(scope, request, files)
    _derive(files, progress)
    if scope.hidden.size:
        progress.note("Scoring models on hidden labels")
        _derive_hidden(Folder(files), hidden)
    progress.note("Hashing files")
    schema_version = Folder(files).info["schema_version"]
    manifest = make_manifest(files, request.slug, request.version, schema_version)
    (files / MANIFEST).write_text(manifest.text(), encoding="utf-8", newline="")
    if settings.SIGNING_KEY:
        _sign(files, request, settings.SIGNING_KEY)
    progress.note("Packing the archive")
    write_archive(files, folder / f"{request.root}.zip", request.root)


def _sign(files: Path, request: FreezeRequest, key_file: Path) -> None:
    """Sign the manifest, and so all that it names, with the institution's key."""
    key = read_signing_key(key_file)
    text = key.sign((files / MANIFEST).read_bytes(), f"{request.slug} {request.version}")
    (files / SIGNATURE).write_text(text, encoding="utf-8", newline="")


def _write_frozen(request: FreezeRequest, files: Path, hidden: Path, progress: Progress) -> Scope:
    """Write what everything else follows from, as it is at one moment."""
    progress.note("Reading campaigns and images")
    with snapshot() as view:
        scope = read_scope(view, request)
        entrants = list_models(scope, with_runs=request.with_runs)
        write_images(view, scope, files, lambda row: file_of(row, request))
        write_queries(scope, files)
        progress.note("Reading pairs and proposals")
        pairs = write_pairs(view, scope, files)
        write_pool(view, scope, files, {entrant.name: entrant.id for entrant in reversed(entrants)})
        rounds = write_rounds(view, scope, files)
        if rounds:
            pairs = pairs_to_score(view, scope, pairs)
        progress.note("Reading judgements")
        moment = {
            **_info(request, scope, pools_of_campaigns(view, scope.campaign_ids), rounds),
            "samples": _samples(view, scope),
            **_write_answers(view, scope, request, files, hidden),
        }
        guidelines = [
            row._asdict() | {"translations": json.loads(row.translations)}
            for row in frozen_guidelines(view, scope.campaign_ids)
        ]
    write_json(files / "release.json", moment)
    if not rounds:
        pairs = draw_at_freeze(scope, entrants, pairs, files, progress)
    write_runs(scope, entrants, pairs, files, progress)
    for name, content in {
        "models.json": complete_entries(Folder(files), [one.entry() for one in entrants]),
        "guidelines.json": guidelines,
    }.items():
        write_json(files / name, content)
    return scope


def _write_answers(
    view: Snapshot, scope: Scope, request: FreezeRequest, files: Path, hidden: Path
) -> dict[str, Any]:
    """Write what people said under names of this release; return what it takes beside pairs."""
    secret = _secret(request)
    judges = {judge.account for judge in frozen_judges(view, scope.campaign_ids)}
    names = pseudonyms(judges | verifiers_of(view, request.template_sets), secret)
    write_judgements(view, scope, files, hidden if scope.hidden.size else None, names)
    return {
        "template_sets": write_templates(view, scope, files, request.template_sets, names),
        "triplet_sets": write_triplets(view, scope, files, request.triplet_sets, secret),
    }


def _derive(files: Path, progress: Progress) -> None:
    try:
        derive(files, progress=progress)
    except ReleaseError:
        raise
    except InputError as problem:
        raise ReleaseError(f"The models cannot be scored: {problem}") from problem


def _derive_hidden(release: Folder, hidden: Path) -> None:
    """Write the hidden labels, and the rounded means that may be shown of them."""
    tables = Folder(hidden)
    votes = collect_votes(
        release.image_ids, tables.table("judgements"), tables.table("rulings"), release.scale
    )
    write_table(hidden, "labels", label_columns(votes, release.info["tie_rule"]))
    labels = release.compared(labels=tables.table("labels"))
    qrels = make_qrels(labels) if labels.num_rows else None
    require_enough(len(qrels.query_ids) if qrels else 0)
    summary = compute_results(release, qrels).summary
    for model in summary["models"]:
        model.pop("coverage")
        model["measures"] = {
            name: {"value": coarse(outcome["value"], outcome["n_queries"] or summary["n_queries"])}
            for name, outcome in model["measures"].items()
        }
    write_json(hidden / "results.json", summary)


def _secret(request: FreezeRequest) -> bytes:
    """Return the key of this version's pseudonyms: always the same, stored nowhere."""
    name = f"pseudonyms of {request.slug} {request.version}"
    return hmac.new(settings.SECRET_KEY.encode(), name.encode(), hashlib.sha256).digest()


def _samples(view: Snapshot, scope: Scope) -> list[dict[str, Any]]:
    """Return what was drawn below the pools, in the order of the campaigns."""
    sample_of = {row.campaign: row for row in frozen_samples(view, scope.campaign_ids)}
    return [
        {**sample_of[campaign.id]._asdict(), "campaign": campaign.slug}
        for campaign in scope.campaigns
        if campaign.id in sample_of
    ]


def _measures(scope: Scope) -> list[str]:
    products = {row.sha256: row.product for row in scope.images.rows} if scope.excludes else None
    return known_measures((*MEASURES, *(GRADED_MEASURES if scope.scale else ())), products)


def _info(
    request: FreezeRequest,
    scope: Scope,
    pool_of: Mapping[int, str],
    rounds: Mapping[int, dict[str, Any]],
) -> dict[str, Any]:
    """Return what release.json holds.

    Args:
        request: what is asked for.
        scope: what it is about.
        pool_of: slug of the pool by id of the campaign that judges it.
        rounds: what is to be said of rounds, by id of the campaign.
    """
    lockfile = make_entry(ROOT / "constraints.txt").sha256
    return {
        "schema_version": SCHEMA_VERSION,
        "name": request.slug,
        "title": request.title,
        "version": request.version,
        "date": request.date,
        "description": request.description,
        "authors": list(request.authors) or title_as_author(request.title),
        "url": request.url,
        "licence": {
            "labels": request.label_licence,
            "images": request.image_terms,
            "with_images": request.with_images,
            **({"image_metadata": "kept"} if request.with_images and request.with_metadata else {}),
        },
        "campaigns": [
            _campaign_entry(row, pool_of.get(row.id, ""))
            | ({"rounds": rounds[row.id]} if row.id in rounds else {})
            for row in scope.campaigns
        ],
        "pools": [_pool_entry(pool) for pool in scope.pools],
        "tie_rule": scope.tie_rule,
        "exclude_same_product": scope.excludes,
        **({PRODUCT_PREFIX: scope.query_prefix} if scope.query_prefix else {}),
        "measures": _measures(scope),
        **({"grades": scope.scale.as_json()} if scope.scale else {}),
        "seeds": {"negatives": request.seed, "hidden": request.seed},
        "hidden_percent": percent_hidden(
            scope.hidden.size, scope.queries.size, request.hidden_percent
        ),
        "panel": {
            "expertise": request.expertise,
            "demographics": request.demographics,
            "payment": request.payment,
        },
        "uses": {
            "intended": request.intended,
            "excluded": request.excluded,
            "social_impact": request.social_impact,
            "personal_information": request.personal_information,
        },
        "code": {"version": code_version(), "lockfile_sha256": lockfile},
        "commands": ["lookalike verify ."],
        "changelog": _changelog(request),
    }


def _campaign_entry(campaign: FrozenCampaign, pool: str) -> dict[str, Any]:
    entry = campaign._asdict()
    hidden = ("id", "state", "grades", "similar_from", "notion", "notion_model", "notion_prompts")
    for name in hidden:
        del entry[name]
    order, notion = entry.pop("asking_order"), campaign.asked_notion
    entry |= {"pool": pool} | ({"asking_order": order} if order != "shuffled" else {})
    return entry | ({"notion": notion.as_json()} if notion.name else {})


def _pool_entry(pool: FrozenPool) -> dict[str, Any]:
    kept = ("slug", "name", "k", "seed", "query_rule", "exclude_same_product", "n_queries")
    entry = {name: getattr(pool, name) for name in kept}
    return entry | ({"candidate_rule": pool.candidate_rule} if pool.candidate_rule else {})


def _changelog(request: FreezeRequest) -> list[dict[str, str]]:
    """Return the entries of this version and of those before it, newest first."""
    before = earlier_versions(request.slug, parse_version(request.version))
    text = request.changes.strip() or ("No changes are noted." if before else "First version.")
    entry = {"version": request.version, "date": request.date, "text": text}
    return [entry, *(before[0].info["changelog"] if before else [])]
