"""Workers that help with another's model: asked on their own queues, called off in the end."""

from __future__ import annotations

import pytest

from catalog.models import EmbeddingSet, EmbeddingShard
from jobs.models import Job, JobState, Worker
from jobs.services import JobError, JobLostError, JobProgress, run_job
from lookalike.backbones.loading import load_backbone
from pooling.embedding import recruit, shard_work, shards
from pooling.embedding.embed import embed_catalog, help_embed
from pooling.embedding.recruit import ask_for_help, end_help
from pooling.embedding.shards import claim_shard, plan_shards
from pooling.models import PlannedShard
from tests.catalogs import MODELS
from tests.pooling.cases import everything, running_job

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def small_shards(monkeypatch):
    monkeypatch.setattr(shards, "SHARD_SIZE", 4)


@pytest.fixture
def backbone():
    return load_backbone(MODELS[0])


def workers(*devices):
    return [
        Worker.objects.create(name=f"{device} {n}", queue=f"device.{n}", device=device)
        for n, device in enumerate(devices)
    ]


def job_of(worker):
    job = running_job()
    job.held_by = worker
    job.save()
    return job


def test_others_of_the_same_kind_are_asked_once_on_their_own_queues(catalog_of, backbone):
    mine, other, _gpu = workers("cpu", "cpu", "cuda:0")
    embedding_set = plan_shards(catalog=catalog_of(12), backbone=backbone)
    job = job_of(mine)
    assert ask_for_help(embedding_set=embedding_set, job=job) == 1
    assert ask_for_help(embedding_set=embedding_set, job=job) == 0
    asked = Job.objects.get(task=recruit.HELP_TASK)
    assert (asked.queue, asked.arguments) == (other.queue, {"embedding_set_id": embedding_set.pk})
    end_help(embedding_set=embedding_set)
    asked.refresh_from_db()
    assert asked.state == JobState.CANCELLED


def test_nobody_is_asked_for_one_shard_or_by_a_command(catalog_of, backbone):
    mine, _other = workers("cpu", "cpu")
    one_shard = plan_shards(catalog=catalog_of(4), backbone=backbone)
    assert ask_for_help(embedding_set=one_shard, job=job_of(mine)) == 0
    three = plan_shards(catalog=catalog_of(12, slug="boots"), backbone=backbone)
    assert ask_for_help(embedding_set=three, job=running_job()) == 0


def test_a_helper_takes_what_is_open_and_the_result_is_the_same(catalog_of, backbone):
    alone = embed_catalog(
        catalog=catalog_of(12, slug="alone"), backbone=backbone, progress=JobProgress(running_job())
    )
    shared = plan_shards(catalog=catalog_of(12, slug="shared"), backbone=backbone)
    gone = running_job()
    held = claim_shard(embedding_set=shared, job=gone)
    found = help_embed(embedding_set_id=shared.pk, progress=JobProgress(running_job()))
    assert found == {"images": 8}
    assert PlannedShard.objects.get() == held
    Job.objects.filter(pk=gone.pk).update(state=JobState.CANCELLED)
    embed_catalog(catalog=shared.catalog, backbone=backbone, progress=JobProgress(running_job()))
    assert [row[2:] for row in everything(shared)] == [row[2:] for row in everything(alone)]
    assert help_embed(embedding_set_id=shared.pk, progress=JobProgress(running_job())) == {
        "images": 0
    }


def test_a_helper_with_other_weights_refuses(catalog_of, backbone):
    embedding_set = plan_shards(catalog=catalog_of(12), backbone=backbone)
    EmbeddingSet.objects.update(fingerprint="of another version")
    with pytest.raises(JobError, match="would make other vectors"):
        help_embed(embedding_set_id=embedding_set.pk, progress=JobProgress(running_job()))
    assert not EmbeddingShard.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_helpers_are_called_off_when_the_work_is_cancelled(catalog_of, backbone, monkeypatch):
    mine, _other = workers("cpu", "cpu")
    catalog = catalog_of(12)
    job = Job.objects.create(task="t", subject="s", title="t")

    def work(progress):
        progress.job.held_by = mine

        def cancelled(*_, **__):
            raise JobLostError

        monkeypatch.setattr(shard_work, "embed_in_turn", cancelled)
        embed_catalog(catalog=catalog, backbone=backbone, progress=progress)
        return {}

    run_job(job.uid, work)
    asked = Job.objects.get(task=recruit.HELP_TASK)
    assert asked.state == JobState.CANCELLED
