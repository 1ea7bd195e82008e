"""Make a judged campaign of 110,000 pairs, and freeze it; imported where Django is set up."""

from __future__ import annotations

import hashlib
import json
import shutil
import time
from pathlib import Path

import numpy as np
from django.conf import settings
from django.db import transaction
from django.utils import timezone

from accounts.models import Role, User
from annotation.bulk import copy_rows, refresh_statistics
from annotation.models import Campaign, Judgement, Question
from annotation.queries.frozen_rows import frozen_judges
from benchmarks.made_votes import judge_all
from benchmarks.release import peak_mb
from catalog.models import Catalog, EmbeddingSet, Image, SourceFile
from catalog.vectors.embeddings import write_shard
from evaluation.models import Run
from evaluation.runs.stored_runs import store_run
from jobs.services import run_here
from jobs.work.snapshot import snapshot
from lookalike.agreement.pseudonyms import pseudonyms
from lookalike.io.tables import Run as Scores
from lookalike.release.exports import text_files
from lookalike.release.format.folder import Folder
from lookalike.release.format.tables import write_table
from lookalike.release.labelling import collect_votes, label_columns
from pooling.models import Pool, PoolCampaign, PoolQuery, PoolSource, Proposal
from releases.freeze.requests import FreezeRequest
from releases.freeze.scope import read_scope
from releases.freeze.tables import write_images, write_judgements, write_pairs, write_queries
from releases.models import Release
from releases.services import freeze as freeze_release
from releases.services import freeze_job
from releases.storage import archive_path, final_folder

SLUG = "release-size"
N_IMAGES, N_QUERIES, N_SHOWN, N_MODELS, N_JUDGES = 20_000, 1_000, 110, 5, 3
DEPTH = 40
DIM = 512


def asked_for(version: str = "1.0.0", *, with_runs: bool = True) -> FreezeRequest:
    """Return the release that is frozen."""
    return FreezeRequest(slug=SLUG, title="Release size", version=version, campaigns=(SLUG,),
                         date="2026-11-21", with_runs=with_runs)  # fmt: skip


def build() -> None:
    """Make the campaign unless this data folder holds it."""
    if not Campaign.objects.filter(slug=SLUG).exists():
        with transaction.atomic():
            _build(np.random.default_rng(0))
        refresh_statistics(Question, Judgement, Proposal, Image)
    print(f"{Question.objects.count():,} pairs, {Judgement.objects.count():,} judgements")


