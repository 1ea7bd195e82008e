"""Who is leaving a page whose job ends is not called back to it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from celery import current_app
from playwright.sync_api import Page, Route, expect

from accounts.models import Role, User
from jobs.models import Job, JobState
from lookalike.pooling.query_rule import QueryRule
from pooling.new_pool.requests import PoolRequest
from pooling.pools.services import create_pool, start_pool
from tests.catalogs import MODELS, catalog_of_paints

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_pool_that_fills_meanwhile_calls_nobody_back(
    open_page: Callable[..., Page], make_person: Callable[..., User]
) -> None:
    request = PoolRequest(
        name="Alike", catalog=catalog_of_paints(), specs=MODELS, k=3, rule=QueryRule(n=3)
    )
    chief = make_person("chief", Role.ADMIN)
    start_pool(pool=create_pool(request=request, created_by=chief), owner=chief)
    page = open_page(chief)
    page.goto("/pools/alike/")
    slow: list[Route] = []

    def hold(route: Route) -> None:
        slow.append(route)

    page.route("**/results/", hold)  # the page that is gone to takes its time
    page.get_by_role("link", name="Results").click(no_wait_after=True)
    with page.expect_response(lambda answer: answer.status == 286):
        for job in Job.objects.filter(state=JobState.QUEUED).order_by("id"):
            current_app.tasks[job.task](str(job.uid))
    page.wait_for_timeout(1_500)
    for route in slow:
        route.continue_()
    expect(page.get_by_role("heading", name="Results", level=1)).to_be_visible()
    page.go_back()  # where the pool stands as it is now, with its figures
    expect(page.get_by_role("link", name="Figures")).to_be_visible()
