"""Planning, claiming and storing shards: shared by workers, kept through failures."""

from __future__ import annotations

import hashlib
import threading
from datetime import timedelta

import numpy as np
import pytest
import torch
from django.db import connection
from django.utils import timezone

from catalog.curation.services import leave_out
from catalog.images.blobs import blob_path
from catalog.models import EmbeddingSet, EmbeddingShard, Image
from catalog.vectors.embeddings import load_vectors, shard_path, write_shard
from jobs.models import Job, JobState
from jobs.services import JobError, JobLostError, JobProgress
from lookalike.backbones.descriptors import DescriptorBackbone
from lookalike.backbones.embed import embed_images, embed_in_turn
from lookalike.backbones.loading import load_backbone
from pooling import tasks
from pooling.embedding import embed, shard_work, shards
from pooling.embedding.embed import embed_catalog
from pooling.embedding.shards import claim_shard, plan_shards, store_shard
from pooling.models import PlannedShard
from pooling.sources import proposers
from tests.catalogs import MODELS, add_photo
from tests.pictures import jpeg
from tests.pooling.cases import everything, running_job
from tests.waiting import PATIENCE_SECONDS, wait_until

pytestmark = pytest.mark.django_db
COLOUR, LAYOUT = MODELS


@pytest.fixture(autouse=True)
def small_shards(monkeypatch):
    monkeypatch.setattr(shards, "SHARD_SIZE", 4)
    monkeypatch.setattr(embed, "WAIT_SECONDS", 0.05)


@pytest.fixture
def backbone():
    return load_backbone(COLOUR)


def test_images_are_planned_by_content_in_shards_of_one_size(catalog_of, backbone):
    catalog = catalog_of(10)
    embedding_set = plan_shards(catalog=catalog, backbone=backbone)
    plans = list(embedding_set.planned_shards.all())
    assert [(plan.position, len(plan.image_ids)) for plan in plans] == [(0, 4), (1, 4), (2, 2)]
    planned = [pk for plan in plans for pk in plan.image_ids]
    by_content = catalog.images.order_by("sha256").values_list("pk", flat=True)
    assert planned == list(by_content)


def test_planning_twice_plans_once(catalog_of, backbone):
    catalog = catalog_of(10)
    first = plan_shards(catalog=catalog, backbone=backbone)
    second = plan_shards(catalog=catalog, backbone=backbone)
    assert first == second
    assert PlannedShard.objects.count() == 3


def test_every_image_has_the_vector_that_the_backbone_gives_it(catalog_of, backbone):
    catalog = catalog_of(10)
    found = embed_catalog(catalog=catalog, backbone=backbone, progress=JobProgress(running_job()))
    assert found.is_complete
    assert (found.spec, found.dim, found.fingerprint) == (
        COLOUR, backbone.dim, backbone.fingerprint,
    )  # fmt: skip
    assert not PlannedShard.objects.exists()
    ids, vectors = load_vectors(found)
    assert sorted(ids.tolist()) == sorted(catalog.images.values_list("pk", flat=True))
    path_of = {image.pk: image.sha256 for image in catalog.images.all()}
    alone = embed_images(backbone, [blob_path(path_of[int(pk)], "original") for pk in ids])
    assert vectors.dtype == np.float16
    assert vectors.tobytes() == alone.astype(np.float16).tobytes()
    assert {shard.dtype for shard in found.shards.all()} == {"float16"}
    np.testing.assert_allclose(np.linalg.norm(vectors.astype(float), axis=1), 1, rtol=2e-4)


def test_vectors_are_stored_as_float32_on_request_in_a_set_of_their_own(catalog_of, backbone):
    catalog = catalog_of(6)
    wide = load_backbone(f"{COLOUR}@stored-float32")
    narrow_set, wide_set = (
        embed_catalog(catalog=catalog, backbone=one, progress=JobProgress(running_job()))
        for one in (backbone, wide)
    )
    assert narrow_set != wide_set
    assert wide_set.spec == f"{COLOUR}@stored-float32"
    assert {shard.dtype for shard in wide_set.shards.all()} == {"float32"}
    _, narrow = load_vectors(narrow_set)
    _, vectors = load_vectors(wide_set)
    assert vectors.dtype == np.float32
    assert vectors.astype(np.float16).tobytes() == narrow.tobytes()


def test_a_set_of_before_float16_is_what_float32_on_request_is(catalog_of):
    before = DescriptorBackbone("colour-histogram")  # a card that says nothing of storage
    wide, narrow = load_backbone(f"{COLOUR}@stored-float32"), load_backbone(COLOUR)
    assert before.fingerprint == wide.fingerprint != narrow.fingerprint
    old = embed_catalog(catalog=catalog_of(6), backbone=before, progress=JobProgress(running_job()))
    again = plan_shards(catalog=old.catalog, backbone=wide)
    assert again == old
    assert not again.planned_shards.exists()


