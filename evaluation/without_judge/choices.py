"""What a panel's answers to templates or triplets would come to without one judge."""

from __future__ import annotations

from dataclasses import dataclass

from annotation.models import Adjudication, PanelMember, Serving
from annotation.queries.choices import standing_answers
from annotation.queries.kept import kept
from annotation.queries.reviewing.adjudication import votes_wanted


@dataclass(frozen=True)
class ChoiceChanges:
    """How many questions have an answer of the panel, and how many would have another or none."""

    n_labels: int
    n_other: int
    n_lost: int


def choice_changes(member: PanelMember) -> ChoiceChanges:
    """Return what the answers of a campaign would be without one judge."""
    return kept(member.campaign, f"choices without {member.pk}", lambda: _changes(member))


def _changes(member: PanelMember) -> ChoiceChanges:
    now, then = _labels(member), _labels(member, is_without=True)
    return ChoiceChanges(
        n_labels=len(now),
        n_other=sum(then.get(pk, label) != label for pk, label in now.items()),
        n_lost=len(now.keys() - then.keys()),
    )


def _labels(member: PanelMember, *, is_without: bool = False) -> dict[int, str]:
    """Return what each question has come to, by its id; a ruling holds where the panel has none.

    Where everyone judges, a panel without the judge is smaller by one.
    """
    campaign = member.campaign
    everyone = campaign.serving == Serving.EVERYONE
    n_wanted = votes_wanted(campaign) - (is_without and everyone and member.is_active)
    answers = standing_answers(campaign, without=member if is_without else None)
    rulings = Adjudication.objects.filter(question__campaign=campaign)
    found = dict(rulings.values_list("question", "answer"))
    for pk, votes in answers.items():
        n_votes = max(n_wanted, len(votes))
        if answer := campaign.kind.consensus(votes, n_votes, campaign.tie_rule).answer:
            found[pk] = answer
    return found
