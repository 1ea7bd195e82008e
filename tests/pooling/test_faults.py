"""Commands killed with kill -9 while they fill a pool: nothing is lost, nothing changes."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from typing import Any

import pytest

from catalog.models import EmbeddingSet, EmbeddingShard
from jobs.models import Job, JobState
from pooling.models import PlannedShard, Pool, Proposal
from tests.pooling.run_command import started
from tests.waiting import wait_until

pytestmark = [pytest.mark.faults, pytest.mark.django_db(transaction=True)]
MODELS = "descriptor:hog-shape,descriptor:colour-layout"
N_IMAGES = 600  # three shards


def finished(process: Any) -> dict[str, Any]:
    out, err = process.communicate(timeout=400)
    assert process.returncode == 0, err
    return dict(json.loads(out))


def everything(slug: str) -> dict[str, Any]:
    """A pool without ids and times: its vectors' hashes, its proposals to the last bit."""
    catalog = Pool.objects.get(slug=slug).catalog
    shards = EmbeddingShard.objects.filter(embedding_set__catalog=catalog)
    proposals = Proposal.objects.filter(pool__slug=slug)
    return {
        "shards": sorted(shards.values_list("embedding_set__spec", "position", "sha256")),
        "proposals": sorted(
            proposals.values_list(
                "source__spec", "query__sha256", "candidate__sha256", "rank", "score"
            )
        ),
        "complete": list(
            EmbeddingSet.objects.filter(catalog=catalog).values_list("is_complete", flat=True)
        ),
    }


def test_killed_in_each_phase_and_started_again_ends_like_an_undisturbed_run(catalog_of):
    catalog_of(N_IMAGES, slug="calm")
    catalog_of(N_IMAGES, slug="shaken")

    def fill(slug: str) -> Any:
        return started(
            "fill_pool", slug, "--catalog", slug, "--models", MODELS, "-k", 6,
            "--queries", 50, "--json",
        )  # fmt: skip

    expected = finished(fill("calm"))

    def killed_when(is_true: Callable[[], bool]) -> None:
        process = fill("shaken")
        wait_until(lambda: process.poll() is not None or is_true(), pause=0.01)
        assert process.poll() is None, process.communicate()
        process.send_signal(signal.SIGKILL)
        process.communicate()

    mine = EmbeddingShard.objects.filter(embedding_set__catalog__slug="shaken")
    killed_when(PlannedShard.objects.exists)  # planned, nothing stored or little
    n_planned = PlannedShard.objects.count() + mine.count()
    assert n_planned == 3
    killed_when(lambda: mine.count() >= 2)  # in mid-embedding
    assert PlannedShard.objects.exists()
    killed_when(lambda: Proposal.objects.filter(pool__slug="shaken").exists())  # between models
    assert not all(
        source.done_at is not None for source in Pool.objects.get(slug="shaken").sources.all()
    )
    result = finished(fill("shaken"))

    assert {**result, "pool": "calm"} == expected
    assert everything("shaken") == everything("calm")
    assert all(everything("shaken")["complete"])
    assert not PlannedShard.objects.exists()
    jobs = Job.objects.filter(title__endswith="for shaken")
    assert set(jobs.values_list("state", flat=True)) == {JobState.SUCCEEDED}
    assert max(jobs.values_list("n_attempts", flat=True)) >= 3
