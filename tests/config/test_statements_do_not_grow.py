"""No page and no route asks the database more often where there is more to show."""

from __future__ import annotations

import uuid
from collections import Counter

import pytest

from benchmarks.site_at_size import Size, build_part, make_people
from benchmarks.site_visits import look
from tests.every_page import Values

SMALL = Size(
    n_images=60, n_queries=6, n_shown=8, n_judges=3, n_campaigns=3, n_releases=3, depth=4, dim=4,
    n_bootstraps=20,
)  # fmt: skip
LARGE = Size(
    n_images=180, n_queries=18, n_shown=24, n_judges=9, n_campaigns=9, n_releases=6, depth=12,
    dim=4, n_bootstraps=20,
)  # fmt: skip

Counts = dict[tuple[str, str, int], int]  # by role, route, and which of its addresses


def statements(values: Values) -> Counts:
    """How many statements a second look at each address takes."""
    found: Counts = {}
    seen: Counter[tuple[str, str]] = Counter()
    for one in look(values, 1):
        seen[one.role, one.route] += 1
        found[one.role, one.route, seen[one.role, one.route]] = len(one.again[-1].statements)
    return found


@pytest.mark.timeout(900)
def test_statements_do_not_grow_with_rows(transactional_db: None) -> None:
    judge = make_people()["annotator"]
    run = uuid.uuid4().hex[:8]  # files of releases outlive a test
    small = statements(build_part(f"small-{run}", SMALL, judge))
    large = statements(build_part(f"large-{run}", LARGE, judge))
    assert len(small) > 150
    assert small.keys() == large.keys()
    assert {key: (n, large[key]) for key, n in small.items() if large[key] > n} == {}
