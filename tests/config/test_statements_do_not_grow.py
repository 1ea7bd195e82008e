"""No page and no route asks the database more often where there is more to show."""

from __future__ import annotations

import uuid
from collections import Counter

import pytest

from accounts.models import Role, User
from benchmarks.site_at_size import Size, build_part, make_people
from benchmarks.site_visits import ask, look
from tests.every_page import Values

SMALL = Size(
    n_images=60, n_queries=14, n_shown=8, n_judges=3, n_campaigns=2, n_releases=1, depth=4, dim=4,
    n_bootstraps=20,
)  # fmt: skip
LARGE = Size(
    n_images=180, n_queries=28, n_shown=16, n_judges=6, n_campaigns=6, n_releases=2, depth=8,
    dim=4, n_bootstraps=20,
)  # fmt: skip

Counts = dict[tuple[str, int], int]  # by route, and which of its addresses


def statements(values: Values, role: str) -> Counts:
    """How many statements a second look at each address takes."""
    found: Counts = {}
    seen: Counter[str] = Counter()
    for one in look(values, 1, role, open_page=ask):
        seen[one.route] += 1
        found[one.route, seen[one.route]] = len(one.again[-1].statements)
    return found


@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    ("role", "least"),
    [
        ("admin", 100),
        pytest.param("researcher", 60, marks=pytest.mark.daily),
        pytest.param("annotator", 10, marks=pytest.mark.daily),
        pytest.param("nobody", 9, marks=pytest.mark.daily),
    ],
)
def test_statements_do_not_grow_with_rows(transactional_db: None, role: str, least: int) -> None:
    judge = make_people()["annotator"]
    User.objects.create_user("spare", role=Role.ANNOTATOR)  # on no panel, so that each offers one
    run = uuid.uuid4().hex[:8]  # files of releases outlive a test
    small = statements(build_part(f"small-{run}", SMALL, judge), role)
    large = statements(build_part(f"large-{run}", LARGE, judge), role)
    assert len(small) >= least
    assert small.keys() == large.keys()
    assert {key: (n, large[key]) for key, n in small.items() if large[key] > n} == {}
