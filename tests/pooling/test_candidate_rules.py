"""Rules on candidates are applied inside the search: every query still gets its k."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.db.models import Exists, OuterRef
from hypothesis import given
from hypothesis import strategies as st

from catalog.curation.services import leave_out
from catalog.models import Image, NearDuplicate, Omission
from catalog.vectors.embeddings import load_vectors
from lookalike.core.errors import Refused
from lookalike.pooling.candidate_rule import CandidateRule, CandidateRuleError, attributes_in
from lookalike.pooling.query_rule import QueryRule
from lookalike.search.collapse_duplicates import one_of_each
from lookalike.search.filters import Filters, Keys
from lookalike.search.scored import admissible
from pooling.models import Pool
from pooling.pools.services import create_pool
from pooling.sources.admission import n_admissible
from tests.catalogs import MODELS, catalog_of_photos, filled

pytestmark = pytest.mark.django_db
COLOUR = MODELS[0]
RULES = [
    CandidateRule(same=("colour",)),
    CandidateRule(different=("colour",)),
    CandidateRule(same=("view",), different=("colour",)),
    CandidateRule(one_of_alike=True),
    CandidateRule(same=("view",), one_of_alike=True),
    CandidateRule(different=("view",), one_of_alike=True),
    CandidateRule(different=("colour", "view"), one_of_alike=True),
    CandidateRule(same=("view",), different=("colour",), one_of_alike=True),
]


def make_alike(images: list[Image], pairs: list[tuple[int, int]]) -> None:
    for first, second in pairs:
        low, high = sorted([images[first].pk, images[second].pk])
        NearDuplicate.objects.create(
            catalog=images[first].catalog, first_id=low, second_id=high, n_bits=2
        )


def groups_of(catalog) -> dict[int, list[Any]]:
    """Return the group of each image by walking from neighbour to neighbour."""
    omitted = Omission.objects.filter(image=OuterRef("pk"))
    images = {i.pk: i for i in catalog.images.annotate(is_left_out=Exists(omitted))}
    beside: dict[int, set[int]] = {pk: set() for pk in images}
    for pair in NearDuplicate.objects.filter(catalog=catalog):
        beside[pair.first_id].add(pair.second_id)
        beside[pair.second_id].add(pair.first_id)
    found = {}
    for start in beside:
        group, waiting = {start}, [start]
        while waiting:
            new = beside[waiting.pop()] - group
            group |= new
            waiting += new
        found[start] = [images[pk] for pk in sorted(group)]
    return found


def images_of(groups: dict[int, list[Any]]) -> list[Any]:
    return [next(image for image in group if image.pk == pk) for pk, group in groups.items()]


def may_answer(query: Image, image: Any, pool: Pool, groups: dict[int, list[Any]]) -> bool:
    """Say in plain words whether the pool's rules admit an image, one pair at a time.

    Of a group of near-duplicates the first by content among all that may answer this query.
    """
    if not is_admitted(query, image, pool):
        return False
    if not pool.candidates.one_of_alike:
        return True
    if any(image.pk == alike.pk for alike in groups[query.pk]):
        return False
    peers = groups[image.pk]
    return bool(image.sha256 == min(i.sha256 for i in peers if is_admitted(query, i, pool)))


def is_admitted(query: Image, image: Any, pool: Pool) -> bool:
    """Say whether the rules other than that on near-duplicates admit an image."""
    rule = pool.candidates
    if image.is_left_out:
        return False
    if image.pk == query.pk or (pool.exclude_same_product and image.product_id == query.product_id):
        return False
    if any(image.attributes.get(name) != query.attributes[name] for name in rule.same):
        return False
    return not any(
        query.attributes.get(name) and image.attributes.get(name) == query.attributes.get(name)
        for name in rule.different
    )


def brute_force(pool: Pool, k: int) -> dict[int, list[int]]:
    """Return each query's best admissible candidates by sorting all of them."""
    source = pool.sources.get()
    assert source.embedding_set is not None
    ids, vectors = load_vectors(source.embedding_set)
    wide = dict(zip(ids.tolist(), vectors.astype(np.float32), strict=True))
    place = {pk: row for row, pk in enumerate(ids.tolist())}
    groups = groups_of(pool.catalog)
    images = images_of(groups)
    best = {}
    for row in pool.queries.select_related("image"):
        allowed = [i.pk for i in images if may_answer(row.image, i, pool, groups)]
        score = {pk: float(wide[row.image_id] @ wide[pk]) for pk in allowed}
        best[row.image_id] = sorted(allowed, key=lambda pk: (-score[pk], place[pk]))[:k]
    return best


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.describe())
@pytest.mark.parametrize("products", [True, False])
def test_the_search_finds_what_sorting_all_admitted_candidates_finds(pool_of, rule, products):
    catalog = catalog_of_photos(30)
    photos = list(catalog.images.all())
    make_alike(photos, [(0, 3), (3, 9), (4, 5), (10, 20), (20, 26), (7, 8)])
    first_of_group = min((photos[place] for place in (10, 20, 26)), key=lambda one: one.sha256)
    for image in (photos[3], first_of_group):
        leave_out(image=image, reason="cut off", by=None)
    pool = pool_of(
        catalog=catalog, specs=[COLOUR], k=4, rule=QueryRule(), candidates=rule,
        exclude_same_product=products,
    )  # fmt: skip
    filled(pool)
    expected = brute_force(pool, 4)
    found: dict[int, list[int]] = {query: [] for query in expected}
    for proposal in pool.proposals.order_by("query", "rank"):
        found[proposal.query_id].append(proposal.candidate_id)
    assert found == expected
    assert min(map(len, found.values())) == 4  # masked before, not after: nobody goes short
    groups = groups_of(catalog)
    images = {image.pk: image for image in images_of(groups)}
    n_allowed = [
        sum(may_answer(images[query], image, pool, groups) for image in images.values())
        for query in pool.queries.values_list("image_id", flat=True)
    ]
    query_ids = np.array(pool.queries.values_list("image_id", flat=True))
    assert n_admissible(pool, query_ids).tolist() == n_allowed
    assert pool.stats["brute_force_pairs"] == sum(n_allowed)


