from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from django.db import connection, transaction

from accounts.models import Role
from annotation.errors import CampaignError
from annotation.models import EntryState, Gold, Judgement, QuestionKind, Stage
from annotation.queries.labels import labels
from annotation.queries.numbers import numbers_of
from annotation.queries.reviewing.adjudication import contested, next_case
from annotation.queries.reviewing.quality import judge_qualities
from annotation.services import (
    add_gold,
    adjudicate,
    admit,
    consensus_gold,
    import_judgements,
    open_campaign,
    remove_gold,
    withdraw_ruling,
)
from annotation.services.gold import GoldPair
from annotation.services.serving.leases import claim_questions
from tests.annotation.locks import somebody_waits
from tests.clients import Browser, answer_to
from tests.waiting import wait_until
from tests.worlds import rows_of

pytestmark = pytest.mark.django_db


def gold_of(pair, answer, why=""):
    return GoldPair(pair[0], pair[1], answer, why)


@pytest.fixture
def taught(campaign_of, pairs):
    """A campaign whose judges train on 2 pairs and must get 2 of 3 right to judge 4."""
    campaign = campaign_of(2, 2, 1, is_open=False)
    campaign.pass_percent = 60
    campaign.save()
    for purpose, n in (("training", 2), ("qualification", 3), ("gold", 2)):
        gold = [gold_of(pair, "similar", f"{purpose} says so") for pair in pairs(1, n)]
        add_gold(campaign=campaign, purpose=purpose, pairs=gold)
    return open_campaign(campaign=campaign)


@pytest.fixture
def judge(taught):
    return Browser(taught, taught.panel.get().annotator)


def stage_of(judge):
    return judge.get("next")["stage"]


# ---- training and qualification ----
def test_training_comes_first_and_tells_what_was_expected(judge):
    questions = judge.next()
    assert [q["kind"] for q in questions] == ["training"] * 2
    _, reply = judge.send(
        answer_to(questions[0]["uid"], "different"), answer_to(questions[1]["uid"], "skip")
    )
    first, second = reply["results"]
    assert first["feedback"] == {"expected": "similar", "why": "training says so"}
    assert "feedback" not in second


def test_a_judge_goes_from_training_through_qualification_to_judging(judge, taught):
    assert stage_of(judge) == Stage.TRAINING
    judge.judge("similar", 2)
    assert stage_of(judge) == Stage.QUALIFICATION
    questions = judge.next()
    assert [q["kind"] for q in questions] == ["pair"] * 3
    _, reply = judge.send(
        *(answer_to(q["uid"], "similar") for q in questions[:2]),
        answer_to(questions[2]["uid"], "different"),
    )
    assert all("feedback" not in result for result in reply["results"])
    assert stage_of(judge) == Stage.JUDGING
    assert len(judge.next()) == 6
    assert judge.get("next")["progress"] == {"n_done": 5, "n_total": 11}


def test_who_fails_the_qualification_gets_nothing_until_an_admin_admits_them(judge, taught):
    judge.judge("similar", 2)
    judge.judge("different", 3)
    assert stage_of(judge) == Stage.NOT_QUALIFIED
    assert judge.next() == []
    admit(member=taught.panel.get())
    assert len(judge.next()) == 6
    with pytest.raises(CampaignError, match="is judging already"):
        admit(member=taught.panel.get())


def test_gold_and_training_never_vote(judge, taught):
    judge.judge("similar", 2)
    judge.judge("similar", 3)
    judge.judge("similar", 6)
    assert len(labels(taught)) == 4
    assert Judgement.objects.count() == 11


def test_silent_gold_looks_like_any_other_pair(judge, taught):
    judge.judge("similar", 2)
    judge.judge("similar", 3)
    questions = judge.next()
    gold = {str(uid) for uid in taught.questions.filter(kind="gold").values_list("uid", flat=True)}
    assert gold < set(judge.uids(questions))
    shapes = {(q["kind"], *sorted(q), *sorted(q["query"])) for q in questions}
    assert len(shapes) == 1


def test_a_campaign_without_teaching_starts_with_judging(campaign_of):
    assert campaign_of().panel.all()[0].stage == Stage.JUDGING


