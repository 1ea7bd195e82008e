"""Top-ups: new sources and greater depths; only new pairs are asked, and history is kept."""

from __future__ import annotations

import pytest
from django.core.management import CommandError
from django.test import Client
from django.urls import reverse

from annotation.models import Campaign, Judgement, Question
from annotation.services import close_campaign, import_judgements, open_campaign
from annotation.services.reconciling import reconcile
from jobs.models import Job, JobState
from lookalike.core.errors import Refused
from lookalike.pooling.query_rule import QueryRule
from pooling import tasks
from pooling.attention import attention
from pooling.campaign.services import open_pool_campaign
from pooling.models import Index, Pool, PoolState, Proposal, SourceState
from pooling.pools.queries import pool_pairs, unasked_pairs
from pooling.pools.services import start_pool, start_source
from pooling.pools.settle import settle_left, settle_pool
from pooling.top_up.services import TopUp, start_change, top_up_pool, withdraw_depth
from tests.catalogs import MODELS, catalog_of_photos
from tests.pooling.cases import work
from tests.pooling.run_command import printed
from tests.worlds import rows_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def filled(pool_of):
    pool = pool_of(specs=["random:1", "random:2"])
    start_pool(pool=pool, owner=None)
    return work(pool)


def top_up(pool, made_by=None, **wanted):
    change = top_up_pool(pool=pool, wanted=TopUp(**wanted), made_by=made_by)
    start_change(change=change, owner=made_by)
    work(pool)
    change.refresh_from_db()
    return change


def asked(campaign):
    return set(campaign.questions.values_list("query_id", "candidate_id"))


def test_the_making_of_a_pool_is_the_first_line_of_its_history(filled, admin):
    [change] = filled.changes.all()
    assert change.steps == [
        {"spec": "random:1", "k_before": 0, "k": 3},
        {"spec": "random:2", "k_before": 0, "k": 3},
    ]
    assert change.settled_at is not None
    assert (change.n_proposals, change.n_pairs_before) == (18, 0)
    assert change.n_new_pairs == filled.stats["pairs"] == len(pool_pairs(filled))


def test_a_new_source_opens_only_its_new_pairs_and_judgements_stay(filled, annotators, admin):
    campaign = open_pool_campaign(pool=filled, name="c", panel=annotators)
    before = asked(campaign)
    n = len(before)
    import_judgements(campaign=campaign, rows=rows_of(campaign, " ".join(["sss"] * n)))
    judged = set(Judgement.objects.values_list("question_id", "answer", "event_id"))
    change = top_up(filled, made_by=admin, specs=["random:3"], depths={"random:3": 4})
    proposed = set(
        Proposal.objects.filter(source__spec="random:3").values_list("query_id", "candidate_id")
    )
    assert len(proposed) == 12
    assert asked(campaign) == before | proposed
    assert set(Judgement.objects.values_list("question_id", "answer", "event_id")) == judged
    assert (change.number, change.made_by, change.n_proposals) == (2, admin, 12)
    assert change.n_pairs_before == n
    assert change.n_new_pairs == change.n_opened == len(proposed - before)
    assert change.outcome["opened"] == {"c": len(proposed - before)}
    assert change.outcome["n_known"] == change.outcome["n_judged"] == len(proposed & before)
    [row] = change.outcome["by_source"]
    assert (row["spec"], row["n_new"]) == ("random:3", len(proposed - before))
    campaign.refresh_from_db()
    assert reconcile(campaign=campaign) == []


@pytest.mark.parametrize("specs", [["random:1"], ["descriptor:colour-histogram"]])
def test_a_greater_depth_extends_the_ranks_and_leaves_the_first_alone(pool_of, specs):
    pool = pool_of(specs=[*specs, "random:9"])
    start_pool(pool=pool, owner=None)
    pool = work(pool)
    columns = ("id", "query_id", "candidate_id", "rank", "score")
    before = list(Proposal.objects.order_by("id").values_list(*columns))
    change = top_up(pool, deeper={specs[0]: 7})
    after = list(Proposal.objects.order_by("id").values_list(*columns))
    assert after[: len(before)] == before
    source = pool.sources.get(spec=specs[0])
    assert (source.k, source.wanted_k, source.n_proposals) == (7, None, 21)
    assert source.state == SourceState.DONE
    assert sorted({rank for *_, rank, _ in after[len(before) :]}) == [3, 4, 5, 6]
    straight = pool_of(name="straight", catalog=pool.catalog, specs=specs, k=7)
    start_pool(pool=straight, owner=None)
    work(straight)
    kept = ("query_id", "rank", "candidate_id", "score")
    assert set(source.proposals.values_list(*kept)) == set(
        Proposal.objects.filter(pool=straight).values_list(*kept)
    )
    assert change.steps == [{"spec": specs[0], "k_before": 3, "k": 7}]
    assert change.n_proposals == 12
    assert Pool.objects.get(pk=pool.pk).stats["inputs"]["sources"][0]["k"] == 7


