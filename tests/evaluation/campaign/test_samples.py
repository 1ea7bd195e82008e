"""Pairs drawn below a pool: drawn fairly, judged blind, weighed right, in no leaderboard."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.test import Client
from django.urls import reverse

from accounts.models import Role, User
from annotation.models import Question, QuestionKind, QueueEntry
from annotation.queries.judges import find_judge
from annotation.queries.labels import labels
from annotation.queries.next_questions import next_questions
from annotation.services import close_campaign
from evaluation.below_pool.estimates import sample_estimates
from evaluation.below_pool.pairs import drawn_beside_pool, pooled_at_draw
from evaluation.below_pool.services import request_sample
from evaluation.exports import export_pieces
from evaluation.models import Sample, SampledPair
from evaluation.results.assessment import assess
from evaluation.runs.targets import Target
from jobs.models import Job, JobState
from lookalike.core.dataclass_json import as_json
from lookalike.io.errors import InputError
from pooling.pools.queries import pool_pairs
from tests.worlds import World, judge_world, same_colour

pytestmark = pytest.mark.django_db


def sampled(world: World, n_pairs: int = 60, aim: str = "both", seed: int = 1) -> Sample:
    """Draw by the command."""
    call_command(
        "sample_strata", world.campaign.slug, pairs=n_pairs, aim=aim, seed=seed, verbosity=0
    )
    world.campaign.refresh_from_db()
    return Sample.objects.get(campaign=world.campaign)


def below_by_hand(world: World) -> set[tuple[int, int]]:
    """Return every admissible pair outside the pool: not of the query's own product."""
    image = {one.pk: one for one in world.images}
    queries = world.pool.queries.values_list("image_id", flat=True)
    admitted = {
        (q, c) for q in queries for c in image if image[q].product_id != image[c].product_id
    }
    return admitted - set(pool_pairs(world.pool))


def test_all_of_the_rest_is_drawn_if_it_is_asked_for(open_world: World) -> None:
    sample = sampled(open_world, 1_000)
    drawn = set(sample.pairs.values_list("query_id", "candidate_id"))
    assert drawn == below_by_hand(open_world)
    assert set(sample.pairs.values_list("inclusion", flat=True)) == {1.0}
    assert sum(stratum["n_pairs"] for stratum in sample.strata) == len(drawn)
    assert sample.n_pool_pairs == len(pool_pairs(open_world.pool))


def test_a_pairs_stratum_is_the_best_rank_that_a_pooled_model_gives_it(open_world: World) -> None:
    sample = sampled(open_world, 1_000)
    row = {image.pk: n for n, image in enumerate(open_world.images)}
    stored = [open_world.vectors[spec].astype(np.float32) for spec in sample.sources]
    for pair in sample.pairs.all():
        own = open_world.images[row[pair.query_id]].product_id
        others = [image.pk for image in open_world.images if image.product_id != own]
        best = min(
            sorted(others, key=lambda c: -float(v[row[pair.query_id]] @ v[row[c]])).index(
                pair.candidate_id
            )
            for v in stored
        )
        assert sample.strata[pair.stratum]["name"] == (
            "ranks 5-20" if best < 20 else "ranks 21-100"
        )


def test_the_same_seed_draws_the_same_pairs_with_the_chances_that_are_stored(
    open_world: World,
) -> None:
    first = sampled(open_world, 40, seed=7)
    pairs = list(first.pairs.values_list("query_id", "candidate_id", "stratum", "inclusion"))
    drawn = Counter(stratum for _, _, stratum, _ in pairs)
    for place, stratum in enumerate(first.strata):
        assert stratum["n_drawn"] == drawn[place]
        chances = {chance for _, _, of, chance in pairs if of == place}
        assert chances <= {stratum["n_drawn"] / stratum["n_pairs"]}
    Sample.objects.all().delete()
    again = sampled(open_world, 40, seed=7)
    assert list(again.pairs.values_list("query_id", "candidate_id", "stratum", "inclusion")) == (
        pairs
    )