# ---- gold ----
def test_gold_is_refused_with_a_reason(campaign_of, pairs):
    campaign = campaign_of(is_open=False)
    [pair] = pairs(1, 1)
    for purpose, gold, message in (
        ("pair", gold_of(pair, "similar"), "not 'pair'"),
        ("gold", gold_of(pair, "cant_tell"), "'cant_tell' is no answer about a pair"),
        ("gold", GoldPair(pair[0], 10**9, "similar"), "Unknown images"),
        ("gold", GoldPair(pair[0], pair[0], "similar"), "to itself"),
        ("training", gold_of(pair, "similar", " "), "Say why"),
    ):
        with pytest.raises(CampaignError, match=message):
            add_gold(campaign=campaign, purpose=purpose, pairs=[gold])
    assert not Gold.objects.exists()
    campaign = open_campaign(campaign=campaign)
    with pytest.raises(CampaignError, match="need a draft"):
        add_gold(campaign=campaign, purpose="training", pairs=[gold_of(pair, "similar", "so")])


def test_examples_may_be_added_at_any_time_and_are_shown_with_their_reason(campaign_of, pairs):
    campaign = campaign_of()
    gold = [gold_of(pair, "different", "Another cut") for pair in pairs(1, 2)]
    assert add_gold(campaign=campaign, purpose="example", pairs=[*gold, gold[0]]) == 2
    assert add_gold(campaign=campaign, purpose="example", pairs=gold) == 0
    judge = Browser(campaign, campaign.panel.all()[0].annotator)
    examples = judge.get("guidelines")["examples"]
    assert [(e["answer"], e["why"]) for e in examples] == [("different", "Another cut")] * 2
    url = examples[0]["question"]["query"]["url"]
    assert judge.client.get(url).status_code == 404  # no file behind it, but allowed to ask
    assert len(judge.next()) == 6


def test_gold_is_removed_only_before_it_is_asked(campaign_of, pairs):
    campaign = campaign_of(is_open=False)
    gold = [gold_of(pair, "similar") for pair in pairs(1, 2)]
    add_gold(campaign=campaign, purpose="gold", pairs=gold)
    first, second = campaign.questions.filter(kind=QuestionKind.GOLD)
    remove_gold(campaign=campaign, question_uid=first.uid)
    open_campaign(campaign=campaign)
    with pytest.raises(CampaignError, match="stays"):
        remove_gold(campaign=campaign, question_uid=second.uid)
    pair = campaign.questions.filter(kind=QuestionKind.PAIR)[0]
    with pytest.raises(CampaignError, match="no such gold"):
        remove_gold(campaign=campaign, question_uid=pair.uid)


@pytest.mark.django_db(transaction=True)
def test_gold_that_is_being_lent_just_now_stays(campaign_of):
    campaign = campaign_of(1, 3, 1, serving="k_of_n", k=1, is_open=False)
    pair = campaign.questions.values_list("query_id", "candidate_id")[0]
    add_gold(campaign=campaign, purpose="gold", pairs=[gold_of(pair, "similar")])
    campaign = open_campaign(campaign=campaign)
    gold = campaign.questions.get(kind=QuestionKind.GOLD)
    member = campaign.panel.get()

    def remove():
        try:
            remove_gold(campaign=campaign, question_uid=gold.uid)
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            claim_questions(campaign_uid=campaign.uid, annotator_id=member.annotator_id, n_wanted=9)
            removing = pool.submit(remove)
            wait_until(lambda: removing.done() or somebody_waits(), pause=0.01)
        with pytest.raises(CampaignError, match="stays"):
            removing.result()
    member.refresh_from_db()
    assert gold.entries.count() == 1
    assert member.queue.count() == member.n_total == 4


def test_gold_from_an_earlier_panel_is_what_all_of_it_agreed_on(campaign_of):
    earlier = campaign_of(2, 5, 3)
    import_judgements(
        campaign=earlier, rows=rows_of(earlier, "sss sss sss sss ssd ddd ddd s.. dds ss.")
    )
    sure = {(r.query_id, r.candidate_id) for r in labels(earlier)
            if (r.n_similar, r.n_different) in {(3, 0), (0, 3), (2, 0)}}  # fmt: skip
    drawn = consensus_gold(earlier, 4, seed=1)
    assert [gold.answer for gold in drawn].count("different") == 2
    assert {gold[:2] for gold in drawn} <= sure
    assert consensus_gold(earlier, 4, seed=1) == drawn
    everything = consensus_gold(earlier, 100, seed=1)
    assert {gold[:2] for gold in everything} == sure
    assert len(consensus_gold(earlier, 5, seed=2)) == 5
    assert consensus_gold(campaign_of(), 5, seed=0) == []


