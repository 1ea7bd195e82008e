"""The audit log: only ever added to, written with the act, read by admins alone."""

from __future__ import annotations

import csv
import io
import json
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection, transaction
from django.test import Client
from django.utils import timezone

from accounts.models import Role, Scope, User
from accounts.services import change_role
from accounts.tokens.services import create_token
from annotation.services import create_campaign
from api.paging import make_cursor
from audit.actions import Action
from audit.models import Entry
from audit.retention import blank_addresses, remove_entries
from audit.services import record
from jobs.models import Job
from jobs.services import enqueue, run_job
from tests.clients import PASSWORD, Caller, signed_in
from tests.conditional.cases import make_catalog

LONG_AGO = timezone.now() - timedelta(days=400)


@pytest.fixture
def admin(db: None) -> User:
    return User.objects.create_user("ada", role=Role.ADMIN, is_superuser=True)


@pytest.fixture
def browser(admin: User) -> Client:
    return signed_in(admin)


def entry(**fields) -> Entry:
    given = {"action": Action.EXPORTED.value, "actor_name": "mallory", "address": "192.0.2.7"}
    return Entry.objects.create(**given | fields)


def key(setting: str, days: int) -> str:
    return f"select set_config('lookalike.{setting}', '{days}', true);"


SHUT, OPEN = "", key("audit_days", 300) + key("audit_address_days", 300)


