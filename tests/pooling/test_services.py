"""Making pools, choosing their queries, starting and stopping their sources."""

from __future__ import annotations

import uuid
from dataclasses import replace

import pytest
from django.db import transaction

from catalog.models import Image
from jobs.models import Job, JobState
from jobs.services import JobConflictError
from lookalike.core.errors import Refused
from lookalike.pooling.query_rule import QueryRule
from pooling.models import Pool, PoolState, SourceState
from pooling.pools.services import (
    cancel_pool,
    create_pool,
    delete_pool,
    pool_as_requested,
    start_pool,
    start_source,
)

pytestmark = pytest.mark.django_db


def queries_of(pool):
    return list(pool.queries.values_list("image_id", flat=True))


def paths_of(pool):
    images = [row.image for row in pool.queries.select_related("image")]
    return [image.source_files.get().path for image in images]


def test_a_pool_keeps_everything_that_it_was_asked_for(request_of, admin):
    pool = create_pool(request=request_of(seed=7), created_by=admin)
    pool = Pool.objects.get(pk=pool.pk)
    assert (pool.slug, pool.k, pool.seed, pool.created_by) == ("first-pool", 3, 7, admin)
    assert pool.rule == QueryRule(n=3)
    assert [source.k for source in pool.sources.all()] == [3] * pool.sources.count()
    assert [row.position for row in pool.queries.all()] == [0, 1, 2]
    assert len(set(queries_of(pool))) == 3


def test_the_same_seed_draws_the_same_queries_and_another_seed_others(request_of):
    request = request_of()
    one = create_pool(request=request, created_by=None)

    def again(name, seed):
        changed = {**vars(request), "name": name, "seed": seed}
        return create_pool(request=type(request)(**changed), created_by=None)

    assert queries_of(again("two", 0)) == queries_of(one)
    assert queries_of(again("three", 1)) != queries_of(one)


def test_the_drawn_queries_do_not_depend_on_the_order_of_import(request_of, catalog_of):
    forward = create_pool(request=request_of(), created_by=None)
    backward = catalog_of(0, slug="backward")
    for image in Image.objects.filter(catalog=forward.catalog).order_by("-id"):
        image.pk, image.uid, image.catalog = None, uuid.uuid4(), backward
        image.save()
    other = create_pool(request=request_of(catalog=backward, name="other"), created_by=None)

    def contents(pool):
        return [row.image.sha256 for row in pool.queries.select_related("image")]

    assert contents(forward) == contents(other)


def test_filters_leave_only_images_that_fit_all_names_and_one_value_of_each(pool_of):
    rule = QueryRule(filters={"colour": ("red", "blue"), "view": ("0",)})
    pool = pool_of(rule=rule)
    shown = [row.image.attributes for row in pool.queries.select_related("image")]
    assert {row["colour"] for row in shown} == {"red", "blue"}
    assert {row["view"] for row in shown} == {"0"}
    assert len(shown) == 4


def test_a_list_is_asked_in_its_own_order_by_path_uid_or_content(request_of):
    request = request_of()
    first, second = Image.objects.filter(catalog=request.catalog).order_by("id")[:2]
    names = ("photos/005.jpg", str(second.uid), first.sha256)
    listed = type(request)(**{**vars(request), "rule": QueryRule(names=names)})
    pool = create_pool(request=listed, created_by=None)
    assert paths_of(pool) == ["photos/005.jpg", "photos/001.jpg", "photos/000.jpg"]


def test_listed_images_that_do_not_exist_are_named(pool_of):
    with pytest.raises(Refused, match=r"nowhere\.jpg") as caught:
        pool_of(rule=QueryRule(names=("photos/001.jpg", "nowhere.jpg")))
    assert caught.value.field == "queries"
    assert not Pool.objects.exists()


def test_an_image_listed_under_two_names_is_refused(request_of):
    request = request_of()
    image = Image.objects.filter(catalog=request.catalog).order_by("id")[0]
    rule = QueryRule(names=("photos/000.jpg", image.sha256))
    with pytest.raises(Refused, match="same image"):
        create_pool(request=type(request)(**{**vars(request), "rule": rule}), created_by=None)


def test_wild_queries_come_from_the_other_catalog(request_of, catalog_of):
    wild = catalog_of(4, slug="wild", first_seed=100)
    pool = create_pool(request=request_of(query_catalog=wild), created_by=None)
    assert {row.image.catalog for row in pool.queries.select_related("image")} == {wild}


