"""Take a release back as a campaign with its judgements, so that it can be continued here."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from django.db import transaction
from django.utils import timezone

from accounts.models import Role, User
from annotation.models import Adjudication, Campaign, Guideline, Question
from annotation.services import create_campaign, open_campaign
from annotation.services.bulk import copy_rows
from annotation.services.imports import ImportedJudgement, import_judgements
from catalog.models import Catalog, Image, SourceFile
from evaluation.formats import read_qrels
from evaluation.models import Sample, SampledPair
from pooling.models import Pool, PoolCampaign, PoolQuery, PoolSource, Proposal
from pooling.services_stats import update_stats
from releases.archive import opened
from releases.errors import ReleaseError
from releases.folder import Folder
from releases.verify import verify

SHORTEST = 16


@dataclass(frozen=True)
class Imported:
    """What an import made."""

    campaigns: list[Campaign]
    pool: Pool | None
    n_judgements: int


def import_release(
    *, source: Path, slug: str, catalog: Catalog, query_catalog: Catalog | None = None
) -> Imported:
    """Make campaigns, judges, judgements, rulings and the pool of a release, or nothing.

    The judges become accounts that nobody can sign in to, named after their pseudonyms.

    Args:
        source: folder or zip; every hash and number of it is checked first.
        slug: of the new campaign; with several campaigns, the first part of each slug.
        catalog: holds the candidates, told by SHA-256.
        query_catalog: holds the queries, if they are not in the same catalog.

    Raises:
        ReleaseError: the release is damaged, keeps labels back, or has images that the catalogs
            lack.
        CampaignError: the slug is taken.
    """
    with opened(source) as path:
        verdict = verify(path)
        if not verdict.is_right:
            raise ReleaseError(f"The release is damaged: {verdict.findings[0]}")
        folder = Folder(path)
        if folder.info["hidden_percent"]:
            raise ReleaseError(
                "The release keeps labels back, so it cannot be continued elsewhere."
            )
        with transaction.atomic():
            return _import(folder, slug, catalog, query_catalog)


def _import(folder: Folder, slug: str, catalog: Catalog, query_catalog: Catalog | None) -> Imported:
    candidates = _image_ids(folder, catalog)
    queries = _image_ids(folder, query_catalog) if query_catalog else candidates
    _check_images(folder, queries, candidates)
    judges = _judges(folder, slug)
    given = folder.info["campaigns"]
    pool = _pool(folder, slug, (queries, candidates), (catalog, query_catalog))
    made, n_judgements = [], 0
    for one in given:
        name = slug if len(given) == 1 else f"{slug}-{one['slug']}"[:80]
        campaign = _campaign(folder, one, name, (queries, candidates), judges)
        _sample(folder, one, campaign, (queries, candidates))
        n_judgements += _judgements(folder, one, campaign, (queries, candidates), judges)
        if pool is not None:
            PoolCampaign.objects.create(pool=pool, campaign=campaign)
        made.append(campaign)
    _rulings(folder, made, (queries, candidates))
    return Imported(made, pool, n_judgements)


Ids = dict[str, int]


def _image_ids(folder: Folder, catalog: Catalog) -> Ids:
    """Return the database id of each image of a release that a catalog holds, by its name."""
    known = dict(catalog.images.values_list("sha256", "pk"))
    table = folder.table("images", ["image_id", "sha256"])
    rows = zip(table["image_id"].to_pylist(), table["sha256"].to_pylist(), strict=True)
    return {name: known[sha256] for name, sha256 in rows if sha256 in known}


def _check_images(folder: Folder, queries: Ids, candidates: Ids) -> None:
    pairs = folder.table("pairs", ["query_id", "image_id"])
    missing = set(pairs["query_id"].to_pylist()) - queries.keys()
    missing |= set(pairs["image_id"].to_pylist()) - candidates.keys()
    if missing:
        first = folder.path_of[min(missing)]
        raise ReleaseError(
            f"{len(missing):,} images of the release are not in the catalog by SHA-256, such as "
            f"{first}. Import them into the catalog first."
        )


def _judges(folder: Folder, slug: str) -> dict[str, User]:
    """Make an account for each pseudonym that nobody can sign in to."""
    names = sorted(set(folder.table("judgements", ["annotator"])["annotator"].to_pylist()))
    is_simulated = any(one["is_simulated"] for one in folder.info["campaigns"])
    made = {}
    for name in names or ["a01"]:
        username = f"{slug}-{name}"[:150]
        if User.objects.filter(username=username).exists():
            raise ReleaseError(f"There is an account “{username}” already; choose another slug.")
        user = User(
            username=username, role=Role.ANNOTATOR, is_active=False, is_simulated=is_simulated
        )
        user.set_unusable_password()
        user.save()
        made[name] = user
    return made


def _campaign(
    folder: Folder, one: dict[str, Any], slug: str, ids: tuple[Ids, Ids], judges: dict[str, User]
) -> Campaign:
    queries, candidates = ids
    rows = folder.table("pairs").to_pylist()
    pairs = [
        (queries[row["query_id"]], candidates[row["image_id"]])
        for row in rows
        if row["campaign"] == one["slug"]
    ]
    guidelines = [g for g in folder.json("guidelines.json") if g["campaign"] == one["slug"]]
    campaign = create_campaign(
        name=one["name"],
        slug=slug,
        pairs=pairs,
        panel=list(judges.values()),
        tie_rule=one["tie_rule"],
        serving=one["serving"],
        k=min(one["k"], len(judges)),
        seed=one["seed"],
        guidelines=guidelines[0]["text"] if guidelines else "",
    )
    for later in guidelines[1:]:
        Guideline.objects.create(campaign=campaign, version=later["version"], text=later["text"])
    campaign.guideline_version = one["guideline_version"]
    campaign.save(update_fields=["guideline_version"])
    opened_campaign: Campaign = open_campaign(campaign=campaign)
    return opened_campaign


def _sample(folder: Folder, one: dict[str, Any], campaign: Campaign, ids: tuple[Ids, Ids]) -> None:
    """Keep which pairs were drawn below the pool, and with which chance."""
    given = next((s for s in folder.info["samples"] if s["campaign"] == one["slug"]), None)
    if given is None:
        return
    kept = ("aim", "seed", "sources", "n_pool_pairs", "strata")
    sample = Sample.objects.create(campaign=campaign, **{name: given[name] for name in kept})
    place = {stratum["name"]: at for at, stratum in enumerate(given["strata"])}
    SampledPair.objects.bulk_create(
        SampledPair(
            sample=sample,
            query_id=ids[0][row["query_id"]],
            candidate_id=ids[1][row["image_id"]],
            stratum=place[row["stratum"]],
            inclusion=row["inclusion"],
        )
        for row in folder.table("pairs").to_pylist()
        if row["campaign"] == one["slug"] and row["stratum"] in place
    )


def _judgements(
    folder: Folder,
    one: dict[str, Any],
    campaign: Campaign,
    ids: tuple[Ids, Ids],
    judges: dict[str, User],
) -> int:
    """Store the judgements as they were given; those that did not count come last, as surplus."""
    queries, candidates = ids
    rows = [r for r in folder.table("judgements").to_pylist() if r["campaign"] == one["slug"]]
    rows.sort(key=lambda row: not row["is_counted"])
    given = [
        ImportedJudgement(
            query_id=queries[row["query_id"]],
            candidate_id=candidates[row["image_id"]],
            annotator_id=judges[row["annotator"]].pk,
            answer=row["answer"],
            reason=row["reason"],
            decided_at=datetime.fromisoformat(row["decided_at"]),
            visible_ms=row["visible_ms"],
            guideline_version=row["guideline_version"],
        )
        for row in rows
    ]
    return import_judgements(campaign=campaign, rows=given).n_imported if given else 0


def _rulings(folder: Folder, campaigns: list[Campaign], ids: tuple[Ids, Ids]) -> None:
    queries, candidates = ids
    rows = folder.table("rulings").to_pylist()
    questions = Question.objects.filter(campaign__in=campaigns, kind="pair")
    of_pair = {
        (query, candidate): pk
        for pk, query, candidate in questions.values_list("pk", "query_id", "candidate_id")
    }
    reason = f"Imported with {folder.info['name']} {folder.info['version']}"
    Adjudication.objects.bulk_create(
        Adjudication(
            question_id=of_pair[queries[row["query_id"]], candidates[row["image_id"]]],
            answer=row["answer"],
            reason=reason,
        )
        for row in rows
    )


def _pool(
    folder: Folder,
    slug: str,
    ids: tuple[Ids, Ids],
    catalogs: tuple[Catalog, Catalog | None],
) -> Pool | None:
    """Make the pool with its proposals; several pools become one if they are one catalog's."""
    if len(folder.info["pools"]) != 1:
        return None
    queries, candidates = ids
    [given] = folder.info["pools"]
    if Pool.objects.filter(slug=slug).exists():
        raise ReleaseError(f"There is a pool “{slug}” already; choose another slug.")
    pool = Pool.objects.create(
        slug=slug,
        name=given["name"],
        catalog=catalogs[0],
        query_catalog=catalogs[1],
        k=given["k"],
        seed=given["seed"],
        query_rule=given["query_rule"],
        exclude_same_product=given["exclude_same_product"],
    )
    table = folder.table("queries", ["query_id"])["query_id"].to_pylist()
    PoolQuery.objects.bulk_create(
        PoolQuery(pool=pool, image_id=queries[query], position=position)
        for position, query in enumerate(table)
    )
    names = {model["id"]: model["name"] for model in folder.models}
    rows = folder.table("pool").to_pylist()
    sources = {}
    for position, model in enumerate(dict.fromkeys(row["model_id"] for row in rows)):
        depth = next(one.get("k") for one in folder.models if one["id"] == model)
        sources[model] = PoolSource.objects.create(
            pool=pool,
            position=position,
            spec=names[model],
            k=depth or given["k"],
            n_proposals=sum(row["model_id"] == model for row in rows),
            done_at=timezone.now(),
        )
    copy_rows(
        Proposal,
        ("pool_id", "source_id", "query_id", "candidate_id", "rank", "score"),
        (
            (pool.pk, sources[row["model_id"]].pk, queries[row["query_id"]],
             candidates[row["image_id"]], row["rank"] - 1, row["score"])
            for row in rows
        ),
    )  # fmt: skip
    update_stats(pool=pool)
    return pool


