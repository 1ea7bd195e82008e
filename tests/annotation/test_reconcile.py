import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from annotation.models import Campaign, EntryState, Judgement, PanelMember, Question, QueueEntry
from annotation.services import reconcile
from annotation.tasks import reap
from tests.clients import Browser

pytestmark = pytest.mark.django_db


@pytest.fixture
def judged(campaign_of):
    campaign = campaign_of(2, 3, 3, serving="k_of_n", k=2)
    for member in campaign.panel.all():
        Browser(campaign, member.annotator).judge("similar", 4)
    return campaign


def run(*arguments):
    out = StringIO()
    call_command("reconcile_counters", *arguments, stdout=out)
    return out.getvalue()


def test_a_campaign_at_work_has_no_difference(judged):
    assert reconcile(campaign=judged) == []
    assert "1 campaigns counted, no difference" in run()


def test_every_wrong_counter_is_reported_and_repaired(judged):
    PanelMember.objects.filter(number=1).update(n_done=99, n_total=1, last_place=0)
    question = judged.questions.filter(n_counted=2)[0]
    Question.objects.filter(pk=question.pk).update(n_counted=0, n_free=2)
    Campaign.objects.update(n_questions=5)
    with pytest.raises(CommandError, match="6 differences"):
        run(judged.slug, "--json")
    found = json.loads(run(judged.slug, "--json", "--repair"))["differences"]
    assert {(d["counter"], d["stored"], d["counted"]) for d in found} == {
        ("n_questions", 5, 6),
        ("n_done", 99, 4),
        ("n_total", 1, 6),
        ("last_place", 0, 6),
        ("n_counted", 0, 2),
        ("n_free", 2, 0),
    }
    assert json.loads(run("--json"))["differences"] == []


def test_judgements_that_do_not_fit_the_queue_are_reported_not_changed(judged):
    entry = QueueEntry.objects.filter(state=EntryState.DONE)[0]
    QueueEntry.objects.filter(pk=entry.pk).update(state=EntryState.OPEN)
    other = Judgement.objects.exclude(question=entry.question)[0]
    other.delete()
    found = reconcile(campaign=judged, repairs=True)
    told = {difference.counter for difference in found}
    assert "judgement that its last event does not make" in told
    assert "answered question without a judgement" in told


def test_an_unknown_campaign_is_an_error(db):
    with pytest.raises(CommandError, match="There is no campaign “x”"):
        run("x")


def test_the_reaper_may_run_twice(judged):
    assert reap() == 0
    assert reap() == 0