def test_a_source_that_does_not_begin_as_before_is_refused_and_nothing_changes(filled, annotators):
    campaign = open_pool_campaign(pool=filled, name="c", panel=annotators)
    source = filled.sources.get(spec="random:1")
    first = source.proposals.filter(rank=0).first()
    others = filled.catalog.images.exclude(
        pk__in=source.proposals.filter(query=first.query).values("candidate_id")
    )
    other = others.exclude(product_id=first.query.product_id).first()
    Proposal.objects.filter(pk=first.pk).update(candidate=other)
    before = list(Proposal.objects.order_by("id").values_list())
    n = campaign.n_questions
    change = top_up(filled, deeper={"random:1": 6})
    source.refresh_from_db()
    assert source.state == SourceState.FAILED
    assert "rank 1 of query" in source.error
    assert "Its first proposals stay" in source.error
    assert list(Proposal.objects.order_by("id").values_list()) == before
    assert source.k == 3
    assert (change.n_proposals, change.n_new_pairs) == (0, 0)
    assert Pool.objects.get(pk=filled.pk).state == PoolState.PARTIAL
    campaign.refresh_from_db()
    assert campaign.n_questions == n


def test_proposals_that_went_with_their_images_are_noticed(filled):
    filled.sources.get(spec="random:2").proposals.all()[0].candidate.delete()
    top_up(filled, deeper={"random:2": 5})
    assert filled.sources.get(spec="random:2").state == SourceState.FAILED


def test_new_pairs_are_opened_once_when_the_last_source_has_ended(filled, annotators):
    campaign = open_pool_campaign(pool=filled, name="c", panel=annotators)
    n = campaign.n_questions
    change = top_up_pool(
        pool=filled, wanted=TopUp(specs=["random:3"], deeper={"random:1": 6}), made_by=None
    )
    start_change(change=change, owner=None)
    first, second = [s.job for s in filled.sources.all() if s.job.is_open]
    tasks.run_source(str(first.uid))
    campaign.refresh_from_db()
    assert campaign.n_questions == n
    assert filled.changes.get(number=2).settled_at is None
    tasks.run_source(str(second.uid))
    tasks.run_source(str(second.uid))  # delivered twice
    campaign.refresh_from_db()
    change.refresh_from_db()
    assert campaign.n_questions == n + change.n_new_pairs
    assert change.n_opened == change.n_new_pairs > 0
    assert settle_pool(pool=filled) == 0


def test_what_a_failed_source_brings_later_is_counted_and_opened_then(filled, annotators, settings):
    settings.POOL_PLUGINS = ["tests.pooling.plugin_models.Brightness"]
    spec = "plugin:tests.pooling.plugin_models.Brightness"
    campaign = open_pool_campaign(pool=filled, name="c", panel=annotators)
    change = top_up_pool(pool=filled, wanted=TopUp(specs=[spec]), made_by=None)
    settings.POOL_PLUGINS = []
    start_change(change=change, owner=None)
    work(filled)
    change.refresh_from_db()
    assert change.n_proposals == 0
    settings.POOL_PLUGINS = ["tests.pooling.plugin_models.Brightness"]
    start_source(source=filled.sources.get(spec=spec), owner=None)
    work(filled)
    change.refresh_from_db()
    assert change.n_proposals == 9
    assert asked(campaign) == set(pool_pairs(filled))
    assert change.n_opened == change.n_new_pairs


