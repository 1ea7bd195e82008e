"""Add questions to a campaign: pairs, or what its kind of task asks about."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from django.db import transaction

from annotation.bulk import copy_rows
from annotation.errors import CampaignError
from annotation.models import (
    AskingOrder,
    Campaign,
    CampaignState,
    Question,
    QuestionKind,
    Serving,
)
from annotation.order.ordering import shuffled_by_query, shuffled_in_phases
from annotation.services.serving.queues import mix_in_questions
from audit.actions import Action
from audit.services import record
from catalog.models import Image
from lookalike.core.arrays import Ints

MAX_PHASES = 16


class Pair(NamedTuple):
    """A pair, or with a subject what the campaign's kind of task asks about."""

    query_id: int
    candidate_id: int
    subject: int = 0


Asked = tuple[int, int] | Pair


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
