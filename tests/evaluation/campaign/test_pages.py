"""The pages of a result: who sees them, what stands on them, what happens to wrong addresses."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from accounts.models import Role, User
from annotation.models import Campaign
from audit.models import Entry
from evaluation.bias_report.tables import bias_context
from evaluation.model_pages.content import paired_test
from evaluation.models import Result
from evaluation.results.assessment import assess
from evaluation.results.details import details_path
from evaluation.results.leaderboard import interval_chart, leaderboard, model_key
from evaluation.results.services import store_result
from evaluation.results.stored import StoredResult
from lookalike.bias.report import BiasReport
from lookalike.core.dataclass_json import as_json, from_json
from lookalike.stats.intervals import LEAST_QUERIES, METHOD, METHODS, WHAT_VARIES
from lookalike.stats.proportion import Interval
from lookalike.stats.significance import PairedTest
from tests.kept import kept
from tests.worlds import SPECS, World, build_world, judge_world

pytestmark = pytest.mark.django_db
OUTSIDER = "descriptor:lbp-texture"


@kept
def kept_result(campaign_id: int) -> Result:
    campaign = Campaign.objects.get(pk=campaign_id)
    found = assess(campaign, n_bootstraps=100)
    return store_result(campaign=campaign, assessment=found, job=None)


@pytest.fixture
def result(judged_world: World) -> Result:
    return kept_result(judged_world.campaign.pk)


def addresses(result: Result) -> list[str]:
    base = f"/results/{result.campaign.slug}/"
    a, b = model_key(SPECS[0]), model_key(OUTSIDER)
    return [
        base,
        f"{base}?by=vsd_hr@5",
        f"{base}models/{a}/",
        f"{base}models/{b}/?measure=AP%27",
        f"{base}compare/",
        f"{base}compare/?a={a}&b={b}&measure=macro_roc_auc",
        f"{base}compare/?a={a}&b={a}",
        f"{base}bias/",
        f"{base}runs/",
    ]


def test_files_of_labels_are_offered_once_there_is_a_label(client: Client) -> None:
    client.force_login(User.objects.create_user("rea", role=Role.RESEARCHER))
    world = build_world()
    address = f"/results/{world.campaign.slug}/"
    page = client.get(address).content.decode()
    assert "No pair has a label yet" in page
    assert f"{address}labels/" not in page
    assert (
        f"{address}labels/csv/"
        in client.get(f"/results/{judge_world(world).campaign.slug}/").content.decode()
    )


@pytest.mark.parametrize("role", list(Role))
def test_readers_see_every_page_and_annotators_none(
    result: Result, client: Client, role: Role
) -> None:
    for address in addresses(result):
        assert client.get(address).status_code == 302
    client.force_login(User.objects.create_user("somebody", role=role))
    for address in addresses(result):
        expected = 403 if role == Role.ANNOTATOR else 200
        assert client.get(address).status_code == expected, address


def test_wrong_addresses_and_campaigns_without_result_are_not_found(
    result: Result, client: Client, researcher: User
) -> None:
    client.force_login(researcher)
    base = f"/results/{result.campaign.slug}/"
    for address in (f"{base}models/000000000000/", f"{base}compare/?a=x&b=y", "/results/no/bias/"):
        assert client.get(address).status_code == 404
    Result.objects.all().delete()
    for address in (f"{base}models/{model_key(SPECS[0])}/", f"{base}compare/", f"{base}bias/"):
        assert client.get(address).status_code == 404
    assert client.get(f"{base}runs/").status_code == 200


def test_two_models_are_compared_in_numbers_of_queries_either_way_round(
    result: Result, client: Client, researcher: User
) -> None:
    client.force_login(researcher)
    values = result.by_query["values"]["macro_roc_auc"]
    pairs = [
        (a, b)
        for a, b in zip(values[SPECS[0]], values[OUTSIDER], strict=True)
        if None not in (a, b)
    ]
    n_won, n_lost = sum(a > b for a, b in pairs), sum(a < b for a, b in pairs)
    a, b = model_key(SPECS[0]), model_key(OUTSIDER)
    for first, second, won, lost in ((a, b, n_won, n_lost), (b, a, n_lost, n_won)):
        address = f"/results/{result.campaign.slug}/compare/"
        reply = client.get(address, {"a": first, "b": second, "measure": "macro_roc_auc"})
        page = reply.content.decode()
        assert f"does better on {won} of {len(pairs)} queries" in page
        assert f"on {lost}, and they are equal on {len(pairs) - won - lost}." in page
        assert f"?a={second}&amp;b={first}&amp;measure=macro_roc_auc" in page


def test_the_bias_page_says_what_other_judges_would_change(
    result: Result, client: Client, researcher: User
) -> None:
    client.force_login(researcher)
    address = f"/results/{result.campaign.slug}/bias/"
    page = client.get(address).content.decode()
    assert "Had others judged" in page
    accuracy = result.bias["judges"]["accuracy"]
    assert f"a chance of {100 * accuracy:.1f} % if all judges err alike" in page
    del result.bias["judges"]  # as results were stored before
    result.save()
    assert "What other judges would change is not told" in client.get(address).content.decode()


def test_the_leaderboard_is_sorted_by_what_all_may_be_compared_by(result: Result) -> None:
    board = leaderboard(StoredResult(result))
    assert board.columns[board.sorted_at].name == "equal_outsider_auc"
    for section in board.sections:
        values = [line.cells[board.sorted_at].shown for line in section.lines]
        assert values == sorted(values, key=lambda value: -(value or 0.0))
    board = leaderboard(StoredResult(result), "P@5")
    assert [column.name for column in board.columns if column.is_sorted] == ["P@5"]
    board = leaderboard(StoredResult(result), "nonsense")
    assert board.columns[board.sorted_at].name == "equal_outsider_auc"


def test_cells_carry_advice_and_no_value_or_interval_below_ten_queries(result: Result) -> None:
    board = leaderboard(StoredResult(result))
    assert board.has_few_queries
    for line in board.lines:
        for name, cell in zip(board.columns, line.cells, strict=True):
            assert cell.comparable_with in {"pooled models", "outsiders", "all models", "nobody"}
            assert cell.n_queries is not None
            assert cell.n_queries < LEAST_QUERIES
            assert (cell.low, cell.high) == (None, None)
            assert (cell.shown, cell.letters, cell.is_best) == (None, "", False), name


def test_what_may_not_be_compared_is_neither_ranked_nor_compared_without_a_word(
    result: Result, client: Client, researcher: User
) -> None:
    for row in result.bias["model_rows"]:  # all that the pool proposed, which is 4 deep, is judged
        for cutoff in row["cutoffs"]:
            cutoff["judged"] = 1.0
        if row["badge"] == "pooled":
            row["advice"][0]["comparable_with"] = "pooled models"
    result.save()
    board = leaderboard(StoredResult(result), "P@5")
    assert {line.cells[board.sorted_at].comparable_with for line in board.lines} == {"nobody"}
    client.force_login(researcher)
    asked = {"a": model_key(SPECS[0]), "b": model_key(SPECS[1])}
    address = f"/results/{result.campaign.slug}/compare/"
    page = client.get(address, {**asked, "measure": "P@5"}).content.decode()
    assert "By P@5 these two may not be compared." in page
    assert f"{SPECS[0]} (pooled) is to be compared with nobody: the pool is 4 deep" in page
    assert "The pool alone can make a difference like that." in page
    page = client.get(address, {**asked, "measure": "macro_roc_auc"}).content.decode()
    assert "may not be compared" not in page
    asked["b"] = model_key(OUTSIDER)
    page = client.get(address, {**asked, "measure": "macro_roc_auc"}).content.decode()
    assert f"{OUTSIDER} (outsider) is to be compared with outsiders" in page


def test_cells_carry_the_stored_interval(result: Result) -> None:
    for model in result.summary["models"]:
        model["measures"]["P@5"]["interval"] = {"low": 0.1, "high": 0.4}
    board = leaderboard(StoredResult(result), "P@5")
    at = next(place for place, column in enumerate(board.columns) if column.is_sorted)
    assert {(line.cells[at].low, line.cells[at].high) for line in board.lines} == {(0.1, 0.4)}


def test_two_models_are_compared_with_the_interval_of_their_difference(
    result: Result, client: Client, researcher: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.force_login(researcher)
    address = f"/results/{result.campaign.slug}/compare/?measure=P@5"
    assert "no interval: fewer than 10" in client.get(address).content.decode()
    first, second = (model.name for model in StoredResult(result).summary.models[:2])
    test = PairedTest(first, second, 0.2, Interval(0.05, 0.31), 0.4, 40, 0.01, 0.03, 0.02)
    monkeypatch.setattr("evaluation.model_pages.views.paired_test", lambda *_: test)
    assert "95 % interval [0.050, 0.310]" in client.get(address).content.decode()


def test_the_leaderboard_is_taken_away_as_a_file(
    result: Result, client: Client, researcher: User
) -> None:
    client.force_login(researcher)
    base = f"/results/{result.campaign.slug}/leaderboard."
    for ending, first in (("csv", "model,part_in_pool,"), ("md", "| Model |"), ("tex", "\\begin")):
        sent = client.get(f"{base}{ending}?by=P@5")
        assert sent.content.decode().startswith(first)
        assert f"leaderboard.{ending}" in sent["Content-Disposition"]
    assert client.get(f"{base}exe").status_code == 404
    exports = Entry.objects.filter(action="exported", actor_name=researcher.username)
    assert [one.details["format"] for one in exports.order_by("id")] == ["csv", "md", "tex"]


def test_the_judges_stand_beside_the_models(
    result: Result, client: Client, researcher: User
) -> None:
    client.force_login(researcher)
    human = StoredResult(result).summary.human
    assert human is not None
    page = client.get(f"/results/{result.campaign.slug}/").content.decode()
    assert "each against the majority of the others" in page
    assert f"of {human.n_answers} answers agree" in page


def test_the_chart_says_how_its_intervals_were_made(
    result: Result, client: Client, researcher: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert interval_chart(leaderboard(StoredResult(result)), METHOD) is None  # too few queries
    monkeypatch.setattr("lookalike.metrics.leaderboard.LEAST_QUERIES", 1)
    client.force_login(researcher)
    address = f"/results/{result.campaign.slug}/"
    page = client.get(address).content.decode()
    assert METHODS[METHOD] in page
    assert WHAT_VARIES in page
    del result.settings["intervals"]  # stored by a version that had percentiles only
    result.save()
    assert METHODS["percentile"] in client.get(address).content.decode()


def test_a_result_is_read_back_as_it_was_stored(judged_world: World) -> None:
    assessment = assess(judged_world.campaign, n_bootstraps=20)
    row = store_result(campaign=judged_world.campaign, assessment=assessment, job=None)
    row.refresh_from_db()
    stored = StoredResult(row)
    assert as_json(stored.summary) == row.summary == as_json(assessment.summary)
    assert as_json(stored.report) == row.bias == as_json(assessment.report)
    assert as_json(stored.by_query) == row.by_query == as_json(assessment.by_query)


def test_a_result_stored_by_an_earlier_version_still_has_its_pages(
    result: Result, client: Client, researcher: User
) -> None:
    for name in ("agreement", "is_simulated", "left_out", "tests"):
        del result.summary[name]
    for model in result.summary["models"]:
        del model["has_list"]
    result.summary["sample"] = None
    result.save()
    client.force_login(researcher)
    for address in addresses(result):
        assert client.get(address).status_code == 200, address


def test_a_campaign_judged_without_a_pool_has_no_bias_page(
    result: Result, client: Client, researcher: User
) -> None:
    Result.objects.filter(pk=result.pk).update(bias={})
    client.force_login(researcher)
    base = f"/results/{result.campaign.slug}/"
    assert client.get(f"{base}bias/").status_code == 404
    text = client.get(base).content.decode()
    assert "Bias of the pool" not in text
    assert "Equal-outsider" not in text


def test_the_model_page_shows_curves_pictures_and_unique_finds(
    result: Result, client: Client, researcher: User
) -> None:
    client.force_login(researcher)
    text = client.get(
        f"/results/{result.campaign.slug}/models/{model_key(SPECS[0])}/"
    ).content.decode()
    for words in ("ROC curve", "Precision and recall", "Worst queries", "What only this model"):
        assert words in text
    shown = set(re.findall(r"/images/([0-9a-f-]{36})/thumb", text))
    assert len(shown) > 5


def test_lost_scores_leave_the_numbers_and_say_what_to_do(
    result: Result, client: Client, researcher: User
) -> None:
    details_path(result.details_sha256).unlink()
    client.force_login(researcher)
    base = f"/results/{result.campaign.slug}/"
    for address in (f"{base}models/{model_key(SPECS[0])}/", f"{base}compare/"):
        reply = client.get(address)
        assert reply.status_code == 200
        assert "evaluate again" in reply.content.decode()


def test_a_paired_test_reads_the_same_from_both_sides(result: Result) -> None:
    for of_measure in result.summary["tests"]:
        for test in of_measure["tests"]:
            test["interval"] = {"low": -0.1, "high": 0.3}
    there = paired_test(StoredResult(result), "vsd_hr@5", SPECS[0], OUTSIDER)
    back = paired_test(StoredResult(result), "vsd_hr@5", OUTSIDER, SPECS[0])
    assert there is not None
    assert back is not None
    assert back.difference == -there.difference
    assert there.interval.is_defined
    assert back.interval == Interval(-there.interval.high, -there.interval.low)
    assert back.p_holm == pytest.approx(there.p_holm, nan_ok=True)
    assert paired_test(StoredResult(result), "Success@1", SPECS[0], OUTSIDER) is None


def test_names_are_escaped_wherever_they_stand(
    result: Result, client: Client, researcher: User
) -> None:
    hostile = "</script><script>alert(1)</script>"
    for model in result.summary["models"]:
        if model["name"] == OUTSIDER:
            model["name"] = hostile
    for values in result.by_query["values"].values():
        values[hostile] = values.pop(OUTSIDER)
    for row in result.bias["model_rows"]:
        row["name"] = hostile if row["name"] == OUTSIDER else row["name"]
    result.save()
    Campaign.objects.filter(pk=result.campaign.pk).update(name=hostile)
    client.force_login(researcher)
    base = f"/results/{result.campaign.slug}/"
    for address in (base, f"{base}models/{model_key(hostile)}/", f"{base}compare/", f"{base}bias/"):
        text = client.get(address).content.decode()
        assert "alert(1)" in text
        assert "<script>alert" not in text


def test_the_bias_page_has_every_part_of_the_report(
    result: Result, client: Client, researcher: User
) -> None:
    context = bias_context(from_json(BiasReport, result.bias))
    keys = [
        chart.key for chart in (*context["self_deltas"], *context["depths"], *context["panels"])
    ]
    assert keys == ["self-uniques", "self-contributions", "self-family", "depth-order",
                    "depth-yield", "panel-flips", "panel-order"]  # fmt: skip
    assert len(context["paper"][0].rows) == len(SPECS)
    assert len(context["panels"][0].rows) == 7
    client.force_login(researcher)
    text = client.get(f"/results/{result.campaign.slug}/bias/").content.decode()
    for words in ("In plain words", "Overlap of the models", "Chao", "paper’s table", "colour"):
        assert words in text
    for finding in result.bias["findings"]:
        assert finding.split(".")[0][:40] in text