@pytest.fixture
def by_index(pool_of):
    """A pool by an index whose search, at depth 3, missed each query's best candidate."""
    catalog = catalog_of_photos(30)
    asked = {"catalog": catalog, "specs": MODELS[:1], "rule": QueryRule(n=5)}
    exact = pool_of(name="exact", k=8, **asked)
    start_pool(pool=exact, owner=None)
    work(exact)
    pool = pool_of(index=Index.IVF, k=3, **asked)
    start_pool(pool=pool, owner=None)
    work(pool)
    pool.proposals.filter(rank=0).delete()
    for rank in (1, 2):
        pool.proposals.filter(rank=rank).update(rank=rank - 1)
    Proposal.objects.bulk_create(
        Proposal(
            pool=pool, source=pool.sources.get(), query=p.query, candidate=p.candidate,
            rank=2, score=p.score,
        )
        for p in Proposal.objects.filter(pool=exact, rank=7)
    )  # fmt: skip
    return pool, exact


def listed(pool):
    rows = pool.proposals.order_by("query", "rank").values_list("query", "rank", "candidate")
    lists: dict[int, list[int]] = {}
    for query, rank, candidate in rows:
        assert rank == len(lists.setdefault(query, []))
        lists[query].append(candidate)
    return lists


def test_an_index_goes_deeper_with_its_first_ranks_kept_and_the_best_of_the_rest(by_index):
    pool, exact = by_index
    kept = listed(pool)
    top_up(pool, deeper={MODELS[0]: 6})
    source = pool.sources.get()
    assert source.state == SourceState.DONE, source.error
    assert source.n_proposals == 30
    for query, nearest in listed(exact).items():
        first = kept[query]
        rest = [candidate for candidate in nearest[:6] if candidate not in first]
        assert listed(pool)[query] == [*first, *rest[:3]]
    assert source.recall["n_apart"] == 5


def test_an_index_whose_vectors_are_others_now_is_refused(by_index):
    pool, _ = by_index
    pool.proposals.filter(rank=0).update(score=0.5)
    top_up(pool, deeper={MODELS[0]: 6})
    assert "scores otherwise now" in pool.sources.get().error
    assert pool.proposals.count() == 15


def test_a_greater_depth_that_was_not_reached_is_withdrawn(filled, admin):
    source = filled.sources.get(spec="random:1")
    with pytest.raises(Refused, match="no greater depth"):
        withdraw_depth(source=source)
    change = top_up_pool(pool=filled, wanted=TopUp(deeper={"random:1": 6}), made_by=None)
    start_change(change=change, owner=None)
    with pytest.raises(Refused, match="stop it first"):
        withdraw_depth(source=source)
    Job.objects.filter(state=JobState.QUEUED).update(state=JobState.FAILED)
    client = Client()
    client.force_login(admin, backend="django.contrib.auth.backends.ModelBackend")
    page = client.get(reverse("pooling:pool", args=[filled.slug])).content.decode()
    address = reverse("pooling:withdraw", args=[filled.slug, source.position])
    assert address in page
    page = client.post(address, follow=True).content.decode()
    assert "random:1 stays at k = 3." in page
    assert address not in page
    history = client.get(reverse("pooling:history", args=[filled.slug])).content.decode()
    assert "(withdrawn)" in history
    assert Pool.objects.get(pk=filled.pk).state == PoolState.COMPLETE
    again = top_up(filled, deeper={"random:1": 5})
    assert again.n_proposals == 6
    change.refresh_from_db()
    assert (change.n_proposals, change.n_new_pairs) == (0, 0)
    assert settle_left() == 0


def written(change):
    change.refresh_from_db()
    counters = (change.n_proposals, change.n_pairs_before, change.n_new_pairs, change.n_opened)
    return (change.settled_at, counters, change.outcome)


def test_a_later_change_of_the_same_model_leaves_what_is_written_of_an_earlier_one(
    filled, annotators
):
    campaign = open_pool_campaign(pool=filled, name="c", panel=annotators)
    first = filled.changes.get(number=1)
    second = top_up(filled, specs=["random:3"], depths={"random:3": 4})
    before = [written(first), written(second)]
    assert second.outcome["n_judged"] == 0
    n = campaign.questions.count()
    import_judgements(campaign=campaign, rows=rows_of(campaign, " ".join(["sss"] * n)))
    third = top_up(filled, deeper={"random:3": 6, "random:1": 5})
    assert [written(first), written(second)] == before
    assert (third.n_proposals, third.n_pairs_before) == (12, n)
    assert third.outcome["n_judged"] == third.outcome["n_known"]
    assert third.n_pairs_after == len(pool_pairs(filled))