@pytest.mark.parametrize(
    ("field", "changes", "words"),
    [
        ("name", {"name": " – "}, "at least one letter"),
        ("name", {"name": "New"}, "choose another"),
        ("k", {"k": 0}, "1 to 11"),
        ("k", {"k": 12}, "1 to 11"),
        ("models", {"specs": []}, "at least one model"),
        ("models", {"specs": ["descriptor:nonsense"]}, "nonsense"),
        ("models", {"specs": ["timm:resnet18", "timm:resnet18"]}, "twice"),
        ("queries", {"rule": QueryRule(n=13)}, "only 12"),
        ("queries", {"rule": QueryRule(filters={"colour": ("mauve",)})}, "colour = mauve"),
        ("queries", {"rule": QueryRule(n=1, filters={"size": ("9",)})}, "no image"),
    ],
)
def test_a_wrong_request_is_refused_by_field_and_nothing_is_stored(
    request_of, field, changes, words
):
    with pytest.raises(Refused, match=words) as caught:
        create_pool(request=request_of(**changes), created_by=None)
    assert caught.value.field == field
    assert not Pool.objects.exists()


def test_a_name_that_is_taken_is_refused(request_of):
    request = request_of()
    create_pool(request=request, created_by=None)
    with pytest.raises(Refused, match="already") as caught:
        create_pool(request=request, created_by=None)
    assert caught.value.field == "name"


def test_the_same_request_finds_the_same_pool_and_another_is_refused_by_difference(request_of):
    request = request_of()
    pool = pool_as_requested(request=request, created_by=None)
    assert pool_as_requested(request=request, created_by=None) == pool
    deeper = type(request)(**{**vars(request), "k": 4})
    with pytest.raises(Refused, match="k 3 and not 4"):
        pool_as_requested(request=deeper, created_by=None)


def test_starting_a_pool_queues_one_job_for_each_source_and_twice_is_once(pool_of, admin):
    pool = pool_of()
    n_sources = pool.sources.count()
    assert start_pool(pool=pool, owner=admin) == n_sources
    assert start_pool(pool=pool, owner=admin) == 0
    assert Job.objects.count() == n_sources
    assert {source.state for source in pool.sources.all()} == {SourceState.QUEUED}
    assert pool.state == PoolState.FILLING


def test_a_source_that_is_queued_is_not_queued_again(pool_of):
    source = pool_of().sources.first()
    start_source(source=source, owner=None)
    with pytest.raises(JobConflictError), transaction.atomic():
        start_source(source=source, owner=None)


def test_cancelling_stops_what_is_open_and_it_can_be_started_again(pool_of):
    pool = pool_of()
    start_pool(pool=pool, owner=None)
    assert cancel_pool(pool=pool) == pool.sources.count()
    pool.refresh_from_db()
    assert {source.state for source in pool.sources.all()} == {SourceState.CANCELLED}
    assert pool.state == PoolState.FAILED
    assert start_pool(pool=pool, owner=None) == pool.sources.count()


def test_a_pool_that_is_being_filled_is_not_deleted_but_a_cancelled_one_is(pool_of):
    pool = pool_of()
    start_pool(pool=pool, owner=None)
    with pytest.raises(Refused, match="being filled"):
        delete_pool(pool=pool)
    cancel_pool(pool=pool)
    delete_pool(pool=Pool.objects.get(pk=pool.pk))
    assert not Pool.objects.exists()


def test_a_source_is_in_the_state_of_its_job_until_it_is_done(pool_of):
    source = pool_of().sources.first()
    job = start_source(source=source, owner=None)
    seen = []
    for state in JobState:
        Job.objects.filter(pk=job.pk).update(state=state, error="no weights")
        source = type(source).objects.get(pk=source.pk)
        seen.append((source.state, source.error))
    assert seen == [
        (SourceState.QUEUED, ""),
        (SourceState.RUNNING, ""),
        (SourceState.FAILED, "no weights"),  # it ended well, but no proposals are there
        (SourceState.FAILED, "no weights"),
        (SourceState.CANCELLED, ""),
    ]


def test_queries_are_spread_over_an_attribute_one_of_each_product_and_fixed_by_the_seed(request_of):
    request = request_of(rule=QueryRule(n=3, strata="colour", one_per_product=True))
    pool = create_pool(request=request, created_by=None)
    images = [row.image for row in pool.queries.select_related("image")]
    colours = sorted(image.attributes["colour"] for image in images)
    assert colours == ["blue", "green", "red"]
    assert len({image.product_id for image in images}) == 3
    again = create_pool(request=replace(request, name="again"), created_by=None)
    assert queries_of(again) == queries_of(pool)
    other = create_pool(request=replace(request, name="other", seed=1), created_by=None)
    assert queries_of(other) != queries_of(pool)


def test_an_attribute_that_no_image_has_spreads_nothing(request_of):
    with pytest.raises(Refused, match="no image has the attribute 'size'") as caught:
        create_pool(request=request_of(rule=QueryRule(n=3, strata="size")), created_by=None)
    assert caught.value.field == "queries"
