"""Take judges' comments, and bring them the replies of admins."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import datetime

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.models import User
from annotation.answering.comments import SentComment
from annotation.answering.submissions import RejectedError
from annotation.errors import CampaignError, ChangedMeanwhileError
from annotation.models import MAX_COMMENT, Campaign, Comment, PanelMember, Question
from annotation.queries.judges import Judge, find_judge
from annotation.services.guidelines import publish_guidelines
from audit.actions import Action
from audit.services import record

MAX_OPEN = 100  # comments of one judge in one campaign that wait for a reply


@transaction.atomic
def record_comments(
    *,
    campaign_uid: uuid.UUID,
    annotator_id: int,
    comments: Sequence[tuple[uuid.UUID, SentComment | RejectedError]],
) -> tuple[Judge, list[str | RejectedError]]:
    """Store a judge's comments, or take them back, and return what became of each.

    They are taken whatever the state of the campaign: a question may come from a browser that was
    without network. The same one twice is one comment.

    Raises:
        NotOnPanelError: as `find_judge`.
    """
    judge = find_judge(campaign_uid, annotator_id, locked=True)
    results: list[str | RejectedError] = []
    for sent in (sent for _key, sent in comments):
        try:
            if isinstance(sent, RejectedError):
                raise sent
            if sent.withdraws is None:
                results.append(_store(judge, sent))
            else:
                results.append(_withdraw(judge, sent.withdraws))
        except RejectedError as problem:
            results.append(problem)
    return judge, results


def _store(judge: Judge, sent: SentComment) -> str:
    known = Comment.objects.filter(uuid=sent.uuid).first()
    if known is not None:
        if known.member_id != judge.member_id or known.text != sent.text:
            raise RejectedError("uuid_reused", _("This UUID belongs to another comment."))
        return "duplicate"
    served = Question.objects.filter(entries__member=judge.member_id, uid=sent.question)
    question_id = served.values_list("pk", flat=True).first()
    if question_id is None:
        raise RejectedError("not_served", _("This question was not given to you."))
    mine = Comment.objects.filter(member_id=judge.member_id, replied_at=None, withdrawn_at=None)
    if mine.count() >= MAX_OPEN:
        raise RejectedError(
            "too_many",
            _("{n} comments of yours wait for a reply; send this one later.").format(n=MAX_OPEN),
        )
    now = timezone.now()
    Comment.objects.create(
        uuid=sent.uuid, question_id=question_id, member_id=judge.member_id, text=sent.text,
        guideline_version=max(judge.read_version, 1), made_at=min(sent.made_at, now),
        received_at=now,
    )  # fmt: skip
    return "saved"


def _withdraw(judge: Judge, taken_back: uuid.UUID) -> str:
    mine = Comment.objects.select_for_update().filter(member_id=judge.member_id)
    comment = mine.filter(uuid=taken_back).first()
    if comment is None:
        raise RejectedError("not_current", _("There is no such comment."))
    if comment.withdrawn_at is not None:
        return "duplicate"
    if comment.replied_at is not None:
        raise RejectedError("not_current", _("An admin has replied to it already."))
    comment.withdrawn_at = timezone.now()
    comment.save(update_fields=["withdrawn_at"])
    return "saved"


@transaction.atomic
def reply_to_comment(
    *,
    campaign: Campaign,
    comment: uuid.UUID,
    reply: str,
    by: User,
    last_reply_at: datetime | None = None,
    guidelines: str | None = None,
    seen: str = "",
) -> Comment:
    """Reply to a judge, and where the reply is a rule for all, put it into the guidelines too.

    Args:
        campaign: of the comment.
        comment: its UUID.
        reply: what the judge reads; it may replace an earlier reply.
        by: who replies.
        last_reply_at: of the reply that the admin has seen, if any.
        guidelines: the text to put in force with it; None leaves them alone.
        seen: as `publish_guidelines`.

    Raises:
        ChangedMeanwhileError: another admin has replied, or changed the guidelines.
        CampaignError: no such comment, it was taken back, the reply is empty or too long, or as
            `publish_guidelines`.
    """
    found = Comment.objects.filter(question__campaign=campaign, uuid=comment).first()
    if found is None:
        raise CampaignError("There is no such comment.")
    reply = reply.strip()
    if not reply:
        raise CampaignError("Write what the judge is to read.")
    if len(reply) > MAX_COMMENT:
        raise CampaignError(
            f"A reply has at most {MAX_COMMENT:,} characters; this one has {len(reply):,}."
        )
    version = None
    if guidelines is not None:  # holds the campaign, which comes before its judges
        version = publish_guidelines(campaign=campaign, text=guidelines, by=by, seen=seen).version
    member = PanelMember.objects.select_for_update(no_key=True).get(pk=found.member_id)
    found = Comment.objects.select_related("replied_by").get(pk=found.pk)
    if found.withdrawn_at is not None:
        raise CampaignError("The judge has taken the comment back.")
    if found.replied_at != last_reply_at:
        raise ChangedMeanwhileError(
            f"{found.replied_by or 'Somebody'} has replied meanwhile: “{found.reply}”. Your reply "
            "is kept below; sent again, it takes the place of theirs."
        )
    found.reply, found.replied_by, found.replied_at = reply, by, timezone.now()
    found.seen_at, found.new_version = None, version or found.new_version
    found.save()
    _count_replies(member)
    record(by, Action.COMMENT_ANSWERED, campaign, comment=comment, reply=reply, version=version)
    return found


@transaction.atomic
def mark_replies_seen(*, annotator_id: int, comments: Sequence[uuid.UUID]) -> int:
    """Note that a judge has seen the replies to comments of theirs; return how many were new."""
    fresh = Comment.objects.filter(
        member__annotator_id=annotator_id, uuid__in=comments, replied_at__isnull=False, seen_at=None
    )
    members = PanelMember.objects.filter(pk__in=fresh.values("member")).order_by("pk")
    held = list(members.select_for_update(no_key=True))
    n = fresh.update(seen_at=timezone.now())
    for member in held:
        _count_replies(member)
    return n


def _count_replies(member: PanelMember) -> None:
    """Write down how many replies wait for a judge, whose row is held."""
    waiting = Comment.objects.filter(member=member, replied_at__isnull=False, seen_at=None)
    PanelMember.objects.filter(pk=member.pk).update(n_replies=waiting.count())
