"""Areas on drawn negatives: the columns "Neg" of the VSD paper on a campaign's board."""

from __future__ import annotations

import numpy as np
import pytest
from django.test import Client
from sklearn.metrics import average_precision_score, roc_auc_score

from annotation.models import Judgement, Question
from evaluation.results.assessment import Assessment, assess
from evaluation.results.inputs import EvaluationInputs, models_on, read_inputs
from evaluation.results.negatives import BAND, DrawnNegatives, draw_at_evaluation
from evaluation.results.services import store_result
from evaluation.results.stored import StoredResult
from evaluation.runs.ranking_task import labelled_task
from lookalike.core.products import is_own_product
from lookalike.metrics.measures import BAND_AREAS, NEGATIVE_AREAS, RANDOM_AREAS
from tests.worlds import World, build_wild_world, judge_world

N_IMAGES = 400  # of 134 products, each of which a list counts once


@pytest.fixture
def world(db) -> World:
    """A judged pool over a catalog that is long enough for a band of ranks 100 to 500."""
    return judge_world(build_wild_world(n_images=N_IMAGES))


def _drawn(world: World, seed: int = 0) -> tuple[EvaluationInputs, DrawnNegatives]:
    inputs = read_inputs(world.campaign)
    return inputs, draw_at_evaluation(inputs, models_on(world.pool, inputs.sources), seed=seed)


def _assessed(world: World) -> Assessment:
    return assess(world.campaign, n_bootstraps=20)


def test_the_board_has_all_eight_areas_on_drawn_negatives_of_every_model(world):
    for model in _assessed(world).summary.models:
        assert set(NEGATIVE_AREAS) <= set(model.measures)
        assert all(model.value(name) is not None for name in NEGATIVE_AREAS)


@pytest.mark.parametrize("kind", ["uniform", "band"])
def test_areas_equal_those_of_scikit_learn_on_the_stored_vectors(world, kind):
    inputs, drawn = _drawn(world)
    pairs = [(q, c, 1) for q, c, label in inputs.qrels if label]
    pairs += [(q, c, 0) for q, c in drawn.by_kind[kind].pairs]
    ending = "random" if kind == "uniform" else "band"
    row_of = {image.sha256: row for row, image in enumerate(world.images)}
    for model in _assessed(world).summary.models:
        vectors = world.vectors[model.name].astype(np.float32)
        unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        scores = np.array([float(unit[row_of[q]] @ unit[row_of[c]]) for q, c, _ in pairs])
        labels = np.array([label for *_, label in pairs])
        queries = np.array([q for q, *_ in pairs])
        for area, measure in (("roc_auc", roc_auc_score), ("pr_auc", average_precision_score)):
            of_queries = [
                measure(labels[queries == q], scores[queries == q])
                for q in sorted(set(queries))
                if 0 < labels[queries == q].mean() < 1
            ]
            found = model.value(f"macro_{area}_{ending}"), model.value(f"micro_{area}_{ending}")
            assert found[0] == pytest.approx(np.mean(of_queries), abs=1e-6)
            assert found[1] == pytest.approx(measure(labels, scores), abs=1e-6)


def test_what_is_drawn_was_neither_asked_nor_proposed_nor_is_of_the_querys_product(world):
    inputs, drawn = _drawn(world)
    asked = {(q, c) for q, c, _ in inputs.asked}
    n_positive = {q: sum(row.values()) for q, row in inputs.qrels.by_query().items()}
    for one in drawn.by_kind.values():
        assert asked.isdisjoint(one.pairs)
        assert not any(is_own_product(inputs.products, q, c) for q, c in one.pairs)
        assert all(q != c for q, c in one.pairs)
        assert {q: sum(q == of for of, _ in one.pairs) for q in n_positive} == n_positive


def test_a_band_holds_ranks_100_to_500_of_the_models_that_built_the_pool(world):
    inputs, drawn = _drawn(world)
    ranks = []
    task = labelled_task(inputs)
    for model in models_on(world.pool, inputs.sources):
        lists = task.run_of(model, depth=N_IMAGES).by_query()
        order = {q: sorted(row, key=lambda c: -row[c]) for q, row in lists.items()}
        ranks.append([order[q].index(c) + 1 for q, c in drawn.by_kind["band"].pairs])
    assert (np.max(ranks, axis=0) >= BAND[0]).all()


def test_a_draw_leaves_no_trace_among_judgements(world):
    before = Question.objects.count(), Judgement.objects.count()
    n_pairs = len(read_inputs(world.campaign).qrels)
    _assessed(world)
    assert (Question.objects.count(), Judgement.objects.count()) == before
    assert len(read_inputs(world.campaign).qrels) == n_pairs


def test_seed_and_hash_of_each_list_are_stored_and_draw_it_again(world):
    found = _assessed(world)
    _, again = _drawn(world)
    assert {one.kind: one.sha256 for one in found.summary.negatives} == {
        kind: one.sha256 for kind, one in again.by_kind.items()
    }
    assert found.inputs["uniform negatives"] == again.by_kind["uniform"].sha256
    _, other = _drawn(world, seed=1)
    assert other.by_kind["uniform"].sha256 != again.by_kind["uniform"].sha256


def test_a_catalog_without_a_hundred_pictures_has_no_band(db):
    found = _assessed(judge_world(build_wild_world()))
    assert [one.kind for one in found.summary.negatives] == ["uniform"]
    for model in found.summary.models:
        assert set(NEGATIVE_AREAS) & set(model.measures) == set(RANDOM_AREAS)


def test_page_bias_report_and_api_show_the_areas_and_what_was_drawn(world, researcher):
    result = store_result(campaign=world.campaign, assessment=_assessed(world), job=None)
    stored = StoredResult(result)
    assert stored.report is not None
    rows = {row.name: row for row in stored.report.model_rows}
    client = Client()
    client.force_login(researcher)
    for page in ("", "bias/"):
        shown = client.get(f"/results/{world.campaign.slug}/{page}")
        table = shown.context["negatives_table"]
        assert [column.name for column in table.columns] == list(NEGATIVE_AREAS)
        groups = [len(columns) for _, columns in shown.context["negatives_groups"]]
        assert groups == [len(RANDOM_AREAS), len(BAND_AREAS)]
        assert stored.summary.negatives[0].sha256[:12] in shown.text
    for model in stored.summary.models:
        of_report = rows[model.name].random_negative_auc
        assert of_report is not None
        assert of_report.value == pytest.approx(model.value("macro_roc_auc_random"))
