"""Make campaigns, choose their panel, add questions, and open, pause or close them."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
from django.db import IntegrityError, transaction
from django.utils.text import slugify

from accounts.models import User
from annotation.bulk import copy_rows
from annotation.errors import CampaignError, ChangedMeanwhileError
from annotation.models import (
    AskingOrder,
    Campaign,
    CampaignState,
    Guideline,
    PanelMember,
    Question,
    QuestionKind,
    Serving,
    StateChange,
    TieRule,
)
from annotation.notions import AskedNotion
from annotation.order.ordering import shuffled_by_query, shuffled_in_phases
from annotation.services.guidelines import find_pictures
from annotation.services.serving.queues import mix_in_questions, prepare_member, prepare_questions
from annotation.services.settling import lock_panel, recount_pairs
from annotation.task_kinds import PAIR
from audit.actions import Action
from audit.services import record
from catalog.models import Image
from lookalike.agreement.grades import Scale
from lookalike.core.arrays import Ints

MAX_PANEL = 500
MAX_PHASES = 16
AS_A_WHOLE = AskedNotion()


class Pair(NamedTuple):
    """A pair, or with a subject what the campaign's kind of task asks about."""

    query_id: int
    candidate_id: int
    subject: int = 0


Asked = tuple[int, int] | Pair
Seen = tuple[str, Callable[[Campaign], str]]
STEPS = {
    CampaignState.DRAFT: {CampaignState.OPEN},
    CampaignState.OPEN: {CampaignState.PAUSED, CampaignState.CLOSED},
    CampaignState.PAUSED: {CampaignState.OPEN, CampaignState.CLOSED},
    CampaignState.CLOSED: {CampaignState.OPEN},
}
MOVES = {
    CampaignState.OPEN: Action.CAMPAIGN_OPENED,
    CampaignState.PAUSED: Action.CAMPAIGN_PAUSED,
    CampaignState.CLOSED: Action.CAMPAIGN_CLOSED,
}


@transaction.atomic
def create_campaign(
    *,
    name: str,
    slug: str,
    pairs: Iterable[Asked],
    panel: Sequence[User],
    phases: Sequence[int] | None = None,
    task_kind: str = PAIR,
    scale: Scale | None = None,
    tie_rule: str = TieRule.NEGATIVE,
    serving: str = Serving.EVERYONE,
    k: int = 3,
    seed: int = 0,
    guidelines: str = "",
    notion: AskedNotion = AS_A_WHOLE,
    owner: User | None = None,
) -> Campaign:
    """Store a campaign as a draft with its questions and its panel.

    Args:
        pairs: (query image id, candidate image id), in any order; the order is not kept. Of
            another kind of task: with the subject.
        panel: the judges, all of them annotators.
        phases: of each pair, from 0; lower ones are asked first. Without them every judge's
            order is shuffled as a whole, and else within each phase.
        task_kind: one that is registered.
        scale: grades for pairs; None: a pair is similar or different.
        guidelines: markdown, becomes version 1.
        notion: in what pictures are compared; of pairs alone.

    Raises:
        CampaignError: the slug is taken or not a slug, a pair is repeated or joins an image to
            itself or names an unknown image, there is no pair or no judge, a judge is not an
            annotator, k does not fit the panel, or the phases do not fit the pairs.
    """
    if slugify(slug) != slug:
        raise CampaignError(f"“{slug}” is not a slug; try “{slugify(slug) or 'campaign-1'}”.")
    if tie_rule not in TieRule.values or serving not in Serving.values:
        raise CampaignError(f"Unknown rule: {tie_rule!r} / {serving!r}.")
    if serving == Serving.K_OF_N and not 1 <= k <= len(panel):
        raise CampaignError(f"k = {k} judges cannot be had from a panel of {len(panel)}.")
    if not panel:
        raise CampaignError("A campaign needs at least one judge.")
    try:
        with transaction.atomic():
            campaign = Campaign.objects.create(
                name=name, slug=slug, tie_rule=tie_rule, serving=serving, k=k, seed=seed,
                owner=owner, task_kind=task_kind,
                **({"grades": "\n".join(scale.words), "similar_from": scale.similar_from}
                   if scale else {}),
                notion=notion.name, notion_model=notion.model,
                notion_prompts="\n".join(notion.prompts),
                asking_order=AskingOrder.SHUFFLED if phases is None else AskingOrder.PHASES,
            )  # fmt: skip
    except IntegrityError:
        raise CampaignError(f"There is a campaign “{slug}” already.") from None
    record(owner, Action.CAMPAIGN_MADE, campaign, slug=slug)
    first = Guideline.objects.create(campaign=campaign, version=1, text=guidelines, author=owner)
    if not add_questions(campaign=campaign, pairs=pairs, phases=phases):
        raise CampaignError("A campaign needs at least one pair.")
    if pictures := find_pictures(campaign, guidelines):
        first.pictures = pictures
        first.save(update_fields=["pictures"])
    add_members(campaign=campaign, annotators=panel)
    campaign.refresh_from_db()
    return campaign


