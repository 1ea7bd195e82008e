"""What the panel left open: how many said what, and never who."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import Case, Count, Exists, F, OuterRef, Q, QuerySet, When
from django.db.models.functions import Abs

from annotation.models import (
    Adjudication,
    Answer,
    Campaign,
    CampaignState,
    EntryState,
    Judgement,
    Question,
    QuestionKind,
    QueueEntry,
    Reason,
    Serving,
    Stage,
)
from annotation.queries.choices import standing_answers, subject_of
from annotation.queries.kept import kept_of_each
from annotation.queries.numbers import members_at_work
from annotation.queries.prepared import rows_of
from annotation.task_kinds import Subject

# What `contested` says of pairs that have two answers and wait for no lease, of many campaigns.
CONTESTED = """
with voted as (
    select j.question_id,
        count(*) filter (where j.is_counted and j.answer ^@ 'similar') as n_similar,
        count(*) filter (where j.is_counted and j.answer ^@ 'different') as n_different,
        count(*) filter (where j.answer in ('cant_tell', 'skip') and not j.is_excluded) as n_unsure
    from annotation_judgement j
    where j.member_id in (select id from annotation_panelmember
                          where campaign_id = any(%s::bigint[]))
    group by 1
)
select q.campaign_id, q.id
from voted v join annotation_question q on q.id = v.question_id
join annotation_campaign c on c.id = q.campaign_id
where q.campaign_id = any(%s::bigint[]) and q.kind = 'pair'
  and (least(n_similar, n_different) > 0 or n_unsure > 0)
  and (n_similar = n_different or not %s)
  and not exists (select from annotation_adjudication a where a.question_id = q.id)
  and (c.state = 'closed' or not exists (
      select from annotation_queueentry e join annotation_panelmember m on m.id = e.member_id
      where e.question_id = q.id and e.state = 'open'
        and m.is_active and not m.is_paused and m.stage <> 'not_qualified'))
order by abs(n_similar - n_different), sign(n_similar) + sign(n_different) desc, q.id
"""


@dataclass(frozen=True)
class OpenCase:
    """A question to rule on; `votes` are the answers by how many gave them."""

    question: Question
    subject: Subject | None
    votes: Counter[str]
    counts: list[tuple[str, int]]
    reasons: list[tuple[str, int]]


def contested(campaign: Campaign, *, only_undecided: bool = False) -> QuerySet[Question]:
    """Return the finished pairs without a ruling on which judges disagree or could not tell.

    Finished: the campaign is closed, or no judge at work has the pair in an open queue, nor could
    still be lent it. The closest votes come first.

    Args:
        campaign: whose pairs.
        only_undecided: leave out pairs in which one answer has more votes.
    """
    if campaign.kind.is_choice:
        return _without_answer(campaign)
    votes = Q(judgements__is_counted=True)
    n_said: Any = Count("judgements__answer", filter=votes, distinct=True)
    if not campaign.kind.scale:  # two answers can be counted without sorting each pair's votes
        said = Q(n_similar__gt=0), Q(n_different__gt=0)
        n_said = Case(When(said[0] & said[1], then=2), When(said[0] | said[1], then=1), default=0)
    questions = (
        _finished(campaign)
        .annotate(
            n_similar=Count(
                "judgements", filter=votes & Q(judgements__answer__startswith=Answer.SIMILAR)
            ),
            n_different=Count(
                "judgements", filter=votes & Q(judgements__answer__startswith=Answer.DIFFERENT)
            ),
            n_said=n_said,
            n_unsure=Count(
                "judgements",
                filter=Q(
                    judgements__answer__in=[Answer.CANT_TELL, Answer.SKIP],
                    judgements__is_excluded=False,
                ),
            ),
        )
        .filter(Q(n_said__gt=1) | Q(n_unsure__gt=0))
        .order_by(Abs(F("n_similar") - F("n_different")), "-n_said", "pk")
    )
    return questions.filter(n_similar=F("n_different")) if only_undecided else questions


def contested_ids(campaign: Campaign, *, only_undecided: bool = False) -> list[int]:
    """Return the ids of the contested pairs in their order: those of `contested`."""
    return contested_by_campaign([campaign], only_undecided=only_undecided)[campaign.pk]


def contested_by_campaign(
    campaigns: Iterable[Campaign], *, only_undecided: bool = False
) -> dict[int, list[int]]:
    """Return the same of several campaigns, by their ids.

    They are kept while nothing changes. Where pairs are lent, a lease that runs out changes them
    too, so they are looked up each time.
    """

    def find(campaign: Campaign) -> list[int]:
        return list(contested(campaign, only_undecided=only_undecided).values_list("pk", flat=True))

    def find_all(ids: list[int]) -> dict[int, list[int]]:
        plain = [pk for pk in ids if not (by_id[pk].kind.is_choice or by_id[pk].kind.scale)]
        ids_of: dict[int, list[int]] = {pk: [] for pk in plain}
        for pk, question in rows_of(CONTESTED, plain, plain, only_undecided) if plain else []:
            ids_of[pk].append(question)
        return ids_of | {pk: find(by_id[pk]) for pk in ids if pk not in ids_of}

    by_id: dict[int, Campaign] = {}
    found: dict[int, list[int]] = {}
    for campaign in campaigns:
        if campaign.serving == Serving.K_OF_N and campaign.state != CampaignState.CLOSED:
            found[campaign.pk] = find(campaign)
        else:
            by_id[campaign.pk] = campaign
    return found | kept_of_each(by_id, f"contested {only_undecided}", find_all)


def _without_answer(campaign: Campaign) -> QuerySet[Question]:
    """Return the finished questions that were answered and came to nothing, in their order."""
    answers = standing_answers(campaign)
    n_panel = votes_wanted(campaign)
    undecided = [
        pk
        for pk, given in answers.items()
        if not campaign.kind.consensus(given, max(n_panel, len(given)), campaign.tie_rule).answer
    ]
    skipped = campaign.questions.filter(judgements__answer=Answer.SKIP).exclude(pk__in=answers)
    ids = {*undecided, *skipped.values_list("pk", flat=True)}
    return _finished(campaign).filter(pk__in=ids).order_by("position", "pk")


def votes_wanted(campaign: Campaign) -> int:
    """Return how many votes a question is to have: k, or those of the whole panel."""
    if campaign.serving == Serving.K_OF_N:
        return campaign.k
    return campaign.panel.exclude(stage=Stage.NOT_QUALIFIED).filter(is_active=True).count()


def finished_ids(campaign: Campaign) -> set[int]:
    """Return the ids of the panel's questions that nobody is going to judge any more."""
    ruled = Adjudication.objects.filter(question__campaign=campaign)
    return {
        *_finished(campaign).values_list("pk", flat=True),
        *ruled.values_list("question_id", flat=True),
    }