def test_random_pairs_and_plain_models_obey_the_same_rule(pool_of):
    catalog = catalog_of_photos(18)
    pool = filled(
        pool_of(
            catalog=catalog,
            specs=[COLOUR, "random:1"],
            k=3,
            candidates=CandidateRule(same=("colour",)),
        )
    )
    pairs = pool.proposals.values_list("query__attributes", "candidate__attributes")
    assert len(pairs) == 2 * 3 * 3
    assert all(query["colour"] == candidate["colour"] for query, candidate in pairs)


def test_wild_queries_leave_out_pictures_that_look_the_same(pool_of):
    catalog, wild = catalog_of_photos(8), catalog_of_photos(3, slug="wild", first_seed=50)
    twin, query = catalog.images.all()[2], wild.images.all()[0]
    Image.objects.filter(pk=query.pk).update(perceptual_hash=twin.perceptual_hash)
    rule = CandidateRule(one_of_alike=True)
    pool = pool_of(
        catalog=catalog, query_catalog=wild, specs=[COLOUR], k=8, rule=QueryRule(), candidates=rule
    )
    filled(pool)
    of_query = set(pool.proposals.filter(query=query).values_list("candidate_id", flat=True))
    assert twin.pk not in of_query
    assert len(of_query) == 7
    others = pool.proposals.exclude(query=query)
    assert others.filter(candidate=twin).count() == 2


def test_a_query_without_the_attribute_is_refused_before_anything_is_searched(request_of):
    catalog = catalog_of_photos(12)
    image = catalog.images.all()[0]
    image.attributes = {}
    image.save()
    request = request_of(
        catalog=catalog, rule=QueryRule(), candidates=CandidateRule(same=("colour",))
    )
    with pytest.raises(Refused, match="1 of 12 queries have no 'colour'") as caught:
        create_pool(request=request, created_by=None)
    assert caught.value.field == "candidates"


def test_an_attribute_that_no_image_has_is_refused(request_of):
    request = request_of(candidates=CandidateRule(different=("size",)))
    with pytest.raises(Refused, match="has the attribute 'size'"):
        create_pool(request=request, created_by=None)


def test_the_command_takes_the_rule_and_refuses_another_under_the_same_name(catalog_of, capsys):
    catalog_of(12)
    given_ = ["fill_pool", "Ruled", "--catalog", "shoes", "--models", COLOUR, "--queries", "4"]
    call_command(*given_, "-k", "2", "--same", "view", "--different", "colour", "--collapse")
    pool = Pool.objects.get()
    assert pool.candidates == CandidateRule(("view",), ("colour",), one_of_alike=True)
    with pytest.raises(CommandError, match="candidates of the query’s own view"):
        call_command(*given_, "-k", "2")


def test_a_rule_cannot_ask_for_the_same_and_another_value():
    with pytest.raises(CandidateRuleError, match="another colour"):
        CandidateRule(same=("colour",), different=("colour",))


KEY = st.integers(-1, 3)
MEMBER = st.tuples(st.integers(0, 3), KEY, KEY, KEY)  # unit, and three keys


@given(st.lists(MEMBER, min_size=1, max_size=14), st.tuples(KEY, KEY, KEY), st.randoms(), KEY)
def test_each_query_gets_the_first_admissible_member_of_each_unit(members, asked, random, other):
    table = np.array(members)
    order = list(range(len(members)))
    random.shuffle(order)
    queries = np.array([asked, (other, *asked[1:])])  # several queries share the codes
    ruled = [Keys(queries=queries[:, n], catalog=table[:, n + 1]) for n in range(3)]
    stands, apart = one_of_each(table[:, 0], np.array(order), ruled)
    for at, query in enumerate(queries.tolist()):
        first: dict[int, int] = {}
        for row in order:
            unit, *keys = members[row]
            if not any(key == mine != -1 for key, mine in zip(keys, query, strict=True)):
                first.setdefault(unit, row)
        filters = Filters(
            apart=[*ruled, *apart], alike=[Keys(np.ones(2, np.int64), stands)]
        ).arrays(2, len(members))
        assert set(np.flatnonzero(admissible(filters, at))) == set(first.values())


NAMES = st.lists(st.sampled_from("abcdef"), unique=True).map(tuple)


@given(NAMES, NAMES, st.booleans())
def test_a_rule_is_stored_and_read_back(same, different, one_of_alike):
    different = tuple(name for name in different if name not in same)
    rule = CandidateRule(same, different, one_of_alike)
    assert CandidateRule.from_json(rule.as_json()) == rule
    assert bool(rule) == bool(rule.as_json()) == bool(rule.describe())


def test_attributes_are_listed_with_commas():
    assert attributes_in(" colour, view,,colour ") == ("colour", "view")
    assert attributes_in(" ") == ()
