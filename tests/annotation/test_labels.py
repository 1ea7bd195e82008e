import time

import numpy as np
import pytest

from accounts.models import User
from annotation.errors import CampaignError
from annotation.models import (
    Adjudication,
    EntryState,
    Judgement,
    JudgementEvent,
    Mode,
    PanelMember,
    QueueEntry,
)
from annotation.queries.labels import agreement, labels, votes
from annotation.services import (
    close_campaign,
    create_campaign,
    import_judgements,
    open_campaign,
)
from annotation.services.imports import ImportRefusedError
from tests.clients import Browser, answer_to
from tests.worlds import rows_of

pytestmark = pytest.mark.django_db

S, D = "similar", "different"


@pytest.fixture
def campaign(campaign_of):
    return campaign_of(2, 3, 3)


def test_labels_are_the_majority_of_the_votes(campaign):
    import_judgements(campaign=campaign, rows=rows_of(campaign, "sss ssd sdd ddd sd. s.."))
    table = labels(campaign)
    assert list(zip(table.n_similar, table.n_different, strict=True)) == [
        (3, 0), (2, 1), (1, 2), (0, 3), (1, 1), (1, 0),
    ]  # fmt: skip
    assert [row.label for row in table] == [True, True, False, False, False, True]
    assert [row.label for row in labels(campaign, "undecided")][4] is None
    assert [row.label for row in labels(campaign, "unanimous")] == [
        True, None, None, False, None, True,
    ]  # fmt: skip


def test_a_pair_without_a_vote_has_no_row(campaign):
    import_judgements(campaign=campaign, rows=rows_of(campaign, "sss ckc ..."))
    assert len(labels(campaign)) == 1
    assert len(votes(campaign).query_ids) == 3


def test_answers_that_do_not_vote_do_not_count(campaign):
    import_judgements(campaign=campaign, rows=rows_of(campaign, "sck dcc"))
    assert [row[2:] for row in labels(campaign)] == [(1, 0, True), (0, 1, False)]
    assert Judgement.objects.count() == 6


def test_a_ruling_decides_whatever_the_votes_say(campaign):
    import_judgements(campaign=campaign, rows=rows_of(campaign, "ssd ccc"))
    for question in campaign.questions.order_by("query_id", "candidate_id")[:2]:
        Adjudication.objects.create(question=question, answer=D, reason="seen")
    assert [row[2:] for row in labels(campaign)] == [(2, 1, False), (0, 0, False)]
    assert labels(campaign).is_ruled.tolist() == [True, True]


def test_a_campaign_without_judgements_has_empty_tables(campaign):
    assert len(labels(campaign)) == 0
    assert labels(campaign).query_ids.dtype == np.int64
    assert votes(campaign).query_ids.shape == (0,)
    assert agreement(campaign).n_questions == 0


def test_votes_name_the_judges_in_the_order_of_the_panel(campaign):
    import_judgements(campaign=campaign, rows=rows_of(campaign, "sdd"))
    table = votes(campaign)
    assert table.annotator_ids.tolist() == list(
        campaign.panel.values_list("annotator_id", flat=True)
    )
    assert table.is_similar.tolist() == [True, False, False]


def test_agreement_is_that_of_the_golden_panel(campaign_of):
    campaign = campaign_of(2, 5, 3)
    import_judgements(
        campaign=campaign,
        rows=rows_of(campaign, "sss ssd sdd sss ddd sss sds sss sss dss"),
    )
    figures = agreement(campaign)
    assert figures.alpha == pytest.approx(0.340909, abs=1e-6)
    assert figures.prevalence == pytest.approx([8 / 30, 22 / 30])


# ---- importing ----
def test_imported_judgements_are_events_done_and_counted(campaign):
    rows = rows_of(campaign, "sss dds cks")
    assert import_judgements(campaign=campaign, rows=rows) == (9, 0)
    assert set(JudgementEvent.objects.values_list("mode", flat=True)) == {Mode.IMPORT}
    assert QueueEntry.objects.filter(state=EntryState.DONE).count() == 9
    assert set(campaign.panel.values_list("n_done", "n_total")) == {(3, 6)}


def test_importing_twice_is_importing_once(campaign):
    rows = rows_of(campaign, "sss dds")
    import_judgements(campaign=campaign, rows=rows)
    more = [*rows, *rows_of(campaign, "... ... sdd")]
    assert import_judgements(campaign=campaign, rows=more) == (3, 6)
    assert JudgementEvent.objects.count() == 9
    assert set(campaign.panel.values_list("n_done", flat=True)) == {3}


