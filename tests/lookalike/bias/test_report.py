"""The whole report: complete, repeatable, independent of input order, storable, readable."""

import dataclasses
import json
import re

import numpy as np
import pytest

from lookalike.bias.evidence.pool import Lists
from lookalike.bias.report import BiasReport, BiasSettings, bias_report
from lookalike.bias.words.text import as_text
from lookalike.bias.words.titles import measure_title
from lookalike.core.dataclass_json import as_json, from_json
from tests.lookalike.bias.cases import g5, random_pool, rich_pool

QUICK = BiasSettings(n_bootstraps=60, n_permutations=200, ks=(2, 4))


def report_of(pool, seed=0, settings=QUICK):
    return bias_report(pool, np.random.default_rng(seed), settings)


@pytest.fixture(scope="module")
def rich():
    return report_of(rich_pool())


def test_the_report_has_every_part(rich):
    found = as_json(rich)
    for field in dataclasses.fields(BiasReport):
        assert found[field.name] not in ([], {}, None), field.name
    kinds = [entry["kind"] for entry in found["leave_out"]]
    assert kinds == ["uniques"] * 3 + ["contributions"] * 3 + ["family"] * 2
    assert [t["measure"] for t in found["tests"]] == [
        "macro_auc",
        "macro_ap",
        "p@2",
        "p@4",
        "equal_outsider_auc",
    ]
    assert len(found["tests"][0]["tests"]) == 10
    assert set(found["paper"]) == {"uniques", "contributions"}


def test_models_that_agree_everywhere_differ_by_an_interval_at_the_first_place_alone():
    pool = random_pool(0, n_models=3)
    pool.scores[1] = pool.scores[0]
    pool.lists.ranks[1] = pool.lists.ranks[0]
    report = report_of(pool, settings=dataclasses.replace(QUICK, ks=(1, 2)))
    twins = {t.measure: t.tests[0].interval.is_defined for t in report.tests}
    assert twins["p@1"]
    assert not any(twins[name] for name in ("p@2", "macro_auc", "macro_ap"))


def test_it_is_json_without_nan(rich):
    text = json.dumps(as_json(rich), allow_nan=False)
    assert json.loads(text)["pool"]["n_queries"] == 25
    assert as_json({"a": (float("nan"), float("inf"), 1, "x", True, None)}) == {
        "a": [None, None, 1, "x", True, None]
    }


def test_the_seed_decides_every_random_number(rich):
    again = report_of(rich_pool())
    assert as_json(again) == as_json(rich)
    other = report_of(rich_pool(), seed=1)
    assert as_json(other) != as_json(rich)
    assert as_json(other)["pool"] == as_json(rich)["pool"]


def test_the_order_of_the_pairs_changes_nothing():
    pool = random_pool(8)
    mixed = np.random.default_rng(0).permutation(pool.n_pairs)
    shuffled = dataclasses.replace(
        pool,
        queries=pool.queries[mixed],
        candidates=pool.candidates[mixed],
        labels=pool.labels[mixed],
        ranks=pool.ranks[:, mixed],
        scores=pool.scores[:, mixed],
        lists=Lists(pool.lists.ranks[:, mixed], pool.lists.lengths),
    )
    first, second = as_json(report_of(pool)), as_json(report_of(shuffled))
    assert first.keys() == second.keys()
    for name in first:
        assert_close(first[name], second[name], name)


def assert_close(a, b, path):
    """Compare nested values: the pairs are summed in another order."""
    assert type(a) is type(b), path
    if isinstance(a, dict):
        assert a.keys() == b.keys(), path
        for key in a:
            assert_close(a[key], b[key], f"{path}.{key}")
    elif isinstance(a, list):
        assert len(a) == len(b), path
        for i, (x, y) in enumerate(zip(a, b, strict=True)):
            assert_close(x, y, f"{path}[{i}]")
    elif isinstance(a, float):
        assert a == pytest.approx(b, abs=1e-9), path
    else:
        assert a == b, path


def test_any_rising_change_of_scores_leaves_all_but_nothing_changed():
    pool = random_pool(9)
    bent = dataclasses.replace(pool, scores=np.exp(pool.scores / 3) - 2)
    assert_close(as_json(report_of(pool)), as_json(report_of(bent)), "report")


def test_default_cut_offs_include_the_depth_of_the_pool():
    report = report_of(g5(), settings=BiasSettings(n_bootstraps=0, n_permutations=10))
    assert report.settings.ks == (2, 5, 10, 20)
    assert np.isnan(report.model_rows[0].macro_auc.interval.low)


def test_text_names_every_model_part_and_finding(rich):
    text = as_text(rich)
    for name in (*rich.models, "colour", "Fewer annotators", "equal-outsider", "Chao", "tau_AP"):
        assert name in text
    for finding in rich.findings:
        assert finding in text
    assert "nan" not in text.lower()


def test_text_says_what_is_true_of_several_models_once():
    text = as_text(report_of(random_pool(0)))
    assert text.count("m0, m1, m2 (pooled)") == text.count("m3, m4 (outsider)") == 1
    assert text.count("annotated AUC and AP: compare with outsiders") == 1
    assert "added to each" in text


def test_text_of_a_bare_pool_has_dashes_for_what_is_undefined():
    bare = dataclasses.replace(g5(), lists=None, n_catalogue_pairs=None, labels=np.ones(10))
    text = as_text(report_of(bare))
    assert "Fewer annotators" not in text
    assert " - " in text
    assert "nan" not in text.lower()