def test_a_second_purpose_gets_other_pairs_of_the_same_panel(campaign_of):
    earlier, draft = campaign_of(2, 5, 3), campaign_of(is_open=False)
    import_judgements(campaign=earlier, rows=rows_of(earlier, " ".join(["sss", "ddd"] * 5)))
    for purpose in ("training", "qualification", "gold"):
        drawn = consensus_gold(earlier, 3, seed=1, why="The cut.", into=draft)
        add_gold(campaign=draft, purpose=purpose, pairs=drawn)
    assert Gold.objects.filter(question__campaign=draft).count() == 9
    [last] = consensus_gold(earlier, 3, seed=1, into=draft)
    mirrored = last._replace(query_id=last.candidate_id, candidate_id=last.query_id)
    add_gold(campaign=draft, purpose="gold", pairs=[mirrored])
    assert consensus_gold(earlier, 3, seed=1, into=draft) == []


# ---- statistics of a judge ----
def test_a_judge_is_compared_with_the_others_gold_and_themselves(campaign_of, pairs):
    campaign = campaign_of(2, 5, 3, is_open=False)
    campaign.repeat_percent, campaign.mirror_percent = 20, 20
    campaign.save()
    gold = [gold_of(pair, "similar") for pair in pairs(1, 2)]
    add_gold(campaign=campaign, purpose="gold", pairs=gold)
    campaign = open_campaign(campaign=campaign)
    import_judgements(
        campaign=campaign,
        rows=rows_of(campaign, "sss sss sss sss sss ddd ddd ddd ddd dss"),
    )
    judge = Browser(campaign, campaign.panel.all()[0].annotator)
    for question in judge.next():  # two gold, two repeats
        judge.send(answer_to(question["uid"], "similar", visible_ms=2000, load_ms=100))
    first, second, third = judge_qualities(campaign)
    assert (first.with_others.n_hits, first.with_others.n) == (9, 10)
    assert (second.with_others.n_hits, second.with_others.n) == (9, 9)
    assert (first.with_gold.n_hits, first.with_gold.n) == (2, 2)
    asked_again = campaign.questions.filter(
        kind=QuestionKind.REPEAT, entries__member=first.member
    ).select_related("original")
    n_similar = sum(
        Judgement.objects.get(question=q.original, member=first.member).answer == "similar"
        for q in asked_again
    )
    assert (first.with_self.n_hits, first.with_self.n) == (n_similar, asked_again.count())
    assert asked_again.count() == 2
    assert first.with_mirror.n == 0  # no candidate is a query, so none could be swapped unseen
    assert first.answers == {"similar": 5, "different": 5}
    assert second.with_gold.n == 0
    assert np.isnan(third.pace.median)


def test_pace_and_drift_come_from_answers_given_here(campaign_of):
    campaign = campaign_of(4, 10, 1)
    judge = Browser(campaign, campaign.panel.get().annotator)
    for place in range(40):
        [question] = judge.next(1)
        what = "similar" if place < 20 else "different"
        judge.send(answer_to(question["uid"], what, at=place, visible_ms=1500, load_ms=40))
    [found] = judge_qualities(campaign)
    assert (found.pace.median, found.pace.median_load, found.pace.n_timed) == (1.5, 0.04, 40)
    assert [part.value for part in found.by_part] == [1.0, 1.0, 0.5, 0.0, 0.0]
    assert found.sequence.n == 36


def test_an_order_chosen_in_a_sheet_says_nothing_about_leaning(campaign_of):
    campaign = campaign_of(1, 8, 1)
    judge = Browser(campaign, campaign.panel.get().annotator)
    for place, question in enumerate(judge.next()):
        what = "similar" if place < 4 else "different"
        judge.send(answer_to(question["uid"], what, at=place, mode="sheet"))
    assert judge_qualities(campaign)[0].sequence.n == 0


