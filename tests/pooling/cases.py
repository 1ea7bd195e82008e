"""Jobs, uploads and what they leave behind."""

from __future__ import annotations

import io
import uuid
from datetime import timedelta

import numpy as np
from django.utils import timezone

from catalog.vectors.embeddings import shard_path
from jobs.models import Job, JobState
from pooling import tasks
from pooling.models import Pool
from pooling.sources.upload_files import Arriving


def running_job(lease_seconds=60):
    return Job.objects.create(
        task="t",
        subject=uuid.uuid4().hex,
        title="t",
        state=JobState.RUNNING,
        n_attempts=1,
        lease_until=timezone.now() + timedelta(seconds=lease_seconds),
    )


def everything(embedding_set):
    """What an embedding set is, byte for byte."""
    return [
        (shard.position, shard.image_ids, shard.sha256, shard_path(shard.sha256).read_bytes())
        for shard in embedding_set.shards.order_by("position")
    ]


def upload(name: str, content: str | bytes) -> Arriving:
    return Arriving(name, [content if isinstance(content, bytes) else content.encode()])


def npz(ids, vectors) -> bytes:
    file = io.BytesIO()
    np.savez(file, ids=np.array(ids), vectors=vectors)
    return file.getvalue()


def work(pool):
    """Do what waits for a worker."""
    for source in pool.sources.select_related("job"):
        if source.job is not None and source.job.is_open:
            tasks.run_source(str(source.job.uid))
    return Pool.objects.get(pk=pool.pk)
