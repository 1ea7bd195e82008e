"""Sources without vectors take part in the analysis of the pool and are not scored."""

from __future__ import annotations

import pytest

from evaluation.results.assessment import assess
from lookalike.core.dataclass_json import as_json
from pooling.models import PoolSource
from tests.worlds import SPECS, World

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("spec", ["ranking:ours", "random:7", "plugin:shop.Colour"])
def test_a_source_without_vectors_builds_the_pool_and_has_no_scores(
    judged_world: World, spec: str
) -> None:
    PoolSource.objects.filter(pool=judged_world.pool, spec=SPECS[1]).update(
        spec=spec, embedding_set=None, query_embedding_set=None
    )
    found = assess(judged_world.campaign, n_bootstraps=0)
    assert spec not in [model["name"] for model in found.summary.as_json()["models"]]
    assert SPECS[0] in [model["name"] for model in found.summary.as_json()["models"]]
    assert [row["name"] for row in as_json(found.report)["generators"]] == [SPECS[0], spec]
