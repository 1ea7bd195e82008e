"""Sources that propose: once, whole or not at all, with figures of what is done."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from django.db import connection, connections, transaction
from psycopg.errors import UniqueViolation

from catalog.models import EmbeddingShard
from catalog.vectors.embeddings import shard_path
from jobs.models import Job, JobState
from jobs.services import JobError, run_job
from lookalike.search.topk import TopK
from pooling import tasks
from pooling.models import Pool, PoolQuery, PoolState, Proposal
from pooling.pools.services import start_pool, start_source
from pooling.pools.statistics import update_stats
from pooling.sources.admission import find_rows
from pooling.sources.fill import run_source, store_proposals
from pooling.sources.nearest import Found
from pooling.sources.proposers import Answer

pytestmark = pytest.mark.django_db


def run(job):
    """What a worker does with a job's id."""
    tasks.run_source(str(job.uid))
    return Job.objects.get(pk=job.pk)


def test_a_task_that_is_delivered_twice_proposes_once(pool_of):
    source = pool_of().sources.first()
    job = start_source(source=source, owner=None)
    assert run(job).state == JobState.SUCCEEDED
    before = list(Proposal.objects.values_list())
    assert len(before) == 9
    assert run(job).n_attempts == 1
    assert list(Proposal.objects.values_list()) == before


def test_a_second_run_of_a_source_that_is_done_replaces_nothing(pool_of):
    source = pool_of().sources.first()
    run(start_source(source=source, owner=None))
    before = list(Proposal.objects.values_list())
    again = Job.objects.create(task="t", subject="s", title="t")
    run_job(again.uid, lambda progress: run_source(source_id=source.pk, progress=progress))
    assert Job.objects.get(pk=again.pk).state == JobState.SUCCEEDED
    assert list(Proposal.objects.values_list()) == before


def test_the_planner_knows_of_many_proposals_at_once(catalog_of):
    catalog = catalog_of(40)
    images = list(catalog.images.order_by("pk").values_list("pk", flat=True))
    pool = Pool.objects.create(slug="many", name="Many", catalog=catalog, k=30)
    queries = [PoolQuery(pool=pool, image_id=pk, position=at) for at, pk in enumerate(images)]
    PoolQuery.objects.bulk_create(queries)
    source = pool.sources.create(position=0, spec="descriptor:hog-shape", k=30)
    rows = np.array([[(at + 1 + rank) % 40 for rank in range(30)] for at in range(40)])
    found = Found(
        query_ids=np.array(images),
        candidate_ids=np.array(images),
        nearest=TopK(rows, np.linspace(1, 0, rows.size, dtype=np.float32).reshape(rows.shape)),
    )
    store_proposals(source=source, answer=Answer(found))
    with connection.cursor() as cursor:
        cursor.execute(
            "select relname, reltuples::int from pg_class where relname = any(%s) order by 1",
            [["pooling_poolquery", "pooling_proposal"]],
        )
        counts = dict(cursor.fetchall())
    assert counts == {
        "pooling_poolquery": PoolQuery.objects.count(),
        "pooling_proposal": Proposal.objects.count(),
    }
    assert Proposal.objects.count() == 1200


def test_the_source_remembers_the_embeddings_that_it_searched(pool_of):
    source = pool_of().sources.first()
    run(start_source(source=source, owner=None))
    source.refresh_from_db()
    assert source.embedding_set == source.query_embedding_set
    assert source.embedding_set.spec == source.spec
    assert source.n_proposals == 9


def test_while_one_model_is_missing_the_figures_are_of_the_others_and_say_so(pool_of):
    pool = pool_of()
    first, second = pool.sources.all()
    start_pool(pool=pool, owner=None)
    run(pool.sources.get(pk=first.pk).job)
    pool = Pool.objects.get(pk=pool.pk)
    assert pool.state == PoolState.FILLING
    assert pool.stats["models"] == [first.spec]
    assert [row["spec"] for row in pool.stats["inputs"]["sources"]] == [first.spec]
    run(pool.sources.get(pk=second.pk).job)
    pool = Pool.objects.get(pk=pool.pk)
    assert pool.state == PoolState.COMPLETE
    assert pool.stats["models"] == [first.spec, second.spec]