@transaction.atomic
def import_labels(*, source: Path, slug: str, name: str, catalog: Catalog) -> Imported:
    """Make a campaign from a VSD JSON, TREC qrels, CSV or parquet file of labels.

    Each label becomes the judgement of one judge, so the labels are the same again.

    Raises:
        FormatError: the file cannot be read.
        ReleaseError: it names images that the catalog lacks.
        CampaignError: the slug is taken.
    """
    labels = list(read_qrels(source))
    known = _names_in(catalog, {name for row in labels for name in row[:2]})
    missing = sorted({name for row in labels for name in row[:2]} - known.keys())
    if missing:
        raise ReleaseError(
            f"{len(missing):,} images of {source.name} are not in the catalog “{catalog}” by "
            f"path, SHA-256 or the first {SHORTEST} characters of it, such as {missing[0]}."
        )
    username = f"{slug}-labels"
    if User.objects.filter(username=username).exists():
        raise ReleaseError(f"There is an account “{username}” already; choose another slug.")
    judge = User(username=username, role=Role.ANNOTATOR, is_active=False)
    judge.set_unusable_password()
    judge.save()
    campaign = create_campaign(
        name=name,
        slug=slug,
        pairs=[(known[query], known[candidate]) for query, candidate, _ in labels],
        panel=[judge],
        guidelines=f"Labels of {source.name}.",
    )
    campaign = open_campaign(campaign=campaign)
    counts = import_judgements(
        campaign=campaign,
        rows=[
            ImportedJudgement(
                known[query], known[candidate], judge.pk, "similar" if label else "different"
            )
            for query, candidate, label in labels
        ],
    )
    return Imported([campaign], None, counts.n_imported)


def _names_in(catalog: Catalog, wanted: Iterable[str]) -> dict[str, int]:
    """Return the images that names stand for: path, SHA-256, or the beginning of it."""
    names = set(wanted)
    files = SourceFile.objects.filter(catalog=catalog).values_list("path", "image_id")
    found = {path: pk for path, pk in files.iterator() if path in names}
    lengths = {len(name) for name in names - found.keys() if len(name) >= SHORTEST}
    images = Image.objects.filter(catalog=catalog).values_list("sha256", "pk")
    for sha256, pk in images.iterator():
        for length in lengths:
            if sha256[:length] in names:
                found.setdefault(sha256[:length], pk)
    return found