def test_a_judge_goes_on_where_the_import_ended(campaign):
    import_judgements(campaign=campaign, rows=rows_of(campaign, "sss dds"))
    judge = Browser(campaign, campaign.panel.first().annotator)
    assert len(judge.next()) == 4
    judge.judge(S, 4)
    assert judge.get("next")["progress"] == {"n_done": 6, "n_total": 6}


def test_one_bad_row_stops_the_whole_import(campaign, people, pairs):
    [good, second, *_] = rows_of(campaign, "ss. ...")
    [stranger] = people(1)
    [foreign] = pairs(1, 1)
    member = campaign.panel.first().annotator_id
    rows = [
        good,
        (*good[:3], D),
        (*good[:2], stranger.pk, S),
        (*foreign, member, S),
        (*second[:3], "maybe"),
        (*second[:3], "later"),
        (*second[:3], S, "bad_image"),
        (*second[:3], "skip", "because"),
    ]
    with pytest.raises(ImportRefusedError) as refused:
        import_judgements(campaign=campaign, rows=rows)
    told = dict(refused.value.problems)
    assert sorted(told) == [1, 2, 3, 4, 5, 6, 7]
    assert "earlier row" in told[1]
    assert "not on the panel" in told[2]
    assert "not in the campaign" in told[3]
    assert "“maybe” is none of: similar, different" in told[4]
    assert "“later” is none of" in told[5]
    assert "takes no reason" in told[6]
    assert "not known" in told[7]
    assert not JudgementEvent.objects.exists()


def test_an_import_never_changes_an_answer(campaign):
    judge = Browser(campaign, campaign.panel.first().annotator)
    [question] = judge.next(1)
    judge.send(answer_to(question["uid"], D))
    stored = Judgement.objects.get().question
    row = (stored.query_id, stored.candidate_id, judge.person.pk, S)
    with pytest.raises(ImportRefusedError, match="already, as “different”"):
        import_judgements(campaign=campaign, rows=[row])
    assert Judgement.objects.get().answer == D


def test_drafts_and_closed_campaigns_take_no_import(campaign_of):
    draft = campaign_of(is_open=False)
    with pytest.raises(CampaignError, match="draft"):
        import_judgements(campaign=draft, rows=[])
    done = campaign_of()
    close_campaign(campaign=done, by=None, reason="over")
    with pytest.raises(CampaignError, match="closed"):
        import_judgements(campaign=done, rows=[])


def test_when_k_of_n_judge_the_votes_after_the_kth_are_surplus(campaign_of):
    campaign = campaign_of(1, 2, 4, serving="k_of_n", k=2)
    import_judgements(campaign=campaign, rows=rows_of(campaign, "scds s..."))
    judgements = Judgement.objects.order_by(
        "question__query_id", "question__candidate_id", "event_id"
    )
    assert [(j.answer, j.is_surplus) for j in judgements] == [
        (S, False), ("cant_tell", False), (D, False), (S, True), (S, False),
    ]  # fmt: skip
    first, second = campaign.questions.order_by("query_id", "candidate_id")
    assert (first.n_counted, first.n_free, first.is_settled) == (2, 0, True)
    assert (second.n_counted, second.n_free, second.is_settled) == (1, 1, False)
    assert [row[2:4] for row in labels(campaign)] == [(1, 1), (1, 0)]
    assert set(campaign.panel.values_list("n_done", "n_total")) == {(2, 2), (1, 1)}


@pytest.mark.timeout(120)
def test_a_campaign_of_the_papers_size_takes_seconds(pairs, people):
    panel: list[User] = people(3)
    given = pairs(200, 90)
    started = time.monotonic()
    campaign = create_campaign(name="Big", slug="big", pairs=given, panel=panel)
    campaign = open_campaign(campaign=campaign)
    opened = time.monotonic()
    rows = [(*pair, user.pk, S if (i + j) % 3 else D)
            for i, pair in enumerate(given) for j, user in enumerate(panel)]  # fmt: skip
    import_judgements(campaign=campaign, rows=rows)
    imported = time.monotonic()
    assert len(labels(campaign)) == 18_000
    read = time.monotonic()
    assert PanelMember.objects.filter(n_done=18_000).count() == 3
    assert opened - started < 20
    assert imported - opened < 30
    assert read - imported < 3