def test_a_descriptor_too_fine_for_float16_stays_float32(catalog_of):
    fine = load_backbone("descriptor:lbp-texture")
    found = embed_catalog(catalog=catalog_of(4), backbone=fine, progress=JobProgress(running_job()))
    assert {shard.dtype for shard in found.shards.all()} == {"float32"}


def test_shards_of_two_types_are_read_as_the_wider_one(catalog_of, backbone):
    catalog = catalog_of(8)
    found = embed_catalog(catalog=catalog, backbone=backbone, progress=JobProgress(running_job()))
    first, _ = found.shards.order_by("position")
    rows = load_vectors(found)[1][:4].astype(np.float32) * np.float32(1 / 3)
    first.sha256, first.dtype = write_shard(rows), "float32"
    first.save()
    _, vectors = load_vectors(found)
    assert vectors.dtype == np.float32
    assert vectors[:4].tobytes() == rows.tobytes()


def test_images_that_came_later_are_embedded_and_the_others_are_kept(catalog_of, backbone):
    catalog = catalog_of(6)
    first = embed_catalog(catalog=catalog, backbone=backbone, progress=JobProgress(running_job()))
    before = everything(first)
    for number in range(3):
        add_photo(catalog, 100 + number, jpeg(seed=500 + number))
    planned = plan_shards(catalog=catalog, backbone=backbone)
    assert planned == first
    assert not planned.is_complete
    second = embed_catalog(catalog=catalog, backbone=backbone, progress=JobProgress(running_job()))
    assert second.is_complete
    assert everything(second)[: len(before)] == before
    assert len(load_vectors(second)[0]) == 9


def test_an_image_that_was_removed_after_planning_is_left_out(catalog_of, backbone):
    catalog = catalog_of(10)
    plan_shards(catalog=catalog, backbone=backbone)
    gone = catalog.images.order_by("sha256")[1]
    gone_pk = gone.pk
    gone.delete()
    found = embed_catalog(catalog=catalog, backbone=backbone, progress=JobProgress(running_job()))
    assert gone_pk not in load_vectors(found)[0]
    assert len(load_vectors(found)[0]) == 9


def test_another_backbone_has_a_set_of_its_own(catalog_of):
    catalog = catalog_of(3)
    for spec in MODELS:
        embed_catalog(
            catalog=catalog, backbone=load_backbone(spec), progress=JobProgress(running_job())
        )
    assert EmbeddingSet.objects.count() == 2


def test_a_broken_image_is_named_by_its_path_and_all_shards_but_its_own_are_stored(
    catalog_of, backbone
):
    catalog = catalog_of(10)
    broken = catalog.images.order_by("sha256")[5]
    blob_path(broken.sha256, "original").write_bytes(b"not a picture")
    with pytest.raises(JobError, match=broken.source_files.get().path) as caught:
        embed_catalog(catalog=catalog, backbone=backbone, progress=JobProgress(running_job()))
    assert COLOUR in str(caught.value)
    assert list(EmbeddingShard.objects.values_list("position", flat=True)) == [0, 2]
    assert not EmbeddingSet.objects.get().is_complete


def test_an_image_lost_for_good_is_done_without_once_an_admin_left_it_out(catalog_of, backbone):
    catalog = catalog_of(10)
    in_order = list(catalog.images.order_by("sha256"))
    lost, fine = in_order[5], in_order[6]
    original = blob_path(lost.sha256, "original")
    whole = original.read_bytes()
    original.unlink()

    def embedded() -> set[int]:
        Job.objects.update(state=JobState.FAILED)  # the one before, which holds its shards else
        done = embed_catalog(
            catalog=catalog, backbone=backbone, progress=JobProgress(running_job())
        )
        assert done.is_complete
        return set(load_vectors(done)[0].tolist())

    with pytest.raises(JobError, match=r"leave it out on its page, and embed again\.$") as caught:
        embedded()
    assert lost.source_files.get().path in str(caught.value)
    leave_out(image=fine, reason="Cut off", by=None)  # it can be read: judged pairs may need it
    leave_out(image=lost, reason="Lost with the old disk", by=None)
    assert embedded() == {image.pk for image in in_order} - {lost.pk}
    assert embedded() == {image.pk for image in in_order} - {lost.pk}
    original.write_bytes(whole)
    assert embedded() == {image.pk for image in in_order}


def test_a_cancelled_job_stops_and_keeps_whole_shards_only(catalog_of, backbone):
    catalog = catalog_of(10)
    job = running_job()
    progress = JobProgress(job)

    def cancelled_at_five(changed):
        if changed.n_done >= 5:
            Job.objects.filter(pk=job.pk).update(state=JobState.CANCELLED)
            progress.renew()

    progress._on_change = cancelled_at_five
    with pytest.raises(JobLostError):
        embed_catalog(catalog=catalog, backbone=backbone, progress=progress)
    assert EmbeddingShard.objects.count() + PlannedShard.objects.count() == 3
    assert not EmbeddingSet.objects.get().is_complete