@transaction.atomic
def add_questions(
    *, campaign: Campaign, pairs: Iterable[Asked], phases: Sequence[int] | None = None
) -> int:
    """Add pairs to a campaign, mixed into its judges' queues; return how many are new.

    Pairs that the campaign has already are left alone, so a top-up may overlap. Where a campaign
    is asked in phases, pairs that come without any get one by chance, so that a judge who joins
    later finds them anywhere too.

    Raises:
        CampaignError: the campaign is closed, a pair is repeated or joins an image to itself
            or names an unknown image, or the phases do not fit the pairs.
    """
    campaign = Campaign.objects.select_for_update(no_key=True).get(pk=campaign.pk)
    if campaign.state == CampaignState.CLOSED:
        raise CampaignError(f"{campaign} is closed; open it again before adding pairs.")
    asked = campaign.questions.filter(kind=QuestionKind.PAIR)
    known = set(asked.values_list(*Pair._fields))
    new_pairs = _checked(pairs)
    fresh = np.array([pair for pair in new_pairs if pair not in known], np.int64).reshape(-1, 3)
    if not fresh.size:
        return 0
    first = campaign.n_questions
    _write_questions(campaign, fresh, _phase_of(campaign, new_pairs, phases))
    campaign.n_questions = first + len(fresh)
    campaign.save(update_fields=["n_questions"])
    record(None, Action.QUESTIONS_ADDED, campaign, n=len(fresh))
    if campaign.state != CampaignState.DRAFT:
        mix_in_questions(campaign=campaign, first_position=first)
    return len(fresh)


def _write_questions(campaign: Campaign, pairs: Ints, phase_of: dict[Pair, int]) -> None:
    """Store pairs, shape (n, 3), in a shuffled order; positions follow the phases, if any."""
    first = campaign.n_questions
    rng = np.random.default_rng([campaign.seed, first])
    pairs = pairs[shuffled_by_query(pairs[:, 0], rng)]
    positions = np.arange(len(pairs))
    phases = np.zeros(len(pairs), np.int64)
    if campaign.asking_order == AskingOrder.PHASES:
        phases = _phases(campaign, pairs, phase_of, rng)
        positions[shuffled_in_phases(pairs[:, 0], phases, rng)] = np.arange(len(pairs))
    n_free = campaign.k if campaign.serving == Serving.K_OF_N else 0
    copy_rows(
        Question,
        ("uid", "campaign_id", "query_id", "candidate_id", "subject", "kind", "position", "phase",
         "n_counted", "n_free", "is_settled"),
        (
            (uuid.uuid4(), campaign.pk, query, candidate, subject, QuestionKind.PAIR.value,
             first + position, phase, 0, n_free, False)
            for (query, candidate, subject), position, phase in zip(
                pairs.tolist(), positions.tolist(), phases.tolist(), strict=True
            )
        ),
    )  # fmt: skip


def _phase_of(
    campaign: Campaign, pairs: Sequence[Pair], phases: Sequence[int] | None
) -> dict[Pair, int]:
    """Return the phase of each pair, none where none are given."""
    if phases is None:
        return {}
    if campaign.asking_order != AskingOrder.PHASES:
        raise CampaignError(f"{campaign} is asked in one shuffled order; it has no phases.")
    if len(phases) != len(pairs) or not all(0 <= phase < MAX_PHASES for phase in phases):
        raise CampaignError(
            f"{len(pairs)} pairs need as many phases, each from 0 to {MAX_PHASES - 1}."
        )
    return dict(zip(pairs, phases, strict=True))


def _phases(
    campaign: Campaign, pairs: Ints, phase_of: dict[Pair, int], rng: np.random.Generator
) -> Ints:
    """Return the phase of each new pair: as given, else as that of a pair drawn by chance."""
    if phase_of:
        return np.array([phase_of[Pair(*pair)] for pair in pairs.tolist()])
    asked = campaign.questions.filter(kind=QuestionKind.PAIR).order_by("id")
    return rng.choice(np.array(list(asked.values_list("phase", flat=True))), len(pairs))