def test_what_was_written_before_its_models_were_named_is_not_written_again(filled):
    second = top_up(filled, specs=["random:3"])
    del second.outcome["counted"]
    second.save()
    before = written(second)
    top_up(filled, deeper={"random:3": 6})
    assert written(second) == before


def test_a_late_model_is_added_to_its_change_and_no_other_is_counted_anew(
    filled, annotators, settings
):
    settings.POOL_PLUGINS = []
    late = "plugin:tests.pooling.plugin_models.Brightness"
    campaign = open_pool_campaign(pool=filled, name="c", panel=annotators)
    settings.POOL_PLUGINS = ["tests.pooling.plugin_models.Brightness"]
    second = top_up_pool(pool=filled, wanted=TopUp(specs=["random:3", late]), made_by=None)
    settings.POOL_PLUGINS = []
    start_change(change=second, owner=None)
    work(filled)
    second.refresh_from_db()
    [row] = second.outcome["by_source"]
    third = top_up(filled, specs=["random:4"])
    before, n_new = written(third), second.n_new_pairs
    n = campaign.questions.count()
    import_judgements(campaign=campaign, rows=rows_of(campaign, " ".join(["sss"] * n)))
    had = set(pool_pairs(filled))
    settings.POOL_PLUGINS = ["tests.pooling.plugin_models.Brightness"]
    start_source(source=filled.sources.get(spec=late), owner=None)
    work(filled)
    second.refresh_from_db()
    proposed = set(
        Proposal.objects.filter(source__spec=late).values_list("query_id", "candidate_id")
    )
    assert written(third) == before
    assert second.outcome["by_source"][0] == row  # as nobody had judged it then
    assert second.outcome["by_source"][1]["n_new"] == len(proposed - had)
    assert second.outcome["by_source"][1]["n_judged"] == len(proposed & had)
    assert second.n_new_pairs == n_new + len(proposed - had)
    assert second.n_proposals == 18
    changes = filled.changes.all()
    assert sum(change.n_new_pairs for change in changes) == len(pool_pairs(filled))


def test_a_depth_that_was_missed_and_asked_for_anew_belongs_to_the_change_that_reached_it(filled):
    second = top_up_pool(pool=filled, wanted=TopUp(deeper={"random:1": 5}), made_by=None)
    start_change(change=second, owner=None)
    Job.objects.filter(state=JobState.QUEUED).update(state=JobState.FAILED)
    settle_pool(pool=filled)
    before = written(second)
    third = top_up(filled, deeper={"random:1": 7})
    assert written(second) == before
    assert third.n_proposals == 12


def test_a_pool_whose_worker_was_killed_before_settling_it_is_settled_by_the_clock(
    filled, annotators, monkeypatch
):
    campaign = open_pool_campaign(pool=filled, name="c", panel=annotators)
    n = campaign.n_questions
    monkeypatch.setattr(tasks, "settle_after", lambda job_uid: None)
    change = top_up(filled, specs=["random:3"])
    assert filled.changes.get(number=2).settled_at is None
    assert tasks.settle() == 1
    change.refresh_from_db()
    campaign.refresh_from_db()
    assert change.settled_at is not None
    assert campaign.n_questions == n + change.n_new_pairs
    assert settle_left() == 0


def test_a_pool_that_cannot_be_settled_is_logged_and_keeps_no_other_waiting(
    filled, pool_of, monkeypatch, caplog
):
    monkeypatch.setattr(tasks, "settle_after", lambda job_uid: None)
    other = pool_of(name="other", catalog=filled.catalog, specs=["random:7"])
    start_pool(pool=other, owner=None)
    work(other)
    top_up(filled, specs=["random:3"])
    third = filled.changes.get(number=2)
    third.steps[0]["k"] = 1  # now nothing explains its further ranks
    third.save()
    assert settle_left() == 1
    assert "Pool first-pool cannot be settled" in caplog.text
    assert other.changes.get().settled_at is not None


