"""A product belongs to its catalog: pools with queries of another one lose no judged pair."""

from __future__ import annotations

from evaluation.results.assessment import assess
from tests.worlds import World, build_wild_world, judge_world


def _same_id(world: World) -> set[tuple[int, int]]:
    """The pairs of the pool with equal product ids, one of each catalog."""
    product_of = {image.pk: image.product_id for image in world.images}
    pairs = world.pool.proposals.values_list("query_id", "candidate_id").distinct()
    return {(q, c) for q, c in pairs if product_of[q] == product_of[c]}


def test_equal_ids_of_two_catalogs_are_two_products_for_the_pool_and_for_its_board(db):
    world = judge_world(build_wild_world())
    assert _same_id(world), "the pool asks pairs of equal ids"
    found = assess(world.campaign, n_bootstraps=20)
    labels = found.summary.labels
    assert {one.coverage.n_pairs for one in found.summary.models} == {labels.n_decided}
    assert found.report is not None
    assert found.report.pool.n_outside_pool == 0
