"""A product belongs to its catalog: pools with queries of another one lose no judged pair."""

from __future__ import annotations

import pytest
from django.test import Client

from annotation.models import Campaign
from evaluation.exports import export_pieces
from evaluation.results.assessment import Assessment, assess
from evaluation.results.inputs import read_inputs
from evaluation.results.services import store_result
from lookalike.core.errors import Refused
from lookalike.core.products import is_own_product
from lookalike.io.vsd_task import read_vsd_task
from lookalike.pooling.query_rule import QueryRule
from pooling.models import Pool
from pooling.new_pool.requests import PoolRequest, check_request
from pooling.pools.statistics import n_excluded_pairs
from pooling.sources.admission import n_admissible
from tests.worlds import SPECS, World, build_wild_world, judge_world

N_IMAGES = 30


def _equal_ids(world: World) -> set[tuple[int, int]]:
    """Return the pairs of the pool with one product id in both catalogs."""
    product_of = {image.pk: image.product_id for image in world.images}
    pairs = world.pool.proposals.values_list("query_id", "candidate_id").distinct()
    return {(q, c) for q, c in pairs if product_of[q] == product_of[c]}


def _n_compared(found: Assessment) -> int:
    [n_pairs] = {one.coverage.n_pairs for one in found.summary.models}
    return n_pairs


def test_equal_ids_of_two_catalogs_are_two_products_for_the_pool_and_for_its_board(db):
    world = judge_world(build_wild_world())
    assert _equal_ids(world), "the pool asks pairs of equal ids"
    found = assess(world.campaign, n_bootstraps=20)
    labels = found.summary.labels
    assert _n_compared(found) == labels.n_decided == labels.n_judged
    assert labels.left_out == {}
    assert found.report is not None
    assert found.report.pool.n_judged == labels.n_decided


def test_a_file_of_both_catalogs_shows_its_own_product_as_a_query(db):
    world = judge_world(build_wild_world(n_twins=4))
    siblings = {
        (q, c)
        for q, c in world.pool.proposals.values_list("query_id", "candidate_id")
        if world.images[29 - (q - world.images[30].pk)].product_id
        == next(i for i in world.images if i.pk == c).product_id
    }
    assert siblings, "a twin is asked about pictures of the product that it shows in the shop"
    found = assess(world.campaign, n_bootstraps=20)
    assert _n_compared(found) == found.summary.labels.n_judged
    assert found.report is not None
    assert found.report.pool.n_catalogue_pairs == 8 * N_IMAGES - 4, "but for each twin's own file"


def test_a_query_of_another_catalog_has_every_candidate(db):
    found = assess(judge_world(build_wild_world()).campaign, n_bootstraps=20)
    assert found.report is not None
    assert found.report.pool.n_catalogue_pairs == 8 * N_IMAGES


def test_shared_ids_are_left_out_when_the_pool_is_filled(db):
    world = build_wild_world(shared_product_ids=True)
    assert not _equal_ids(world)
    assert n_excluded_pairs(world.pool) == 8 * 3
    assert n_admissible(world.pool, world.pool.query_ids).tolist() == [27] * 8


def test_judged_pairs_that_are_left_out_are_counted_with_their_reason(db):
    world = judge_world(build_wild_world())
    n_equal = len(_equal_ids(world))
    Pool.objects.filter(pk=world.pool.pk).update(shared_product_ids=True)
    found = assess(world.campaign, n_bootstraps=20)
    labels = found.summary.labels
    assert labels.left_out == {"own_product": n_equal}
    assert _n_compared(found) + n_equal == labels.n_judged
    assert found.report is not None
    assert found.report.pool.n_own_product == n_equal
    assert found.report.pool.n_outside_pool == 0


def test_page_files_and_api_say_what_is_left_out(db, researcher):
    world = judge_world(build_wild_world())
    n_equal = len(_equal_ids(world))
    Pool.objects.filter(pk=world.pool.pk).update(shared_product_ids=True)
    result = store_result(
        campaign=world.campaign, assessment=assess(world.campaign, n_bootstraps=20), job=None
    )
    client = Client()
    client.force_login(researcher)
    page = client.get(f"/results/{world.campaign.slug}/")
    assert f"{n_equal} (" in page.context["left_out"]
    assert page.context["left_out"] in page.text
    markdown = client.get(f"/results/{world.campaign.slug}/leaderboard.md").text
    assert f"{n_equal} (" in markdown
    assert result.summary["labels"]["left_out"] == {"own_product": n_equal}


def test_a_task_of_the_benchmark_tells_the_products_of_both_catalogs_apart(db, tmp_path):
    world = judge_world(build_wild_world())
    for is_shared in (False, True):
        Pool.objects.filter(pk=world.pool.pk).update(shared_product_ids=is_shared)
        path = tmp_path / f"{is_shared}.zip"
        path.write_bytes(b"".join(export_pieces(Campaign.objects.get(), "vsd-task")))
        task = read_vsd_task(path)
        shop, wild = ({task.products[p] for p in part} for part in (task.gallery(), task.queries()))
        assert shop == {f"p{n}" for n in range(10)}, "a catalog's own ids stay"
        assert bool(shop & wild) == is_shared


def test_shared_ids_need_a_catalog_of_queries(db):
    world = build_wild_world()
    request = PoolRequest(
        name="x", catalog=world.catalog, specs=SPECS, k=4, rule=QueryRule(n=2),
        shared_product_ids=True,
    )  # fmt: skip
    with pytest.raises(Refused) as refused:
        check_request(request)
    assert refused.value.field == "shared_product_ids"


def test_products_of_a_campaign_without_a_pool_belong_to_their_catalogs(db):
    world = judge_world(build_wild_world())
    n_pairs = len(read_inputs(world.campaign).qrels)
    Pool.objects.get().campaign_links.all().delete()
    inputs = read_inputs(world.campaign)
    assert inputs.pool is None
    assert len(inputs.qrels) == n_pairs
    own = inputs.products
    assert not any(is_own_product(own, query, candidate) for query, candidate, _ in inputs.qrels)
