"""Before a pool is filled: what each model would add, measured or estimated, with intervals."""

from __future__ import annotations

import numpy as np
import pytest
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t

from jobs.models import Job
from lookalike.pooling.candidate_rule import CandidateRule
from lookalike.pooling.probe import additions
from lookalike.pooling.query_rule import QueryRule
from pooling.models import Pool
from pooling.new_pool.requests import choose_queries
from pooling.pools.services import create_pool
from pooling.probe import services
from pooling.probe.services import start_probe
from pooling.tasks import probe
from tests.catalogs import MODELS, catalog_of_photos, filled

UNKNOWN = "timm:resnet18"


def test_additions_by_hand():
    found = {
        "a": np.array([[1, 2], [1, 2]]),
        "b": np.array([[2, 3], [4, 5]]),  # one new, then two
    }
    rows, whole = additions({"a": 2, UNKNOWN: 4, "b": 2}, found, n_queries=2)
    assert [(row.spec, row.pairs, row.low, row.high, row.is_measured) for row in rows] == [
        ("a", 4, 4, 4, True),
        ("b", 3, 3, 3, True),  # every query was probed: no interval
        (UNKNOWN, 6, 0, 8, False),  # 3 of 4 proposals of either are its own: 3/4 of 2 x 4
    ]
    assert (whole.pairs, whole.low, whole.high) == (13, 7, 15)


def test_three_models_bound_what_another_may_add_by_hand():
    found = {
        "a": np.array([[1, 2], [1, 2]]),  # 1 of 4 its own
        "b": np.array([[2, 3], [2, 5]]),  # 2 of 4
        "c": np.array([[1, 6], [7, 8]]),  # 3 of 4
    }
    *_, unknown = additions({"a": 2, "b": 2, "c": 2, UNKNOWN: 4}, found, n_queries=2)[0]
    assert (unknown.low, unknown.pairs, unknown.high) == (8 / 4, 8 / 2, 8 * 3 / 4)


def test_a_sample_gives_an_interval_by_hand():
    found = {"a": np.array([[1, 2], [1, -1]])}
    [row], whole = additions({"a": 2}, found, n_queries=8)
    # s2 = 1/2 of counts 2 and 1, corrected by 1 - 2/8
    half = t.ppf(0.975, 1) * (0.5 * 0.75 / 2) ** 0.5
    assert row.pairs == 12
    assert row.low == 0 > 8 * (1.5 - half)
    assert row.high == pytest.approx(8 * (1.5 + half))
    assert whole.pairs == 12


def test_with_too_few_measured_models_anything_is_possible_for_the_others():
    rows, whole = additions({"a": 2, UNKNOWN: 3}, {"a": np.array([[1, 2]])}, n_queries=1)
    assert (rows[1].low, rows[1].high) == (0, 3)
    assert not whole.is_measured
    [row], _ = additions({UNKNOWN: 3}, {}, n_queries=5)
    assert (row.low, row.high) == (0, 15)


def test_models_that_answer_different_queries_are_refused():
    with pytest.raises(ValueError, match="different numbers"):
        additions({"a": 1, "b": 1}, {"a": np.array([[1]]), "b": np.array([[1], [2]])}, 2)


@given(st.lists(st.lists(st.lists(st.integers(0, 9), min_size=3, max_size=3), min_size=4,
                         max_size=4), min_size=1, max_size=4))  # fmt: skip
def test_what_models_add_sums_up_to_their_union(lists):
    found = {str(number): np.array(rows) for number, rows in enumerate(lists)}
    rows, whole = additions(dict.fromkeys(found, 3), found, n_queries=4)
    union = sum(len({i for rows in lists for i in rows[query]}) for query in range(4))
    assert sum(row.pairs for row in rows) == pytest.approx(union)
    assert whole.pairs == pytest.approx(union)


def done(job: Job) -> Job:
    probe(str(job.uid))
    job.refresh_from_db()
    return job


RULES = [CandidateRule(), CandidateRule(same=("colour",))]