def has_open_pair(campaign: Campaign) -> bool:
    """Return whether a judge at work has a pair without a ruling to answer: the first one tells.

    Cheap where `finished_ids` is not. If none has, pairs may still wait to be lent.
    """
    entries = QueueEntry.objects.filter(
        member__in=members_at_work(campaign), state=EntryState.OPEN,
        question__kind=QuestionKind.PAIR, question__adjudication__isnull=True,
    )  # fmt: skip
    return entries.exists()


def _finished(campaign: Campaign) -> QuerySet[Question]:
    """Return the pairs without a ruling that nobody is going to judge any more."""
    pairs = campaign.questions.filter(kind=QuestionKind.PAIR, adjudication__isnull=True)
    if Campaign.objects.filter(pk=campaign.pk, state=CampaignState.CLOSED).exists():
        return pairs
    members = list(members_at_work(campaign).values_list("pk", flat=True))
    entries = QueueEntry.objects.filter(question=OuterRef("pk"), member__in=members)
    pairs = pairs.filter(~Exists(entries.filter(state=EntryState.OPEN)))
    if campaign.serving == Serving.EVERYONE:
        return pairs
    # a pair is lent once to each judge, again only after the lease ran out
    had = entries.exclude(state=EntryState.EXPIRED).order_by().values("question")
    n_had = had.annotate(n=Count("pk")).values("n")
    return pairs.filter(Q(n_free=0) | Q(Exists(n_had.filter(n__gte=len(members)))))


def next_case(campaign: Campaign, *, only_undecided: bool, skipped: int = 0) -> OpenCase | None:
    """Return the first contested pair behind the skipped ones, or None if none is left."""
    ids = contested_ids(campaign, only_undecided=only_undecided)
    if not 0 <= skipped < len(ids):
        return None
    question = Question.objects.select_related("query", "candidate").get(pk=ids[skipped])
    judgements = Judgement.objects.filter(question=question, is_excluded=False)
    votes = Counter(judgements.values_list("answer", flat=True))
    reasons = Counter(judgements.exclude(event__reason="").values_list("event__reason", flat=True))
    subject = subject_of(campaign, question)
    own = sorted(votes.keys() - set(Answer), key=lambda answer: (-votes[answer], answer))
    said = [answer.value for answer in Answer if votes[answer]]
    return OpenCase(
        question,
        subject,
        votes,
        [(campaign.kind.words(answer, subject), votes[answer]) for answer in [*own, *said]],
        [(reason.label, reasons[reason]) for reason in Reason if reason and reasons[reason]],
    )


def rulings(campaign: Campaign) -> QuerySet[Adjudication]:
    """Return the rulings made, newest first."""
    return Adjudication.objects.filter(question__campaign=campaign).order_by("-decided_at", "-pk")