def test_progress_names_who_has_come_how_far(campaign_of):
    campaign = campaign_of(1, 4, 2)
    judge = Browser(campaign, campaign.panel.all()[1].annotator)
    judge.judge("similar", 3)
    first, second = numbers_of(campaign).judges
    assert (first.n_answers, first.n_total, first.last_answer) == (0, 4, None)
    assert (second.n_answers, second.n_total) == (3, 4)
    assert second.last_answer is not None


# ---- adjudication ----
def test_what_the_panel_left_open_comes_closest_votes_first(campaign_of):
    campaign = campaign_of(1, 6, 4)
    import_judgements(campaign=campaign, rows=rows_of(campaign, "ssss dddd sddd ssdd sssc sskk"))
    counts = ("n_similar", "n_different", "n_unsure")
    found = [tuple(vars(q)[name] for name in counts) for q in contested(campaign)]
    assert found[0] == (2, 2, 0)
    assert sorted(found) == [(1, 3, 0), (2, 0, 2), (2, 2, 0), (3, 0, 1)]
    [only] = contested(campaign, only_undecided=True)
    assert (vars(only)["n_similar"], vars(only)["n_different"]) == (2, 2)


def test_a_pair_that_is_still_being_judged_is_not_contested_yet(campaign_of):
    campaign = campaign_of(1, 1, 3)
    import_judgements(campaign=campaign, rows=rows_of(campaign, "sd."))
    assert not contested(campaign).exists()
    campaign.panel.filter(number=3).update(is_active=False)
    assert contested(campaign).count() == 1


def test_a_case_counts_answers_and_names_nobody(campaign_of):
    campaign = campaign_of(1, 1, 3)
    import_judgements(campaign=campaign, rows=rows_of(campaign, "sdc"))
    case = next_case(campaign, only_undecided=False)
    assert case is not None
    assert [n for _, n in case.counts] == [1, 1, 1]
    names = campaign.panel.values_list("annotator__username", flat=True)
    assert all(name not in str(vars(case)) for name in names)
    assert next_case(campaign, only_undecided=False, skipped=1) is None


def test_a_ruling_becomes_the_label_until_it_is_withdrawn(campaign_of, people):
    campaign = campaign_of(1, 1, 2, tie_rule="undecided")
    import_judgements(campaign=campaign, rows=rows_of(campaign, "sd"))
    [admin] = people(1, Role.ADMIN)
    question = campaign.questions.get()
    assert [row.label for row in labels(campaign)] == [None]
    ruling = {"campaign": campaign, "question_uid": question.uid, "by": admin}
    for answer, reason, message in (
        ("maybe", "x", "“different” or “similar”"),
        ("similar", " ", "Say why"),
    ):
        with pytest.raises(CampaignError, match=message):
            adjudicate(**ruling, answer=answer, reason=reason)
    adjudicate(**ruling, answer="similar", reason="Same seam")
    assert [row.label for row in labels(campaign)] == [True]
    assert not contested(campaign).exists()
    adjudicate(**ruling, answer="different", reason="Looked again")
    assert [row.label for row in labels(campaign)] == [False]
    withdraw_ruling(campaign=campaign, question_uid=question.uid)
    assert [row.label for row in labels(campaign)] == [None]
    with pytest.raises(CampaignError, match="no such ruling"):
        withdraw_ruling(campaign=campaign, question_uid=question.uid)


def test_nobody_rules_on_a_question_of_another_campaign(campaign_of, people):
    campaign, other = campaign_of(1, 1, 2), campaign_of(1, 1, 2)
    with pytest.raises(CampaignError, match="no such question"):
        adjudicate(
            campaign=campaign, question_uid=other.questions.get().uid, answer="similar",
            reason="x", by=people(1, Role.ADMIN)[0],
        )  # fmt: skip


def test_entries_of_a_settled_pair_are_not_waited_for(campaign_of):
    campaign = campaign_of(1, 1, 3, is_open=False)
    campaign.closes_settled = True
    campaign.save()
    campaign = open_campaign(campaign=campaign)
    import_judgements(campaign=campaign, rows=rows_of(campaign, "ss."))
    assert campaign.panel.get(number=3).queue.get().state == EntryState.SETTLED