def test_a_source_whose_pool_was_deleted_says_so(pool_of):
    pool = pool_of()
    job = start_source(source=pool.sources.first(), owner=None)
    pool.delete()
    assert run(job).error == "The pool was deleted."


def test_damaged_vectors_are_made_again_and_the_proposals_are_the_same(pool_of):
    first = pool_of().sources.all()[0]
    run(start_source(source=first, owner=None))
    facts = ("query", "candidate", "rank", "score")
    expected = set(Proposal.objects.values_list(*facts))
    Proposal.objects.all().delete()
    type(first).objects.update(done_at=None)
    path = shard_path(EmbeddingShard.objects.get().sha256)
    whole = path.read_bytes()
    path.write_bytes(whole[:-4] + b"\0\0\0\1")
    for merged in (path.parents[1] / "merged").glob("*.npy"):
        merged.unlink()
    first.refresh_from_db()
    job = run(start_source(source=first, owner=None))
    assert job.state == JobState.SUCCEEDED
    assert path.read_bytes() == whole
    assert set(Proposal.objects.values_list(*facts)) == expected


def test_no_half_of_the_proposals_is_stored_when_storing_fails(pool_of):
    pool = pool_of()
    source = pool.sources.first()
    queries = np.array(list(pool.queries.values_list("image_id", flat=True)), np.int64)
    twice = TopK(
        indices=np.array([[0, 1, 2], [0, 1, 2], [0, 0, 2]], np.int64),  # a candidate twice
        scores=np.zeros((3, 3), np.float32),
    )
    found = Found(queries, np.arange(1, 13) + queries.max(), twice)
    with pytest.raises(UniqueViolation, match="one_proposal_per_candidate"), transaction.atomic():
        store_proposals(source=source, answer=Answer(found))
    assert not Proposal.objects.exists()
    source.refresh_from_db()
    assert source.done_at is None


def test_a_query_with_too_few_candidates_has_fewer_and_no_padding(pool_of):
    pool = pool_of(k=10)  # twelve images, of which two are the query's own product
    run(start_source(source=pool.sources.first(), owner=None))
    assert Proposal.objects.count() == 30
    pool = pool_of(k=11, name="deeper", catalog=pool.catalog)
    run(start_source(source=pool.sources.first(), owner=None))
    deeper = Proposal.objects.filter(pool=pool)
    assert deeper.count() == 30
    assert max(deeper.values_list("rank", flat=True)) == 9


def test_rows_are_found_in_any_order_and_what_is_missing_is_an_error():
    ids = np.array([30, 10, 20], np.int64)
    assert find_rows(np.array([20, 30], np.int64), ids).tolist() == [2, 0]
    assert find_rows(np.array([], np.int64), ids).tolist() == []
    for known in (ids, ids[:0]):
        with pytest.raises(JobError, match="no vector"):
            find_rows(np.array([20, 99], np.int64), known)


@pytest.mark.django_db(transaction=True)
def test_two_models_that_end_together_are_both_in_the_figures(pool_of):
    pool = pool_of()
    start_pool(pool=pool, owner=None)
    jobs = [source.job for source in pool.sources.all()]
    start = threading.Barrier(2)

    def work(job):
        start.wait()
        try:
            tasks.run_source(str(job.uid))
        finally:
            connections.close_all()

    threads = [threading.Thread(target=work, args=[job]) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=120)
    pool = Pool.objects.get(pk=pool.pk)
    assert pool.state == PoolState.COMPLETE
    assert pool.stats["models"] == [source.spec for source in pool.sources.all()]
    stored = dict(pool.stats)
    update_stats(pool=pool)
    assert pool.stats == stored