def _checked(pairs: Iterable[Asked]) -> list[Pair]:
    """Return the pairs, or say which of them cannot be asked."""
    listed = [Pair(*pair) for pair in pairs]
    unique = set(listed)
    if len(unique) < len(listed):
        [(repeated, _)] = Counter(listed).most_common(1)
        raise CampaignError(f"The pair {repeated[:2]} is given twice.")
    selves = [pair.query_id for pair in unique if pair.query_id == pair.candidate_id]
    if selves:
        raise CampaignError(f"Image {selves[0]} is paired with itself.")
    ids = {image_id for pair in unique for image_id in pair[:2]}
    known = set(Image.objects.filter(pk__in=ids).values_list("pk", flat=True))
    if ids - known:
        raise CampaignError(f"Unknown images: {sorted(ids - known)[:5]}.")
    return listed


@transaction.atomic
def add_members(*, campaign: Campaign, annotators: Sequence[User]) -> list[PanelMember]:
    """Put annotators on the panel; those who are on it already are left alone.

    Raises:
        CampaignError: somebody is not an annotator (and so need not stay blind), or the panel
            would be too large.
    """
    seeing = [str(user) for user in annotators if not user.is_annotator]
    if seeing:
        raise CampaignError(
            f"{', '.join(seeing)}: only annotators may judge, others see what models propose."
        )
    campaign = Campaign.objects.select_for_update(no_key=True).get(pk=campaign.pk)
    present = set(campaign.panel.values_list("annotator_id", flat=True))
    fresh = list({user.pk: user for user in annotators if user.pk not in present}.values())
    if len(present) + len(fresh) > MAX_PANEL:
        raise CampaignError(f"A panel has at most {MAX_PANEL} judges.")
    members = [
        PanelMember.objects.create(campaign=campaign, annotator=user, number=number)
        for number, user in enumerate(fresh, start=len(present) + 1)
    ]
    if fresh:
        names = [user.get_username() for user in fresh]
        record(None, Action.PANEL_ADDED, campaign, judges=names)
    if any(user.is_simulated for user in fresh) and not campaign.is_simulated:
        campaign.is_simulated = True
        campaign.save(update_fields=["is_simulated"])
    if campaign.state != CampaignState.DRAFT:
        lock_panel(campaign.pk)
        for member in members:
            prepare_member(member=member)
        recount_pairs(campaign)
    return members


def open_campaign(
    *, campaign: Campaign, by: User | None = None, reason: str = "", seen: Seen | None = None
) -> Campaign:
    """Let judges answer; the first time, draw every judge's queue.

    Args:
        campaign: which.
        by: who opens it.
        reason: needed where it was open before.
        seen: (what the admin has confirmed, how to look it up now); None confirms anything.

    Raises:
        ChangedMeanwhileError: what was confirmed is not so any more.
        CampaignError: it is open, or has no judge.
    """
    return _move(campaign, CampaignState.OPEN, by, reason, seen)


def pause_campaign(*, campaign: Campaign, by: User | None, reason: str) -> Campaign:
    """Stop taking answers for a while.

    Raises:
        CampaignError: it is not open, or no reason is given.
    """
    return _move(campaign, CampaignState.PAUSED, by, reason)


def close_campaign(*, campaign: Campaign, by: User | None, reason: str) -> Campaign:
    """Stop taking answers for good (it can be opened again, with a reason).

    Raises:
        CampaignError: it is a draft or closed, or no reason is given.
    """
    return _move(campaign, CampaignState.CLOSED, by, reason)


@transaction.atomic
def _move(
    campaign: Campaign,
    after: CampaignState,
    by: User | None,
    reason: str,
    seen: Seen | None = None,
) -> Campaign:
    campaign = Campaign.objects.select_for_update(no_key=True).get(pk=campaign.pk)
    if seen is not None and campaign.state == CampaignState.DRAFT and seen[1](campaign) != seen[0]:
        raise ChangedMeanwhileError("Somebody has changed the campaign meanwhile; look again.")
    before = CampaignState(campaign.state)
    if after not in STEPS[before]:
        raise CampaignError(f"{campaign} is {before.label.lower()}; it cannot become {after}.")
    if before != CampaignState.DRAFT and not reason.strip():
        raise CampaignError("Say why: the reason is kept with the campaign.")
    if before == CampaignState.DRAFT:
        if not campaign.panel.exists():
            raise CampaignError("A campaign needs at least one judge.")
        prepare_questions(campaign=campaign)
    lock_panel(campaign.pk)  # answers on their way come first; those that wait here see the state
    campaign.state = after
    campaign.save(update_fields=["state"])
    StateChange.objects.create(
        campaign=campaign, before=before, after=after, reason=reason.strip()[:500], changed_by=by
    )
    record(by, MOVES[after], campaign, before=before, reason=reason.strip())
    return campaign
