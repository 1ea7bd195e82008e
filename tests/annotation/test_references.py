"""What entries, events and judgements refer to is there, whoever writes or deletes, and when."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable
from typing import Any

import pytest
from django.db import (
    IntegrityError,
    NotSupportedError,
    ProgrammingError,
    connection,
    transaction,
)

from annotation.models import (
    Campaign,
    Judgement,
    JudgementEvent,
    PanelMember,
    Question,
    QueueEntry,
)
from annotation.queries.prepared import rows_of
from annotation.services import import_judgements
from tests.annotation.locks import wait_for_a_lock
from tests.clients import Browser

NOWHERE = 2**40  # no row has this number
TABLES: dict[str, Any] = {
    model._meta.db_table: model
    for model in (PanelMember, Question, QueueEntry, JudgementEvent, Judgement)
}
REFERENCES: dict[str, tuple[Any, dict[str, int]]] = {
    "entry_of_its_member": (QueueEntry, {"member_id": NOWHERE}),
    "entry_of_its_question": (QueueEntry, {"question_id": NOWHERE}),
    "event_of_its_entry": (JudgementEvent, {"question_id": NOWHERE}),
    "judgement_of_its_event": (Judgement, {"event_id": NOWHERE}),
}
every_reference = pytest.mark.parametrize("name", REFERENCES)
in_turns = pytest.mark.django_db(transaction=True)


@pytest.fixture
def judged(campaign_of: Callable[..., Campaign]) -> Campaign:
    """A campaign of two pairs, judged by two."""
    campaign = campaign_of(1, 2, 2)
    import_judgements(
        campaign=campaign,
        rows=[
            (question.query_id, question.candidate_id, member.annotator_id, "similar")
            for question in campaign.questions.all()
            for member in campaign.panel.all()
        ],
    )
    return campaign


def rows_like(model: Any, n: int = 1, **changes: object) -> list[Any]:
    """Return rows like those that are there, not stored, the last of them with changes."""
    rows = list(model.objects.all()[:n])
    for row in rows:
        row._state.adding = True
        if model is JudgementEvent:
            row.pk, row.uuid = None, uuid.uuid4()
    for name, value in changes.items():
        setattr(rows[-1], name, value)
    return rows


@every_reference
@pytest.mark.django_db
def test_a_row_of_nothing_is_refused_though_others_of_its_statement_are_sound(judged, name):
    model, changes = REFERENCES[name]
    rows = rows_like(model, 3, **changes)
    if model is not JudgementEvent:  # there is one of each: make room for the sound rows
        for table in (Judgement, JudgementEvent, QueueEntry):
            table.objects.all().delete()
            if table is model:
                break
    n_before = model.objects.count()
    with pytest.raises(IntegrityError, match=name) as refused, transaction.atomic():
        model.objects.bulk_create(rows)
    cause: Any = refused.value.__cause__
    assert cause.diag.constraint_name == name
    assert model.objects.count() == n_before


@pytest.mark.django_db
def test_an_answer_to_what_is_not_in_the_judges_queue_is_refused(judged):
    event = JudgementEvent.objects.all()[0]
    elsewhere = judged.panel.exclude(pk=event.member_id).get()
    with transaction.atomic():
        for model in (Judgement, JudgementEvent, QueueEntry):
            model.objects.filter(member=elsewhere).delete()
        event.pk, event.uuid, event.member = None, uuid.uuid4(), elsewhere
        with pytest.raises(IntegrityError, match="event_of_its_entry"), transaction.atomic():
            event.save(force_insert=True)


@pytest.mark.django_db
def test_a_judgement_stands_for_no_event_of_another_pair_or_judge(judged):
    one = Judgement.objects.all()[0]
    for other in Judgement.objects.exclude(pk=one.pk):
        free = Judgement.objects.filter(pk=other.pk)
        with transaction.atomic():
            free.delete()
            with (
                pytest.raises(IntegrityError, match="judgement_of_its_event"),
                transaction.atomic(),
            ):
                Judgement.objects.filter(pk=one.pk).update(event=other.event_id)
            transaction.set_rollback(True)
    fresh = rows_like(JudgementEvent)[0]
    fresh.member_id, fresh.question_id = one.member_id, one.question_id
    fresh.save(force_insert=True)
    Judgement.objects.filter(pk=one.pk).update(event=fresh.pk)
    assert Judgement.objects.get(member=one.member_id, question=one.question_id).event == fresh


@pytest.mark.parametrize(
    ("table", "column"),
    [
        ("annotation_queueentry", "member_id"),
        ("annotation_queueentry", "question_id"),
        ("annotation_panelmember", "id"),
        ("annotation_question", "id"),
        ("annotation_judgementevent", "id"),
    ],
)
@pytest.mark.django_db
def test_what_rows_are_known_by_never_changes(judged, table, column):
    with (
        pytest.raises(ProgrammingError, match=r"never change|append-only"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(f"update {table} set {column} = {column} + 1")  # noqa: S608


@pytest.mark.parametrize("table", list(TABLES)[:-1])
@pytest.mark.django_db
def test_what_is_referred_to_is_not_deleted(judged, table):
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"delete from {table}")  # noqa: S608
        with pytest.raises(IntegrityError, match="still refers to a deleted row"):
            connection.check_constraints()
        transaction.set_rollback(True)


@pytest.mark.django_db
def test_both_can_be_deleted_in_any_order_and_the_same_row_may_come_back(judged):
    kept = list(QueueEntry.objects.all())
    with connection.cursor() as cursor:
        for table in TABLES:  # what is referred to goes first
            with transaction.atomic():
                cursor.execute(f"delete from {table}")  # noqa: S608
                if table == "annotation_queueentry":
                    QueueEntry.objects.bulk_create(kept)
                    connection.check_constraints()
                transaction.set_rollback(True)
        for table in TABLES:
            cursor.execute(f"delete from {table}")  # noqa: S608
    connection.check_constraints()
    assert not any(model.objects.exists() for model in TABLES.values())


@pytest.mark.django_db
def test_a_campaign_goes_with_all_that_was_asked_and_answered(judged, campaign_of):
    other = campaign_of(1, 1, 1)
    judged.delete()
    connection.check_constraints()
    assert not JudgementEvent.objects.exists()
    assert not Judgement.objects.exists()
    assert list(QueueEntry.objects.values_list("member__campaign", flat=True)) == [other.pk]


@every_reference
@pytest.mark.django_db
def test_a_table_that_is_referred_to_is_not_emptied_alone(judged, name):
    parents = {
        "entry_of_its_member": "annotation_panelmember, annotation_comment, "
        "annotation_guidelinereading",
        "entry_of_its_question": "annotation_question cascade",
        "event_of_its_entry": "annotation_queueentry",
        "judgement_of_its_event": "annotation_judgementevent cascade",
    }
    connection.check_constraints()  # no table is emptied before what waits for the end is done
    with (
        pytest.raises(IntegrityError, match="empty both"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(f"truncate {parents[name]}")


class Another(threading.Thread):
    """Do something on a connection of its own, and keep what became of it."""

    def __init__(self, act: Callable[[], object]) -> None:
        super().__init__()
        self.act = act
        self.problem: Exception | None = None
        self.start()

    def run(self) -> None:
        try:
            with transaction.atomic():
                self.act()
        except Exception as problem:
            self.problem = problem
        finally:
            connection.close()


@in_turns
def test_who_adds_waits_for_who_deletes(judged):
    entry = judged.panel.first().queue.first()
    with connection.cursor() as cursor:
        cursor.execute("delete from annotation_judgement")
        cursor.execute("delete from annotation_judgementevent")
    with transaction.atomic():
        QueueEntry.objects.filter(pk=entry.pk).delete()
        late = JudgementEvent(
            uuid=uuid.uuid4(), question_id=entry.question_id, member_id=entry.member_id,
            answer="similar", mode="pair", guideline_version=1, decided_at="2026-01-01T00:00Z",
        )  # fmt: skip
        adding = Another(lambda: late.save(force_insert=True))
        wait_for_a_lock()
    adding.join()
    assert isinstance(adding.problem, IntegrityError)
    assert "event_of_its_entry" in str(adding.problem)
    assert not JudgementEvent.objects.exists()


@pytest.mark.parametrize("has_changed_it", [False, True])
@in_turns
def test_who_deletes_waits_for_who_adds(judged, has_changed_it):
    with connection.cursor() as cursor:
        cursor.execute("delete from annotation_judgement")
        cursor.execute("delete from annotation_judgementevent")
    entry = judged.panel.first().queue.first()
    with transaction.atomic():
        if has_changed_it:  # then nothing more is locked
            QueueEntry.objects.filter(pk=entry.pk).update(place=entry.place + 1)
        JudgementEvent.objects.create(
            uuid=uuid.uuid4(), question_id=entry.question_id, member_id=entry.member_id,
            answer="similar", mode="pair", guideline_version=1, decided_at="2026-01-01T00:00Z",
        )  # fmt: skip
        deleting = Another(QueueEntry.objects.filter(pk=entry.pk).delete)
        wait_for_a_lock()
    deleting.join()
    assert isinstance(deleting.problem, IntegrityError)
    assert QueueEntry.objects.filter(pk=entry.pk).exists()


@pytest.mark.parametrize("is_own", [False, True])
@in_turns
def test_a_row_of_the_same_transaction_is_not_locked_to_refer_to_it(judged, is_own):
    event = rows_like(JudgementEvent)[0]
    entry = QueueEntry.objects.filter(member=event.member_id, question=event.question_id)
    looks = "select xmax::text <> '0' from annotation_queueentry where last_uuid = %s"
    entry.update(last_uuid=event.uuid)
    with transaction.atomic():
        if is_own:
            entry.update(state="done")
        event.save(force_insert=True)
        [(is_locked,)] = rows_of(looks, event.uuid)
    assert is_locked is not is_own


@in_turns
def test_nothing_is_deleted_in_a_transaction_that_sees_only_what_was_there_before(judged):
    def delete_all() -> None:
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute("set transaction isolation level repeatable read")
            QueueEntry.objects.all().delete()

    with pytest.raises(NotSupportedError, match="read committed"):
        delete_all()
    assert QueueEntry.objects.exists()


@pytest.mark.django_db
def test_what_is_referred_to_is_looked_up_and_not_searched_for(campaign_of):
    campaign = campaign_of(1, 3, 1)
    judge = Browser(campaign, campaign.panel.get().annotator)
    with connection.cursor() as cursor:
        cursor.execute("set local enable_seqscan = off")  # so that only a hash reads all
        cursor.execute("discard plans")  # made anew while there is hardly anything to refer to
    n_before = searches()
    judge.judge(n=1)
    judge.judge(n=1)
    assert searches() == n_before


def searches() -> int:
    """Return how often this transaction has read all events."""
    [(n,)] = rows_of("""
        select pg_stat_get_xact_numscans(oid) from pg_class
        where relname = 'annotation_judgementevent'
    """)
    return int(n)