def test_the_clock_leaves_pools_alone_that_are_being_filled_or_never_were(pool_of):
    pool = pool_of()
    start_pool(pool=pool, owner=None)
    assert settle_left() == 0
    Job.objects.update(state=JobState.FAILED)
    assert settle_left() == 0


def test_a_closed_campaign_takes_no_pairs_until_it_is_open_again(filled, annotators, admin):
    campaign = open_pool_campaign(pool=filled, name="c", panel=annotators)
    n = campaign.n_questions
    close_campaign(campaign=campaign, by=admin, reason="done")
    change = top_up(filled, specs=["random:3"])
    assert (change.n_opened, Question.objects.count()) == (0, n)
    filled.refresh_from_db()
    assert unasked_pairs(filled) == 0
    said = [(line.kind, line.text) for line in attention()]
    text = f"{change.n_new_pairs} pairs of “{filled}” not asked: the campaign was closed before."
    assert said == [("Not asked", text)]
    open_campaign(campaign=Campaign.objects.get(), by=admin, reason="more")
    assert unasked_pairs(filled) == change.n_new_pairs
    [line] = attention()
    assert line.buttons == (("Ask them", reverse("pooling:settle", args=[filled.slug])),)
    assert settle_pool(pool=filled) == change.n_new_pairs
    change.refresh_from_db()
    assert change.n_opened == change.n_new_pairs
    assert unasked_pairs(Pool.objects.get(pk=filled.pk)) == 0
    assert not list(attention())


@pytest.mark.parametrize(
    ("wanted", "field", "error"),
    [
        ({}, "models", "name a new model"),
        ({"specs": ["random:1"]}, "models", "in the pool already"),
        ({"specs": ["nonsense"]}, "models", "names no"),
        ({"specs": ["plugin:os.system"]}, "models", "POOL_PLUGINS"),
        ({"specs": ["random:5"], "depths": {"random:5": 99}}, "models", "allow 1 to 11"),
        ({"deeper": {"random:5": 9}}, "deeper", "no model of this pool"),
        ({"deeper": {"random:1": 3}}, "deeper", "3 already"),
        ({"deeper": {"random:1": 12}}, "deeper", "allow 1 to 11"),
    ],
)
def test_what_cannot_be_is_refused_and_leaves_no_line_in_the_history(filled, wanted, field, error):
    with pytest.raises(Refused, match=error) as caught:
        top_up_pool(pool=filled, wanted=TopUp(**wanted), made_by=None)
    assert caught.value.field == field
    assert filled.changes.count() == 1
    assert filled.sources.count() == 2


def test_a_pool_that_is_being_filled_is_not_topped_up(pool_of):
    pool = pool_of()
    with pytest.raises(Refused, match="still being filled"):
        top_up_pool(pool=pool, wanted=TopUp(specs=["random:1"]), made_by=None)
    start_pool(pool=pool, owner=None)
    Job.objects.update(state=JobState.FAILED)
    with pytest.raises(Refused, match="no model of"):
        top_up_pool(pool=pool, wanted=TopUp(specs=["random:1"]), made_by=None)


def test_the_command_tops_a_pool_up_and_prints_the_difference(filled, annotators, tmp_path):
    open_pool_campaign(pool=filled, name="c", panel=annotators)
    shas = list(filled.catalog.images.values_list("sha256", flat=True))
    run = tmp_path / "ours.run"
    run.write_text(
        "\n".join(
            f"{row.image.sha256} Q0 {sha} 1 {number} x"
            for row in filled.queries.select_related("image")
            for number, sha in enumerate(shas)
        )
    )
    result = printed(
        "top_up_pool", filled.slug, "--models", f"random:3 k=2,{MODELS[0]}",
        "--deeper", "random:1 k=5", "--ranking", f"ours={run}",
    )  # fmt: skip
    assert [row["spec"] for row in result["by_source"]] == [
        "random:1", "random:3", MODELS[0], "ranking:ours",
    ]  # fmt: skip
    assert result["proposals"] == 6 + 6 + 9 + 9
    assert result["opened"] == {"c": result["new_pairs"]}
    with pytest.raises(CommandError, match="says no depth"):
        printed("top_up_pool", filled.slug, "--deeper", "random:1")
    with pytest.raises(CommandError, match="cannot be read"):
        printed("top_up_pool", filled.slug, "--ranking", "ours=/nowhere.run")