def test_no_judge_can_tell_a_sampled_pair(open_world: World) -> None:
    before = open_world.campaign.n_questions
    sample = sampled(open_world, 50)
    drawn = set(sample.pairs.values_list("query_id", "candidate_id"))
    asked = Question.objects.filter(campaign=open_world.campaign)
    assert asked.count() == before + len(drawn)
    assert set(asked.values_list("kind", flat=True)) == {QuestionKind.PAIR.value}
    judge = open_world.judges[0]
    queue = QueueEntry.objects.filter(
        member__annotator=judge, question__campaign=open_world.campaign
    )
    order = queue.order_by("place").values_list("question__query_id", "question__candidate_id")
    is_drawn = [pair in drawn for pair in order]
    assert sum(is_drawn) == len(drawn)
    halves = [sum(is_drawn[: len(is_drawn) // 2]), sum(is_drawn[len(is_drawn) // 2 :])]
    assert min(halves) > 0.2 * len(drawn)  # mixed in, not put behind the pool's own
    served = next_questions(find_judge(open_world.campaign.uid, judge.pk), after=0, n=20)
    assert len({tuple(vars(one)) for one in served}) == 1


def test_the_estimates_are_those_of_a_full_count_when_all_is_judged(open_world: World) -> None:
    sampled(open_world, 1_000)
    judge_world(open_world)
    found = assess(open_world.campaign, n_bootstraps=20).summary.as_json()["sample"]
    image = {one.pk: one for one in open_world.images}
    pool = pool_pairs(open_world.pool)
    n_pool = sum(same_colour(image[q], image[c]) for q, c in pool)
    n_below = sum(same_colour(image[q], image[c]) for q, c in below_by_hand(open_world))
    n_all = len(pool) + len(below_by_hand(open_world))
    whole = found["stratified"]
    assert whole["total"] == pytest.approx(n_pool + n_below)
    assert whole["share"] == pytest.approx((n_pool + n_below) / n_all)
    assert whole["standard_error"] == 0
    assert whole["pool_recall"] == pytest.approx(n_pool / (n_pool + n_below))
    assert found["weighted"]["share"] == pytest.approx(whole["share"])
    assert found["weighted"]["total"] == pytest.approx(whole["total"])
    assert found["n_labelled"] == found["n_drawn"]


def test_weights_by_hand(open_world: World) -> None:
    """A pool of N = 10 pairs with 6 similar; of 40 and 50 pairs below, 4 and 5 are drawn.

    Of these 2 and 1 are similar: total 6 + 40·2/4 + 50·1/5 = 36 of 100, recall 6/36.
    Variance: .4²·.9·(.5·.5)/3 + .5²·.9·(.2·.8)/4 = .012 + .009, so the error is √.021 = .144914.
    """
    queries = [image.pk for image in open_world.images[:10]]
    others = [image.pk for image in open_world.images[10:]]
    pool = {(q, others[0]) for q in queries}
    drawn = [(queries[n], others[1], 0) for n in range(4)]
    drawn += [(queries[n], others[2], 1) for n in range(5)]
    sample = Sample.objects.create(
        campaign=open_world.campaign, aim="both", seed=0, sources={}, n_pool_pairs=10,
        strata=[{"name": "upper", "n_pairs": 40, "n_drawn": 4, "expected": 0.3},
                {"name": "lower", "n_pairs": 50, "n_drawn": 5, "expected": 0.1}],
    )  # fmt: skip
    SampledPair.objects.bulk_create(
        SampledPair(sample=sample, query_id=q, candidate_id=c, stratum=h, inclusion=0.1)
        for q, c, h in drawn
    )
    similar = {*sorted(pool)[:6], *((q, c) for q, c, _ in drawn[:2]), drawn[4][:2]}
    table = labels(open_world.campaign)
    pairs = [*sorted(pool), *((q, c) for q, c, _ in drawn)]
    n = len(pairs)
    table = type(table)(
        query_ids=np.array([q for q, _ in pairs]), candidate_ids=np.array([c for _, c in pairs]),
        n_similar=np.zeros(n, int), n_different=np.zeros(n, int),
        is_similar=np.array([pair in similar for pair in pairs]),
        is_decided=np.ones(n, bool), is_ruled=np.zeros(n, bool),
    )  # fmt: skip
    found = as_json(sample_estimates(sample, table, pool))
    assert found["stratified"]["total"] == pytest.approx(36)
    assert found["stratified"]["share"] == pytest.approx(0.36)
    assert found["stratified"]["pool_recall"] == pytest.approx(6 / 36)
    assert found["stratified"]["standard_error"] == pytest.approx(0.144914, abs=1e-6)
    assert found["weighted"]["total"] == pytest.approx(36)
    assert found["weighted"]["n_represented"] == pytest.approx(100)
    assert found["weighted"]["effective_size"] == pytest.approx(
        100**2 / (10 + 4 * 10**2 + 5 * 10**2)
    )
    assert [row["share"] for row in found["strata"]] == pytest.approx([0.6, 0.5, 0.2])


def test_a_stratum_without_labels_leaves_the_whole_unknown(open_world: World) -> None:
    judge_world(open_world)
    sampled(open_world, 60)
    found = assess(open_world.campaign, n_bootstraps=0).summary.as_json()["sample"]
    assert found["stratified"] is None
    assert found["weighted"] is None
    assert found["missing"] == ["ranks 5-20", "ranks 21-100"]
    assert found["n_labelled"] == 0


def test_sampled_labels_are_in_no_measure_and_no_download(open_world: World) -> None:
    judge_world(open_world)
    before = assess(open_world.campaign, n_bootstraps=0)
    files = {name: b"".join(export_pieces(open_world.campaign, name)) for name in ("vsd", "csv")}
    asked = Target.of(open_world.campaign)
    sampled(open_world, 60)
    judge_world(open_world)
    after = assess(open_world.campaign, n_bootstraps=0)
    models = after.summary.as_json()["models"]
    corrected = {
        name
        for model in models
        for name, measure in model["measures"].items()
        if measure.pop("corrected", None) is not None
    }
    assert corrected == {"macro_roc_auc_random", "micro_roc_auc_random"}
    assert models == before.summary.as_json()["models"]
    labels = after.summary.as_json()["labels"]
    assert labels.pop("left_out") == {"below_pool": 60}
    assert labels | {"left_out": {}} == before.summary.as_json()["labels"]
    reports = as_json(before.report), as_json(after.report)
    for row in [row for report in reports for row in report["model_rows"]]:
        del row["random_negative_corrected"]
    assert reports[0] == reports[1]
    for name, text in files.items():
        assert b"".join(export_pieces(open_world.campaign, name)) == text
    again = Target.of(open_world.campaign)
    assert again.query_ids.tolist() == asked.query_ids.tolist()
    assert again.candidate_ids.tolist() == asked.candidate_ids.tolist()


def test_a_sampled_pair_that_a_model_proposes_later_is_a_pair_of_the_pool(
    open_world: World,
) -> None:
    sample = sampled(open_world, 60)
    before = pooled_at_draw(sample)
    pair = sample.pairs.all()[0]
    source = open_world.pool.sources.all()[0]
    source.proposals.create(pool=open_world.pool, query_id=pair.query_id, rank=source.k,
                            candidate_id=pair.candidate_id, score=0.0)  # fmt: skip
    assert (pair.query_id, pair.candidate_id) not in drawn_beside_pool(open_world.campaign)
    assert pooled_at_draw(sample) == before


def test_an_admin_asks_on_the_page_and_everybody_reads_the_estimates(
    open_world: World, client: Client, researcher: User
) -> None:
    admin = User.objects.create_user("boss", role=Role.ADMIN)
    address = reverse("evaluation:below", args=[open_world.campaign.slug])
    client.force_login(researcher)
    assert "An admin can have pairs" in client.get(address).content.decode()
    assert client.post(address, {"n_pairs": 60, "aim": "both", "seed": 1}).status_code == 403
    client.force_login(admin)
    assert "Draw and ask" in client.get(address).content.decode()
    reply = client.post(address, {"n_pairs": 60, "aim": "both", "seed": 1})
    assert reply.status_code == 302
    job = Job.objects.get(task="evaluation.tasks.draw_sample")
    assert job.arguments == {"campaign": open_world.campaign.pk, "n_pairs": 60, "aim": "both",
                             "seed": 1}  # fmt: skip
    Job.objects.all().update(state=JobState.CANCELLED)
    sampled(open_world, 60)
    judge_world(open_world)
    call_command("evaluate", open_world.campaign.slug, bootstraps=10, verbosity=0)
    client.force_login(researcher)
    page = client.get(address).content.decode()
    assert "of the similar pairs are in the pool (recall)" in page
    assert "ranks 5-20" in page
    bias = client.get(reverse("evaluation:bias", args=[open_world.campaign.slug]))
    assert "drawn below the pool, about" in bias.content.decode()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"n_pairs": 9, "aim": "both", "seed": 0}, "greater than or equal to 10"),
        ({"n_pairs": 20_001, "aim": "both", "seed": 0}, "less than or equal to 20000"),
        ({"n_pairs": 60, "aim": "fame", "seed": 0}, "Select a valid choice"),
        ({"n_pairs": 60, "aim": "both", "seed": -1}, "greater than or equal to 0"),
    ],
)
def test_the_page_says_what_is_wrong_with_a_request(
    open_world: World, client: Client, given: dict[str, object], said: str
) -> None:
    client.force_login(User.objects.create_user("boss", role=Role.ADMIN))
    reply = client.post(reverse("evaluation:below", args=[open_world.campaign.slug]), given)
    assert said in reply.content.decode()
    assert not Job.objects.exists()


def test_a_second_sample_and_a_closed_campaign_are_refused(open_world: World) -> None:
    sampled(open_world, 20)
    with pytest.raises(CommandError, match="drawn already"):
        call_command("sample_strata", open_world.campaign.slug, pairs=20)
    Sample.objects.all().delete()
    close_campaign(campaign=open_world.campaign, by=None, reason="done")
    open_world.campaign.refresh_from_db()
    with pytest.raises(InputError, match="closed"):
        request_sample(campaign=open_world.campaign, n_pairs=20, aim="both", seed=0, owner=None)
    with pytest.raises(CommandError, match="no campaign"):
        call_command("sample_strata", "nowhere", pairs=20)


def test_the_command_prints_the_strata_as_json(
    open_world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("sample_strata", open_world.campaign.slug, "--pairs", "30", "--json")
    printed = json.loads(capsys.readouterr().out)
    assert printed["n_drawn"] == sum(stratum["n_drawn"] for stratum in printed["strata"])
    assert [stratum["name"] for stratum in printed["strata"]] == [
        "ranks 5-20",
        "ranks 21-100",
    ]