@pytest.mark.parametrize(
    "problem",
    [
        torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB"),
        RuntimeError("CUDA error: out of memory"),
        MemoryError(),
    ],
)
def test_a_model_that_finds_no_memory_to_load_is_tried_again_later(
    catalog_of, monkeypatch, problem
):
    def full(*_, **__):
        raise problem

    monkeypatch.setattr(embed, "load_backbone", full)
    job = Job.objects.create(
        task="pooling.tasks.embed",
        subject="x",
        title="Embed",
        arguments={"catalog_id": catalog_of(2).pk, "spec": COLOUR},
    )
    tasks.embed(str(job.uid))
    job.refresh_from_db()
    assert (job.state, job.n_attempts) == (JobState.QUEUED, 1)
    assert f"{COLOUR}: no memory to load it" in job.error
    assert job.lease_until is not None
    assert job.lease_until > timezone.now()


def test_a_job_says_that_engines_are_tried(backbone, monkeypatch):
    progress = JobProgress(running_job())
    notes = []

    def load(*_, on_trial, **__):
        for act in (lambda: None, on_trial):
            act()
            progress.job.refresh_from_db()
            notes.append(progress.job.note)
        return backbone

    monkeypatch.setattr(embed, "load_backbone", load)
    assert embed.ready_backbone("timm:a", progress) is backbone
    assert notes == [
        "timm:a: loading the model",
        "timm:a: finding out, once, what runs it fastest on this machine",
    ]


@pytest.mark.parametrize("on_gpu", [False, True])
def test_shards_in_a_row_are_those_that_each_would_be_alone(
    catalog_of, backbone, monkeypatch, on_gpu
):
    catalog = catalog_of(40)
    backbone.on_gpu = on_gpu
    progress = JobProgress(running_job())
    claims = []  # how many were stored when each was claimed

    def claim(**named):
        found = claim_shard(**named)
        if found is not None:
            claims.append(EmbeddingShard.objects.count())
        return found

    monkeypatch.setattr(shard_work, "claim_shard", claim)
    found = embed_catalog(catalog=catalog, backbone=backbone, progress=progress)
    assert len(claims) == 10
    assert all(n_stored < number for number, n_stored in enumerate(claims[1:], start=1))
    sha256_of = dict(catalog.images.values_list("pk", "sha256"))
    for shard in found.shards.all():
        paths = [blob_path(sha256_of[pk], "original") for pk in shard.image_ids]
        alone = embed_images(load_backbone(COLOUR), paths).astype(np.float16)
        assert np.load(shard_path(shard.sha256)).tobytes() == alone.tobytes()


def test_a_shard_whose_images_are_all_gone_is_stored_empty(catalog_of, backbone):
    catalog = catalog_of(10)
    plan = plan_shards(catalog=catalog, backbone=backbone).planned_shards.get(position=1)
    Image.objects.filter(pk__in=plan.image_ids).delete()
    found = embed_catalog(catalog=catalog, backbone=backbone, progress=JobProgress(running_job()))
    assert [len(shard.image_ids) for shard in found.shards.order_by("position")] == [4, 0, 2]
    assert len(load_vectors(found)[0]) == 6


def test_a_job_cancelled_while_a_shard_is_computed_stores_it_not(catalog_of, backbone, monkeypatch):
    job = running_job()
    real = embed_in_turn

    def cancelled_at_the_second(*given, **named):
        for number, vectors in enumerate(real(*given, **named)):
            if number == 1:
                Job.objects.filter(pk=job.pk).update(state=JobState.CANCELLED)
            yield vectors

    monkeypatch.setattr(shard_work, "embed_in_turn", cancelled_at_the_second)
    with pytest.raises(JobLostError):
        embed_catalog(catalog=catalog_of(12), backbone=backbone, progress=JobProgress(job))
    assert list(EmbeddingShard.objects.values_list("position", flat=True)) == [0]


def test_loading_and_searching_may_be_silent_for_long_and_embedding_may_not(
    pool_of, monkeypatch, settings
):
    settings.JOB_SILENT_MINUTES, settings.JOB_LONG_MINUTES = 7, 99
    pool = pool_of(specs=[COLOUR])
    progress = JobProgress(running_job())
    allowed = {}

    def noted(module, name):
        real = getattr(module, name)

        def and_noted(*given, **named):
            allowed[name] = progress.silent_minutes
            return real(*given, **named)

        monkeypatch.setattr(module, name, and_noted)

    noted(embed, "load_backbone")
    noted(shard_work, "store_shard")
    noted(proposers, "nearest_candidates")
    proposers.propose(pool.sources.get(), 3, progress)
    assert allowed == {"load_backbone": 99, "store_shard": 7, "nearest_candidates": 99}