def test_findings_say_what_a_reader_must_know(rich):
    text = " ".join(rich.findings)
    assert "3 of 5 models built the pool" in text
    assert "2 proposed pairs have no label yet" in text
    assert "7 judged pairs were" in text
    assert "Some pooled models are related" in text
    assert "Only 3 models built the pool" in text
    bare = report_of(dataclasses.replace(g5(), lists=None, labels=np.ones(10)))
    text = " ".join(bare.findings)
    assert "score judged pairs only" in text
    assert "defined on 0 of 2 queries" in text


def test_the_first_finding_names_only_columns_that_the_advice_on_each_model_allows(rich):
    judged = report_of(random_pool(0)).findings[0]
    assert "Compare P@k, Success@k and MRR@k among those only, up to the pool's depth" in judged
    assert judged.endswith("all of them by the equal-outsider AUC.")
    beyond = report_of(random_pool(0), settings=dataclasses.replace(QUICK, ks=(5,)))
    assert {row.advice[0].comparable_with for row in beyond.model_rows} == {"nobody"}
    assert "P@k, Success@k and MRR@k may be compared with nobody's" in beyond.findings[0]
    assert {row.advice[2].comparable_with for row in rich.model_rows} != {"all models"}
    assert rich.model_rows[0].random_negative_auc is not None
    assert "all of them by the family-matched AUC or the AUC on random" in rich.findings[0]


CLAIMS = ("Models from outside lose: ", "Building the pool costs a model: ")


def test_findings_tell_who_is_punished():
    report = report_of(random_pool(0, n_queries=80))
    claims = [text for text in report.findings if text.startswith(CLAIMS)]
    assert [text.partition(": ")[0] + ": " for text in claims] == list(CLAIMS)
    lose, costs = claims
    assert "less by P@2" in lose
    assert "more by macro ROC-AUC" in costs
    assert costs.endswith("So do AP′, mean over queries, AP′ over all pairs, micro ROC-AUC.")
    for text in claims:
        assert re.search(r"\(95 % interval \S+ to \S+, \d+ queries; place \d+ instead", text)
    deltas = [d for e in report.leave_out if e.kind == "uniques" for d in e.self_deltas]
    named = [d for d in deltas if d.measure == "macro_auc" and f"{d.delta.value:.3f} more" in costs]
    assert any(d.model in costs for d in named)


def test_no_finding_claims_what_its_interval_does_not_tell_from_zero():
    """Small pools whose self-deltas are mostly noise, and one of fewer than ten queries."""
    n_claims = 0
    for seed in range(6):
        report = report_of(random_pool(seed, n_queries=12), settings=QUICK)
        deltas = [d for e in report.leave_out if e.kind == "uniques" for d in e.self_deltas]
        for text in (text for text in report.findings if text.startswith(CLAIMS)):
            n_claims += 1
            claimed = [
                d
                for d in deltas
                if f" by {measure_title(d.measure)} (" in text
                and f"proposed, {d.model} would" in text
            ]
            assert any(d.delta.interval.low > 0 or d.delta.interval.high < 0 for d in claimed)
            assert any(f"{d.n_queries} queries;" in text for d in claimed)
            assert "95 % interval" in text
    assert n_claims
    few = report_of(random_pool(0, n_queries=8))
    assert not any(text.startswith(CLAIMS) for text in few.findings)
    assert all(np.isnan(row.macro_auc.interval.low) for row in few.model_rows)


def test_micro_ap_has_an_interval_and_its_self_delta_too(rich):
    for row in rich.model_rows:
        assert row.micro_ap_interval.low < row.micro_ap < row.micro_ap_interval.high
    deltas = [d for d in rich.leave_out[0].self_deltas if d.measure == "micro_ap"]
    assert not np.isnan(deltas[0].delta.interval.low)


def test_a_stored_report_keeps_the_intervals_it_was_made_with(rich):
    stored = as_json(rich)
    del stored["intervals"]  # of a version that had percentile intervals only
    for row in stored["model_rows"]:
        del row["micro_ap_interval"]
    old = from_json(BiasReport, json.loads(json.dumps(stored)))
    assert (old.intervals, rich.intervals) == ("percentile", "clustered")
    assert "percentile bootstrap" in as_text(old)
    assert "percentile bootstrap" not in as_text(rich)
    assert old.model_rows[0].macro_auc.interval == rich.model_rows[0].macro_auc.interval


def test_findings_name_one_cut_off_of_a_measure_only():
    found = report_of(random_pool(0)).findings
    assert sum(text.count("P@") for text in found if text.startswith(CLAIMS)) == 1


@pytest.mark.parametrize("n_models", [1, 2, 9])
@pytest.mark.parametrize("n_generators", [1, 2])
@pytest.mark.parametrize("labels", ["mixed", "all positive", "all negative", "one pair"])
def test_no_pool_is_too_odd_for_a_report(n_models, n_generators, labels):
    pool = random_pool(1, n_models=max(n_models, 3), depth=2, n_queries=4, n_images=6)
    kept = (pool.ranks[:n_generators] > 0).any(axis=0)
    if labels == "one pair":
        kept &= np.cumsum(kept) == 1
    values = {"all positive": np.ones(pool.n_pairs), "all negative": np.zeros(pool.n_pairs)}
    odd = dataclasses.replace(
        pool,
        queries=pool.queries[kept],
        candidates=pool.candidates[kept],
        labels=values.get(labels, pool.labels)[kept],
        generators=pool.generators[:n_generators],
        ranks=pool.ranks[:n_generators, kept],
        models=pool.models[-n_models:],
        scores=pool.scores[-n_models:, kept],
        lists=Lists(pool.lists.ranks[-n_models:, kept], pool.lists.lengths[-n_models:]),
    )
    report = report_of(odd, settings=BiasSettings(n_bootstraps=5, n_permutations=20))
    assert "nan" not in as_text(report)
    json.dumps(as_json(report), allow_nan=False)
