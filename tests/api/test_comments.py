"""Comments of judges over the API: read and answered by admins, by nobody twice unseen."""

from __future__ import annotations

import uuid

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import Role, Scope
from annotation.models import Campaign, Comment
from tests.clients import API, Caller

pytestmark = pytest.mark.django_db


@pytest.fixture
def asked(world) -> list[Comment]:
    """Three comments: of the first judge, of the second, and one that was taken back."""
    questions = list(world.campaign.questions.order_by("pk")[:3])
    return [
        Comment.objects.create(
            uuid=uuid.uuid4(), question=question, text="Is a hood part of the cut?" * (at == 0),
            member=world.campaign.panel.get(number=1 + at % 2), guideline_version=1,
            made_at=timezone.now(), withdrawn_at=timezone.now() if at == 2 else None,
        )
        for at, question in enumerate(questions)
    ]  # fmt: skip


def path_of(campaign: Campaign, comment: Comment | None = None) -> str:
    rest = f"/{comment.uuid}/reply" if comment else ""
    return f"/campaigns/{campaign.slug}/comments{rest}"


def reply(caller: Caller, path: str, **given: object) -> tuple[int, dict[str, object]]:
    headers = caller.headers
    found = Client().post(f"{API}{path}", given, "application/json", headers=headers)
    return found.status_code, found.json()


def test_an_admin_reads_what_judges_asked(world, asked, admin):
    path = path_of(world.campaign)
    part = admin.get(path, limit=2)
    found = part["items"] + admin.get(path, limit=2, after=part["next"])["items"]
    assert [one["uid"] for one in found] == [str(one.uuid) for one in reversed(asked)]
    assert [one["state"] for one in found] == ["withdrawn", "open", "open"]
    first = found[-1]
    assert first["text"] == "Is a hood part of the cut?"
    assert first["query"] == str(asked[0].question.query.uid)
    assert (first["judge"], first["replied_at"], first["seen_at"]) == (1, None, None)
    open_ones = admin.get(path, state="open", judge=2)["items"]
    assert [one["uid"] for one in open_ones] == [str(asked[1].uuid)]
    assert len(admin.get(path, query=first["query"])["items"]) >= 1
    assert admin.get(path, query=str(uuid.uuid4()))["items"] == []
    for wrong in ({"state": "closed"}, {"judge": 0}, {"query": "x"}):
        admin.get(path, 422, **wrong)


def test_a_reply_reaches_the_judge_and_takes_no_unseen_reply_away(world, asked, admin, caller):
    path = path_of(world.campaign, asked[0])
    status, told = reply(admin, path, reply=" No. ")
    assert (status, told["state"], told["reply"]) == (200, "answered", "No.")
    assert world.campaign.panel.get(number=1).n_replies == 1
    other = caller(Role.ADMIN, Scope.REVIEW)
    status, refused = reply(other, path, reply="Yes.")
    assert status == 409
    assert "has replied meanwhile: “No.”" in str(refused["message"])
    status, told = reply(other, path, reply="Yes.", replaces=told["replied_at"])
    assert (status, told["reply"], told["replied_by"]) == (200, "Yes.", other.person.username)


@pytest.mark.parametrize(
    ("given", "status"),
    [({"reply": "  "}, 422), ({"reply": ""}, 422), ({"reply": "x" * 1001}, 422),
     ({"reply": "a\0"}, 422), ({}, 422), ({"reply": "x", "replaces": "2026-01-01T00:00:00"}, 422)],
)  # fmt: skip
def test_what_is_no_reply_is_refused_and_changes_nothing(world, asked, admin, given, status):
    assert reply(admin, path_of(world.campaign, asked[0]), **given)[0] == status
    assert not Comment.objects.filter(replied_at__isnull=False).exists()


def test_only_admins_with_the_scope_and_only_a_campaigns_own(world, asked, admin, caller):
    path = path_of(world.campaign)
    caller(Role.RESEARCHER).get(path, 403)
    assert caller(Role.ADMIN, Scope.READ).get(path, 403)["code"] == "missing_scope"
    reader = caller(Role.ADMIN, Scope.JUDGEMENTS)
    assert reply(reader, path_of(world.campaign, asked[0]), reply="x")[0] == 403
    assert reply(admin, path_of(world.campaign, asked[2]), reply="x")[0] == 409  # taken back
    other = Campaign.objects.create(slug="other", name="Other")
    assert reply(admin, path_of(other, asked[0]), reply="x")[0] == 404
    assert admin.get(path_of(other))["items"] == []
    admin.get("/campaigns/none/comments", 404)