def _build(rng: np.random.Generator) -> None:
    catalog = Catalog.objects.create(slug=SLUG, name="Release size")
    Image.objects.bulk_create(
        [
            Image(catalog=catalog, sha256=hashlib.sha256(str(row).encode()).hexdigest(),
                  product_id=f"p{row // 2}", attributes={"colour": f"c{row % 9}"}, width=640,
                  height=480, image_format="JPEG", n_bytes=40_000, perceptual_hash=f"{row:016x}")
            for row in range(N_IMAGES)
        ],
        batch_size=2000,
    )  # fmt: skip
    rows = list(catalog.images.order_by("id").values_list("id", "sha256"))
    files = ((catalog.pk, pk, f"views/{at:06d}.jpg") for at, (pk, _) in enumerate(rows))
    copy_rows(SourceFile, ("catalog_id", "image_id", "path"), files)
    asked = np.sort(rng.choice(N_IMAGES // 2, N_QUERIES, replace=False)) * 2
    shown = np.stack([_others(rng, int(query)) for query in asked])
    pool = Pool.objects.create(slug=SLUG, name="Release size", catalog=catalog, k=DEPTH, seed=0)
    PoolQuery.objects.bulk_create(
        PoolQuery(pool=pool, image_id=rows[query][0], position=at) for at, query in enumerate(asked)
    )
    campaign = Campaign.objects.create(slug=SLUG, name="Release size", state="open",
                                       n_questions=shown.size)  # fmt: skip
    campaign.guidelines.create(version=1, text="Would a customer take one for the other?")
    PoolCampaign.objects.create(pool=pool, campaign=campaign)
    Question.objects.bulk_create(
        (
            Question(campaign=campaign, query_id=rows[query][0], candidate_id=rows[image][0],
                     position=at)
            for at, (query, image) in enumerate(
                (int(query), int(image)) for query, row in zip(asked, shown, strict=True)
                for image in row)
        ),
        batch_size=5000,
    )  # fmt: skip
    for m in range(N_MODELS):
        _model(m, rng, (campaign, pool), (asked, shown), rows)
    for n in range(1, N_JUDGES + 1):
        person = User.objects.create_user(f"{SLUG}-{n}", role=Role.ANNOTATOR)
        campaign.panel.create(annotator=person, number=n)
    judge_all(campaign.pk, percent_similar=60)


def _others(rng: np.random.Generator, query: int) -> np.ndarray:
    """Draw images of other products."""
    drawn = rng.choice(N_IMAGES - 2, N_SHOWN, replace=False)
    return np.where(drawn >= query, drawn + 2, drawn)


def _model(m, rng, owners, pairs_asked, rows) -> None:
    """One source of the pool with its proposals, and one uploaded run of 210 images a query."""
    (campaign, pool), (asked, shown) = owners, pairs_asked
    names = [sha256 for _, sha256 in rows]
    source = PoolSource.objects.create(
        pool=pool, position=m, spec=f"descriptor:model-{m}", k=DEPTH, done_at=timezone.now(),
        n_proposals=DEPTH * len(asked),
    )  # fmt: skip
    copy_rows(
        Proposal, ("pool_id", "source_id", "query_id", "candidate_id", "rank", "score"),
        (
            (pool.pk, source.pk, rows[query][0], rows[image][0], rank, 1 - rank / 100)
            for query, row in zip(asked.tolist(), shown, strict=True)
            for rank, image in enumerate(rng.permutation(row)[:DEPTH].tolist())
        ),
    )  # fmt: skip
    wide = np.concatenate([shown, (shown[:, :100] + 7_919) % N_IMAGES], axis=1)
    pairs = {
        (names[query], names[image]): float(score)
        for query, row in zip(asked.tolist(), wide, strict=True)
        for image, score in zip(row.tolist(), rng.random(row.size), strict=True)
    }
    run = Scores.of(f"model {m}", ((q, c, score) for (q, c), score in pairs.items()))
    Run.objects.create(campaign=campaign, name=run.name, sha256=store_run(run), missing="worst")


def freeze() -> None:
    """Freeze it anew with the uploaded scores and print seconds and memory."""
    EmbeddingSet.objects.filter(catalog__slug=SLUG).delete()
    _freeze(asked_for())


def freeze_embedded() -> None:
    """Freeze it with stored vectors of five models instead of scores."""
    _embed(np.random.default_rng(1))
    _freeze(asked_for("1.0.1", with_runs=False))


def _embed(rng: np.random.Generator) -> None:
    catalog = Catalog.objects.get(slug=SLUG)
    ids = list(catalog.images.order_by("id").values_list("id", flat=True))
    EmbeddingSet.objects.filter(catalog=catalog).delete()
    for m in range(N_MODELS):
        found = EmbeddingSet.objects.create(
            catalog=catalog, spec=f"descriptor:vectors-{m}", fingerprint=f"{m:064x}", dim=DIM,
            is_complete=True,
        )  # fmt: skip
        for position, start in enumerate(range(0, N_IMAGES, 4096)):
            rows = ids[start : start + 4096]
            sha256 = write_shard(rng.standard_normal((len(rows), DIM), np.float32))
            found.shards.create(position=position, image_ids=rows, sha256=sha256, dtype="float32")


def _freeze(request: FreezeRequest) -> None:
    same = dict(zip(("major", "minor", "patch"), map(int, request.version.split(".")), strict=True))
    Release.objects.filter(slug=SLUG, **same).delete()
    shutil.rmtree(final_folder(SLUG, request.version), ignore_errors=True)
    before = time.monotonic()
    run_here(**freeze_job(request), work=lambda progress: freeze_release(request, progress))
    seconds = time.monotonic() - before
    release = Release.objects.get(slug=SLUG, **same)
    archive = archive_path(release)
    print(json.dumps({"seconds": seconds, "peak_mb": peak_mb(), "archive": str(archive),
                      "archive_mb": archive.stat().st_size / 2**20}))  # fmt: skip


def export() -> None:
    """Write labels and judgements as parquet, CSV and VSD JSON from the database, and time it."""
    folder = Path(settings.DATA_DIR) / "export"
    shutil.rmtree(folder, ignore_errors=True)
    frozen = Folder(final_folder(SLUG, "1.0.0") / "files")
    before = time.monotonic()
    with snapshot() as view:
        scope = read_scope(view, asked_for())
        write_images(view, scope, folder, lambda row: "")
        write_queries(scope, folder)
        write_pairs(view, scope, folder)
        accounts = {judge.account for judge in frozen_judges(view, scope.campaign_ids)}
        names = pseudonyms(accounts, b"secret of the benchmark")
        write_judgements(view, scope, folder, None, names)
    for name in ("release.json", "models.json", "data/pool.parquet"):
        (folder / name).symlink_to(frozen.path / name)
    release = Folder(folder)
    votes = collect_votes(release.image_ids, release.table("judgements"), release.table("rulings"))
    write_table(folder, "labels", label_columns(votes, "negative"))
    for path, pieces in text_files(release).items():
        if path in {"csv/labels.csv", "csv/judgements.csv", "vsd/annotations.json"}:
            (folder / path).parent.mkdir(exist_ok=True)
            with (folder / path).open("wb") as file:
                file.writelines(pieces(release))
    print(json.dumps({"seconds": time.monotonic() - before, "peak_mb": peak_mb()}))
