"""What the pages show beyond numbers: stored scores, heads of lists, intervals, groups."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from evaluation.results.assessment import assess
from evaluation.results.details import Details, details_path, load_details, store_details
from lookalike.core.unit_vectors import unit_rows
from lookalike.io.errors import InputError
from lookalike.metrics.uncertainty import significance_letters
from tests.worlds import World

pytestmark = pytest.mark.django_db


def details_of(world: World) -> Details:
    found = assess(world.campaign, n_bootstraps=0).details
    assert found is not None
    return found


def test_the_stored_scores_give_the_micro_auc_of_the_summary(judged_world: World) -> None:
    found = assess(judged_world.campaign, n_bootstraps=0)
    assert found.details is not None
    details = load_details(store_details(found.details))
    for model in found.summary.as_json()["models"]:
        scores = details.scores[details.place(model["name"])]
        auc = roc_auc_score(details.labels, scores)
        assert auc == pytest.approx(model["measures"]["micro_roc_auc"]["value"], abs=1e-9)


def test_heads_are_the_nearest_images_of_other_products(judged_world: World) -> None:
    details = details_of(judged_world)
    images = judged_world.images
    row_of = {image.pk: row for row, image in enumerate(images)}
    for m, name in enumerate(details.models.tolist()):
        unit = unit_rows(judged_world.vectors[name])
        for q, query in enumerate(details.query_ids.tolist()):
            own = images[row_of[query]].product_id
            others = [i.pk for i in images if i.product_id != own]
            others.sort(key=lambda pk: -float(unit[row_of[query]] @ unit[row_of[pk]]))
            assert details.heads[m, q].tolist() == others[: details.heads.shape[2]]


def test_unique_positives_were_proposed_by_that_model_alone(judged_world: World) -> None:
    found = assess(judged_world.campaign, n_bootstraps=0)
    assert found.report is not None
    assert found.details is not None
    expected = {row.name: row.n_unique_positive for row in found.report.generators}
    assert sum(expected.values()) > 0
    for name, n in expected.items():
        assert found.details.unique_positives(name).size == n
    assert found.details.unique_positives("descriptor:lbp-texture").size == 0


def test_a_lost_file_is_named_with_what_to_do(judged_world: World) -> None:
    sha256 = store_details(details_of(judged_world))
    details_path(sha256).unlink()
    with pytest.raises(InputError, match="evaluate again"):
        load_details(sha256)


@pytest.mark.parametrize(
    "damage",
    [
        lambda whole: b"",
        lambda whole: b"\0" * 100,
        lambda whole: whole[: len(whole) // 2],
        lambda whole: whole[:200] + bytes([whole[200] ^ 1]) + whole[201:],
        lambda whole: whole[:-10] + bytes([whole[-10] ^ 1]) + whole[-9:],
    ],
    ids=["empty", "zeros", "cut short", "a flipped bit in an array", "a flipped bit at the end"],
)
def test_a_damaged_file_is_named_with_what_to_do(
    judged_world: World, damage: Callable[[bytes], bytes]
) -> None:
    details = details_of(judged_world)
    sha256 = store_details(details)
    path = details_path(sha256)
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(InputError, match="damaged; evaluate again"):
        load_details(sha256)
    assert store_details(details) == sha256
    assert np.array_equal(load_details(sha256).heads, details.heads)


def test_few_queries_have_no_intervals_and_tests_name_every_two_models(judged_world: World) -> None:
    found = assess(judged_world.campaign, n_bootstraps=200)
    for model in found.summary.as_json()["models"]:
        assert model["measures"]["vsd_hr@5"]["interval"]["low"] is None
    for tests in found.summary.as_json()["tests"]:
        assert len(tests["tests"]) == 3
        for test in tests["tests"]:
            assert test["p"] <= test["p_holm"] <= 1.0
            a, b = (
                np.array(found.by_query.values[tests["measure"]][test[side]], float)
                for side in ("first", "second")
            )
            both = ~np.isnan(a) & ~np.isnan(b)
            assert test["difference"] == pytest.approx((a - b)[both].mean())


@pytest.mark.parametrize(
    ("differs", "letters"),
    [
        ([], {"A": "a", "B": "a", "C": "a", "D": "a"}),
        (["AC", "AD"], {"A": "a", "B": "ab", "C": "b", "D": "b"}),
        (["AC", "AD", "BD"], {"A": "a", "B": "ab", "C": "bc", "D": "c"}),
        (["AB", "AC", "AD", "BC", "BD", "CD"], {"A": "a", "B": "b", "C": "c", "D": "d"}),
        (["BA"], {"A": "a", "B": "b", "C": "ab", "D": "ab"}),
    ],
)
def test_models_share_a_letter_exactly_if_no_test_tells_them_apart(
    differs: list[str], letters: dict[str, str]
) -> None:
    pairs = {(pair[0], pair[1]): True for pair in differs}
    found = significance_letters("ABCD", pairs)
    assert found == letters
    apart = {frozenset(pair) for pair in differs}
    for a in "ABCD":
        for b in "ABCD":
            if a != b:
                assert bool(set(found[a]) & set(found[b])) == (frozenset((a, b)) not in apart)