# ---- claims ----
def test_a_job_takes_the_next_shard_besides_those_it_has_in_hand(catalog_of, backbone):
    embedding_set = plan_shards(catalog=catalog_of(10), backbone=backbone)
    job = running_job()
    in_hand: list[int] = []
    while (found := claim_shard(embedding_set=embedding_set, job=job, besides=in_hand)) is not None:
        in_hand.append(found.pk)
    assert len(in_hand) == 3


def test_two_jobs_never_hold_the_same_shard(catalog_of, backbone):
    embedding_set = plan_shards(catalog=catalog_of(10), backbone=backbone)
    one, two = running_job(), running_job()
    claimed = [
        claim_shard(embedding_set=embedding_set, job=job).position  # type: ignore[union-attr]
        for job in (one, two)
    ]
    assert claimed == [0, 1]


def test_a_job_on_its_next_attempt_takes_its_own_shard_again(catalog_of, backbone):
    embedding_set = plan_shards(catalog=catalog_of(10), backbone=backbone)
    job = running_job()
    first = claim_shard(embedding_set=embedding_set, job=job)
    assert claim_shard(embedding_set=embedding_set, job=job) == first


@pytest.mark.parametrize(
    "fate",
    [
        {"lease_until": timezone.now() - timedelta(seconds=1)},
        {"state": JobState.CANCELLED},
        {"state": JobState.FAILED},
        {"state": JobState.QUEUED},
    ],
)
def test_the_shard_of_a_lost_job_is_taken_over(catalog_of, backbone, fate):
    embedding_set = plan_shards(catalog=catalog_of(4), backbone=backbone)
    lost, heir = running_job(), running_job()
    held = claim_shard(embedding_set=embedding_set, job=lost)
    assert claim_shard(embedding_set=embedding_set, job=heir) is None
    Job.objects.filter(pk=lost.pk).update(**fate)
    assert claim_shard(embedding_set=embedding_set, job=heir) == held


def test_a_shard_that_two_finished_is_stored_once(catalog_of, backbone):
    embedding_set = plan_shards(catalog=catalog_of(4), backbone=backbone)
    planned = claim_shard(embedding_set=embedding_set, job=running_job())
    assert planned is not None
    vectors = np.eye(4, backbone.dim, dtype=np.float32)
    again = PlannedShard.objects.get(pk=planned.pk)
    store_shard(planned=planned, vectors=vectors)
    store_shard(planned=again, vectors=vectors)
    shard = EmbeddingShard.objects.get()
    assert shard.sha256 == hashlib.sha256(shard_path(shard.sha256).read_bytes()).hexdigest()


@pytest.mark.django_db(transaction=True)
def test_a_worker_waits_for_the_shards_of_others_and_takes_over_those_of_the_dead(
    catalog_of, backbone
):
    catalog = catalog_of(10)
    embedding_set = plan_shards(catalog=catalog, backbone=backbone)
    other, mine = running_job(), running_job()
    claim_shard(embedding_set=embedding_set, job=other)

    def work():
        try:
            embed_catalog(catalog=catalog, backbone=backbone, progress=JobProgress(mine))
        finally:
            connection.close()

    thread = threading.Thread(target=work)
    thread.start()
    rest = "the rest is with other workers"
    wait_until(lambda: rest in Job.objects.get(pk=mine.pk).note, pause=0.02)
    assert list(embedding_set.shards.values_list("position", flat=True)) == [1, 2]
    Job.objects.filter(pk=other.pk).update(lease_until=timezone.now() - timedelta(seconds=1))
    thread.join(timeout=PATIENCE_SECONDS)
    assert list(embedding_set.shards.values_list("position", flat=True)) == [0, 1, 2]


@pytest.mark.django_db(transaction=True)
def test_two_workers_share_one_catalog_and_the_result_is_that_of_one(catalog_of, backbone):
    catalog = catalog_of(40)
    alone = embed_catalog(catalog=catalog, backbone=backbone, progress=JobProgress(running_job()))
    expected = everything(alone)
    alone.delete()
    n_stored: dict[int, int] = {}
    start = threading.Barrier(2)

    def work():
        job = running_job()
        start.wait()
        try:
            embed_catalog(
                catalog=catalog, backbone=load_backbone(COLOUR), progress=JobProgress(job)
            )
            n_stored[job.pk] = 1
        finally:
            connection.close()

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=PATIENCE_SECONDS)
    assert len(n_stored) == 2
    assert everything(EmbeddingSet.objects.get()) == expected
    assert EmbeddingSet.objects.get().is_complete
    assert Image.objects.count() == 40