@pytest.mark.parametrize(
    ("keys", "attack"),
    [
        (SHUT, "update audit_entry set actor_name = 'somebody else'"),
        (SHUT, "update audit_entry set address = null"),
        (SHUT, "delete from audit_entry"),
        (SHUT, "truncate audit_entry"),
        (SHUT, "truncate audit_entry cascade"),
        (
            SHUT,
            "insert into audit_entry select * from audit_entry on conflict (id) do update "
            "set actor_name = 'somebody else'",
        ),
        # with the keys of the retention command: not what is young, nor more than an address
        (OPEN, "delete from audit_entry where at > now() - interval '1 day'"),
        (OPEN, "update audit_entry set address = null where at > now() - interval '1 day'"),
        (OPEN, "update audit_entry set address = null, actor_name = ''"),
        (OPEN, "update audit_entry set at = now()"),
        (OPEN, "truncate audit_entry"),
        (key("audit_days", 0), "delete from audit_entry"),
        (key("audit_days", -9), "delete from audit_entry"),
        (key("audit_days", 29), "delete from audit_entry where at < now() - interval '1 year'"),
        (key("audit_address_days", -9), "update audit_entry set address = null"),
    ],
)
def test_the_database_refuses_to_change_the_log(db: None, keys: str, attack: str) -> None:
    entry(at=LONG_AGO)
    entry()
    before = list(Entry.objects.values())
    with (
        pytest.raises(DatabaseError, match="append-only"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(f"{keys} {attack}")
    assert list(Entry.objects.values()) == before


def test_an_address_goes_after_its_time_and_the_rest_of_the_entry_stays(db: None) -> None:
    old, young = entry(at=LONG_AGO), entry()
    assert blank_addresses(days=300) == 1
    assert blank_addresses(days=300) == 0
    kept = Entry.objects.get(pk=old.pk)
    assert (kept.address, kept.actor_name, kept.at) == (None, "mallory", LONG_AGO)
    assert Entry.objects.get(pk=young.pk).address == "192.0.2.7"
    with pytest.raises(DatabaseError), transaction.atomic():  # shut again behind itself
        Entry.objects.filter(pk=old.pk).update(address=None)


def test_the_command_removes_what_is_older_than_the_kept_time(db: None) -> None:
    old, young = entry(at=LONG_AGO), entry()
    call_command("prune_audit", verbosity=0)
    assert Entry.objects.count() == 2
    with pytest.raises(CommandError, match="at least 30 days"):
        call_command("prune_audit", "--days", "29")
    call_command("prune_audit", "--days", "300")
    assert [one.pk for one in Entry.objects.all()] == [young.pk]
    with pytest.raises(ValueError, match="at least a day"):
        blank_addresses(days=0)
    assert remove_entries(days=300) == 0
    assert old.pk


def test_neither_the_act_nor_its_entry_stands_alone(admin: User, monkeypatch) -> None:
    person = User.objects.create_user("pia")
    with transaction.atomic():
        change_role(actor=admin, person=person, role=Role.RESEARCHER)
        transaction.set_rollback(True)
    person.refresh_from_db()
    assert person.role == Role.ANNOTATOR
    assert not Entry.objects.filter(action=Action.ROLE_CHANGED).exists()

    def full(*_args, **_fields):
        raise DatabaseError("the disk is full")

    with monkeypatch.context() as patched:
        patched.setattr("audit.services.Entry.objects.create", full)
        with pytest.raises(DatabaseError):
            change_role(actor=admin, person=person, role=Role.RESEARCHER)
    person.refresh_from_db()
    assert person.role == Role.ANNOTATOR


def test_an_entry_says_who_did_what_to_whom_and_from_where(admin: User) -> None:
    person = User.objects.create_user("pia")
    browser = signed_in(admin)
    reply = browser.post(
        f"/people/{person.pk}/role/", {"role": "researcher"}, REMOTE_ADDR="198.51.100.4"
    )
    made = Entry.objects.get(action=Action.ROLE_CHANGED)
    assert (made.actor, made.actor_name) == (admin, "ada")
    assert (made.subject_kind, made.subject_id) == ("user", str(person.pk))
    assert made.subject_label == "pia"
    assert made.details == {"before": "annotator", "after": "researcher"}
    assert made.address == "198.51.100.4"
    assert made.request_id == reply["X-Request-ID"]


def test_an_entry_outlives_the_account_that_made_it(admin: User) -> None:
    gone = User.objects.create_user("gone")
    record(gone, Action.EXPORTED, what="labels")
    User.objects.filter(pk=gone.pk).delete()
    assert Entry.objects.get(actor_name="gone").action == "exported"


def test_sign_ins_are_recorded_and_no_typed_secret_is(db: None) -> None:
    person = User.objects.create_user("pia", password=PASSWORD)
    browser = Client(REMOTE_ADDR="203.0.113.9")
    typed = {"login": "hunter2 in the wrong box", "password": "another secret"}
    browser.post("/accounts/login/", typed)
    browser.post("/accounts/login/", {"login": "pia", "password": "a wrong secret"})
    browser.post("/accounts/login/", {"login": "pia", "password": PASSWORD})
    browser.post("/accounts/logout/")
    made = [(one.action, one.subject_label, one.address) for one in Entry.objects.order_by("id")]
    where = "203.0.113.9"
    assert made == [
        ("sign_in_failed", "", where),
        ("sign_in_failed", "pia", where),
        ("signed_in", "pia", where),
        ("signed_out", "pia", where),
    ]
    assert "hunter2" not in str(list(Entry.objects.values()))
    assert "secret" not in str(list(Entry.objects.values()))
    assert Entry.objects.filter(actor=person).count() == 2


def test_a_job_acts_for_its_owner_under_the_id_of_the_request_that_started_it(
    admin: User, browser: Client, monkeypatch
) -> None:
    def work(progress):
        record(None, Action.RELEASE_FROZEN)
        return {}

    def start():
        enqueue(task="t", subject="s", title="t", arguments={}, owner=admin)
        return []

    monkeypatch.setattr("config.pages.overview.first_steps", start)
    request_id = browser.get("/overview/")["X-Request-ID"]
    run_job(Job.objects.get().uid, work)
    entries = Entry.objects.filter(action__in=["job_started", "release_frozen"])
    assert {(one.actor_name, one.request_id) for one in entries} == {("ada", request_id)}
    assert entries.count() == 2


@pytest.mark.parametrize("given", ["", "x", "a b c d e f g h", "<script>alert", "a" * 65])
def test_a_request_id_is_taken_from_a_trusted_front_alone(
    db: None, client: Client, settings, given: str
) -> None:
    sent = {"X-Request-ID": "0f3c-from-the-front"}
    assert client.get("/releases/", headers=sent)["X-Request-ID"] != sent["X-Request-ID"]
    settings.BEHIND_PROXY = True
    assert client.get("/releases/", headers=sent)["X-Request-ID"] == sent["X-Request-ID"]
    made = client.get("/releases/", headers={"X-Request-ID": given})["X-Request-ID"]
    assert made != given
    assert len(made) == 24


@pytest.mark.parametrize("path", ["/audit/", "/audit/entries.csv"])
@pytest.mark.parametrize("role", [Role.ANNOTATOR, Role.RESEARCHER])
def test_admins_alone_read_the_log(db: None, path: str, role: Role) -> None:
    assert Client().get(path).status_code == 302
    assert signed_in(User.objects.create_user("pia", role=role)).get(path).status_code == 403


def test_the_page_shows_entries_by_person_action_subject_and_day(browser: Client) -> None:
    entry(actor_name="pia", subject_kind="campaign", subject_label="Winter coats", subject_id="41")
    shoes = {"subject_kind": "catalog", "subject_label": "Shoes"}
    entry(actor_name="max", action="catalog_deleted", at=LONG_AGO, **shoes)
    day = f"{LONG_AGO:%Y-%m-%d}"
    for query, shown, hidden in (
        ({"actor": "pia"}, "Winter coats", "Shoes"),
        ({"action": "catalog_deleted"}, "Shoes", "Winter coats"),
        ({"subject": "winter"}, "Winter coats", "Shoes"),
        ({"subject": "41"}, "Winter coats", "Shoes"),
        ({"since": day, "until": day}, "Shoes", "Winter coats"),
        ({"actor": "nobody"}, "No such entry", "Shoes"),
    ):
        page = browser.get("/audit/", query).content.decode()
        assert shown in page, query
        assert hidden not in page, query


def test_the_page_goes_on_by_key_and_misses_nothing(browser: Client) -> None:
    made = {entry(subject_label=f"subject-{n:03}").pk for n in range(120)}
    seen, before = [], None
    while True:
        context = browser.get("/audit/", {"before": before} if before else {}).context
        seen += [one.pk for one in context["entries"]]
        before = context["next"]
        if before is None:
            break
        entry()  # what comes meanwhile moves nothing
    assert len(seen) == len(set(seen))
    assert made <= set(seen)


@pytest.mark.parametrize(
    "query",
    [
        {"since": "yesterday"},
        {"action": "'; drop table audit_entry"},
        {"before": "9" * 30},
        {"before": "-1"},
        {"until": "0000-00-00"},
    ],
)
def test_a_filter_that_cannot_be_read_is_refused_in_words(browser: Client, query) -> None:
    page = browser.get("/audit/", query)
    assert page.status_code == 422
    assert b'role="alert"' in page.content
    assert browser.get("/audit/entries.csv", query).status_code == 302


def test_the_earliest_and_the_last_day_can_be_asked_for(browser: Client) -> None:
    query = {"since": "0001-01-01", "until": "9999-12-31"}
    assert browser.get("/audit/", query).status_code == 200


def test_no_cell_of_the_download_runs_as_a_formula(browser: Client) -> None:
    entry(actor_name="=cmd()", subject_label="+1", details={"@SUM": "\t=1"})
    reply = browser.get("/audit/entries.csv")
    assert reply.streaming
    rows = list(csv.DictReader(io.StringIO(reply.getvalue().decode())))
    cells = [cell for row in rows for cell in row.values()]
    assert "'=cmd()" in cells
    assert not [cell for cell in cells if cell[:1] in {"=", "+", "-", "@", "\t"}]
    assert Entry.objects.latest("id").details["what"] == "audit log"  # that one is on record, too


def test_the_download_holds_what_the_filters_leave(browser: Client) -> None:
    entry(actor_name="pia")
    entry(actor_name="max")
    reply = browser.get("/audit/entries.csv", {"actor": "pia"})
    rows = list(csv.DictReader(io.StringIO(reply.getvalue().decode())))
    assert [row["actor"] for row in rows] == ["pia"]


def test_the_api_tells_admins_with_the_scope_for_it(admin: User) -> None:
    def call(person: User, *scopes: Scope) -> Caller:
        return Caller(person, create_token(owner=person, name="t", scopes=scopes, days=1)[1])

    entry(actor_name="pia", subject_label="Coats")
    told = call(admin, Scope.AUDIT).get("/audit", actor="pia")
    assert [(one["actor"], one["subject"], one["address"]) for one in told["items"]] == [
        ("pia", "Coats", "192.0.2.7")
    ]
    first = call(admin, Scope.AUDIT).get("/audit", limit=1)
    second = call(admin, Scope.AUDIT).get("/audit", limit=1, after=first["next"])
    assert first["items"][0]["id"] > second["items"][0]["id"]
    assert call(admin, Scope.READ).get("/audit", 403)["code"] == "missing_scope"
    demoted = call(admin, Scope.AUDIT)
    User.objects.filter(pk=admin.pk).update(role=Role.RESEARCHER)
    assert demoted.get("/audit", 403)["code"] == "forbidden"


def test_an_export_in_parts_is_one_line_also_where_the_first_part_is_left_out(admin: User) -> None:
    def lines_of(*parts: str) -> int:
        before = Entry.objects.count()
        for after in parts:
            caller.get("/audit", after=after)
        return Entry.objects.count() - before

    token = create_token(owner=admin, name="t", scopes=[Scope.AUDIT], days=1)[1]
    caller, forged = Caller(admin, token), make_cursor([2**62])
    assert lines_of(forged, forged) == 1
    assert lines_of("", forged) == 1


def test_the_log_says_what_the_pages_of_people_say_of_an_account() -> None:
    assert Action.ACCOUNT_CLOSED.words == "Account deactivated"
    assert Action.ACCOUNT_OPENED.words == "Account reactivated"
    assert Action.ROLE_CHANGED.words == "Role changed"


@pytest.mark.parametrize("is_on", [True, False])
def test_entries_go_into_the_log_once_their_act_is_committed(
    admin, settings, caplog, django_capture_on_commit_callbacks, is_on: bool
) -> None:
    settings.AUDIT_LOG = is_on
    with caplog.at_level("INFO", logger="audit"), django_capture_on_commit_callbacks() as after:
        entry = record(admin, Action.SIGNED_IN, admin, note="two\nlines")
        assert caplog.records == []
    for callback in after:
        callback()
    lines = [json.loads(one.getMessage()) for one in caplog.records if one.name == "audit"]
    assert len(lines) == int(is_on)
    for line in lines:
        assert (line["id"], line["action"]) == (entry.pk, Action.SIGNED_IN.value)
        assert line["details"] == {"note": "two\nlines"}
        assert "\n" not in caplog.records[-1].getMessage()


def test_a_refused_access_is_recorded_and_a_flood_is_bounded(db: None, monkeypatch) -> None:
    monkeypatch.setattr("audit.services.MOST_REFUSALS", 3)
    person = User.objects.create_user("pia", role=Role.ANNOTATOR)
    judge = signed_in(person)
    assert judge.get("/audit/").status_code == 403
    assert judge.get("/api/v1/audit").status_code == 403
    first, second = Entry.objects.filter(action=Action.ACCESS_REFUSED).order_by("id")
    assert (first.actor, first.details) == (person, {"method": "GET", "path": "/audit/"})
    assert second.details["path"] == "/api/v1/audit"
    for _ in range(5):
        judge.get("/audit/")
    assert Entry.objects.filter(action=Action.ACCESS_REFUSED).count() == 3


def test_lists_of_images_and_comments_read_by_the_api_are_recorded(admin: User) -> None:
    catalog = make_catalog(n=6)
    a, b, *_ = catalog.images.all()
    judge = User.objects.create_user("pia", role=Role.ANNOTATOR)
    create_campaign(name="Coats", slug="coats", pairs=[(a.pk, b.pk)], panel=[judge])
    browser = signed_in(admin)
    assert browser.get(f"/api/v1/catalogs/{catalog.slug}/images?limit=2").status_code == 200
    assert browser.get("/api/v1/campaigns/coats/comments").status_code == 200
    exported = Entry.objects.filter(action=Action.EXPORTED).order_by("id")
    assert [one.details["what"] for one in exported] == ["images", "comments"]