@pytest.mark.django_db
@pytest.mark.parametrize("rule", RULES, ids=["all", "same colour"])
def test_a_probe_of_all_queries_counts_the_pool_that_comes(request_of, admin, rule):
    catalog = catalog_of_photos(20)
    filled(create_pool(request=request_of(catalog=catalog), created_by=None))  # makes the vectors
    request = request_of(catalog=catalog, name="Next", k=4, rule=QueryRule(n=9), candidates=rule)
    job = done(start_probe(request=request, query_ids=choose_queries(request), owner=admin))
    assert job.state == "succeeded", job.error
    pool = filled(create_pool(request=request, created_by=None))
    assert job.result["whole"]["pairs"] == pytest.approx(pool.stats["pairs"])
    assert job.result["whole"]["is_measured"]
    assert job.result["rows"][0]["pairs"] == 9 * 4


@pytest.mark.django_db
def test_a_sample_is_drawn_and_models_without_vectors_are_estimates(request_of, admin, monkeypatch):
    monkeypatch.setattr(services, "N_PROBED", 5)
    catalog = catalog_of_photos(20)
    filled(create_pool(request=request_of(catalog=catalog), created_by=None))
    request = request_of(
        catalog=catalog, name="Next", specs=[UNKNOWN, *MODELS], rule=QueryRule(n=15)
    )
    job = done(start_probe(request=request, query_ids=choose_queries(request), owner=admin))
    assert job.result["n_probed"] == 5
    *measured, unknown = job.result["rows"]
    assert [row["spec"] for row in measured] == MODELS
    assert unknown["spec"] == UNKNOWN
    assert not unknown["is_measured"]
    assert 0 <= unknown["low"] <= unknown["pairs"] <= unknown["high"] <= 15 * 3


@pytest.mark.django_db
def test_a_second_probe_calls_the_first_off(request_of, admin):
    request = request_of()
    first, second = (
        start_probe(request=request, query_ids=choose_queries(request), owner=admin)
        for _ in range(2)
    )
    first.refresh_from_db()
    assert (first.state, second.state) == ("cancelled", "queued")


FORM = {
    "k": "3", "how": "sample", "n_queries": "6", "seed": "0", "exclude_same_product": "on",
    "models": "\n".join(MODELS), "seconds": "36", "n_judges": "2", "hourly": "50",
}  # fmt: skip


@pytest.mark.django_db
def test_the_form_starts_a_probe_and_shows_pairs_hours_and_cost(request_of, client: Client, admin):
    catalog = catalog_of_photos(20)
    filled(create_pool(request=request_of(catalog=catalog), created_by=None))
    client.force_login(admin)
    answer = client.post("/pools/new/probe/", {**FORM, "catalog": catalog.pk})
    job = Job.objects.get(task="pooling.probe")
    assert f"/pools/new/probe/{job.uid}/" in answer.content.decode()
    done(job)
    page = client.get(f"/pools/new/probe/{job.uid}/", FORM).content.decode()
    n_pairs = round(job.result["whole"]["pairs"])
    assert f"<strong>{n_pairs}</strong>" in page
    assert f"<strong>{n_pairs * 36 / 3600 * 2:.1f}</strong>" in page
    assert f"<strong>{n_pairs * 36 / 3600 * 2 * 50:.0f}</strong>" in page
    assert Pool.objects.count() == 1  # nothing is made of it
    for stranger in ("rosa", "anna"):
        assert not Job.objects.filter(owner__username=stranger).exists()


@pytest.mark.django_db
def test_a_form_that_says_too_little_is_answered_with_what_is_missing(client: Client, admin):
    client.force_login(admin)
    page = client.post("/pools/new/probe/", FORM).content.decode()
    assert "Catalog: This field is required." in page
    assert not Job.objects.exists()


@pytest.mark.django_db
def test_only_admins_may_probe(client: Client, researcher, annotators):
    for person in (researcher, annotators[0]):
        client.force_login(person)
        assert client.post("/pools/new/probe/", FORM).status_code == 403
