"""A pool is searched on the device of the worker that has its job, within the site's memory."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from jobs.models import Job, JobState
from lookalike.search import exact, gpu
from lookalike.search.topk import TopK
from pooling import tasks
from pooling.models import Index, Proposal
from pooling.pools.services import start_source

pytestmark = pytest.mark.django_db


def proposed_by(source: Any) -> tuple[Job, list[Any]]:
    """Do a source's job, and return it with what it proposes."""
    job = start_source(source=source, owner=None)
    tasks.run_source(str(job.uid))
    names = ("query_id", "rank", "candidate_id", "score")
    stored = Proposal.objects.filter(source=source).order_by("query_id", "rank")
    return Job.objects.get(pk=job.pk), list(stored.values_list(*names))


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """Let torch's processor stand for any device; return devices and memory asked for."""
    asked: list[tuple[str, int]] = []
    on_device, on_processor = gpu.top_k, exact.top_k

    def on_a_device(*args: Any, device: str, memory_mib: int, **options: Any) -> TopK:
        asked.append((device, memory_mib))
        return on_device(*args, device="cpu", memory_mib=memory_mib, **options)

    def on_the_processor(*args: Any, memory_mib: int, **options: Any) -> TopK:
        asked.append(("the processor", memory_mib))
        return on_processor(*args, memory_mib=memory_mib, **options)

    monkeypatch.setattr(gpu, "top_k", on_a_device)
    monkeypatch.setattr(exact, "top_k", on_the_processor)
    return asked


def test_a_worker_on_a_gpu_finds_there_what_the_processor_finds(
    pool_of: Any, settings: Any, seen: list[tuple[str, int]]
) -> None:
    settings.SEARCH_MEMORY_MIB = 32
    pool = pool_of(k=5)
    first = pool.sources.first()
    for device in ("", "cpu"):
        settings.WORKER_DEVICE = device
        _, expected = proposed_by(first)
        Proposal.objects.filter(source=first).delete()
        type(first).objects.filter(pk=first.pk).update(done_at=None)
        first.refresh_from_db()
    settings.WORKER_DEVICE = "cuda:0"
    job, found = proposed_by(first)
    assert job.state == JobState.SUCCEEDED
    assert found == expected
    assert len(found) == 15
    assert seen == [("the processor", 32), ("the processor", 32), ("cuda:0", 32)]


def test_the_sample_that_measures_an_index_is_searched_there_too(
    pool_of: Any, settings: Any, seen: list[tuple[str, int]]
) -> None:
    settings.WORKER_DEVICE = "cuda:1"
    job, _ = proposed_by(pool_of(index=Index.IVF).sources.first())
    assert job.state == JobState.SUCCEEDED
    assert [device for device, _ in seen] == ["cuda:1"]


@pytest.mark.usefixtures("seen")
def test_a_gpu_without_room_leaves_a_note_in_the_job(
    pool_of: Any, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*args: Any) -> Any:
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB.")

    monkeypatch.setattr(gpu, "fed", full)
    settings.WORKER_DEVICE = "cuda:0"
    source = pool_of().sources.first()
    job, found = proposed_by(source)
    assert job.state == JobState.SUCCEEDED
    assert len(found) == 9
    assert job.note == (f"{source.spec}: the memory of cpu is full; the processor searches instead")
