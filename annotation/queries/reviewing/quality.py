"""What is known of each judge of a campaign, for the admin who vouches for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from annotation.models import Campaign, PanelMember
from annotation.models.choices import PICK
from annotation.queries.numbers import JudgeNumbers, numbers_of
from annotation.queries.reviewing.judge_summaries import JudgeFigures, judge_summaries
from lookalike.agreement.careless import LEAST, LEAST_CHECKS


@dataclass(frozen=True)
class JudgeQuality(JudgeFigures):
    """One judge of a campaign; `numbers` are how many answers and votes, as every page says it."""

    numbers: JudgeNumbers

    @property
    def member(self) -> PanelMember:
        """The judge."""
        return self.numbers.member

    @property
    def said(self) -> list[tuple[str, int]]:
        """How often each answer of the kind was given, in words; picks are one."""
        words = self.member.campaign.kind.answers
        picks = sum(n for answer, n in self.answers.items() if answer.startswith(PICK))
        rest = [(words[answer], n) for answer, n in self.answers.items() if answer in words]
        return [("an image", picks), *rest] if picks else rest


def signs_looked_for(judges: Sequence[JudgeQuality]) -> list[str]:
    """Return which signs of careless work some judge has answered enough to show, in words."""
    signs = {
        "faster than one can look": any(one.pace.n_timed >= LEAST for one in judges),
        "always the same": any(one.numbers.n_votes >= LEAST for one in judges),
        "against the checks": any(
            one.with_gold.n + one.with_self.n >= LEAST_CHECKS for one in judges
        ),
    }
    return [sign for sign, is_looked_for in signs.items() if is_looked_for]


def judge_qualities(campaign: Campaign) -> list[JudgeQuality]:
    """Return one row for each judge, in the order of the panel."""
    summaries = judge_summaries(campaign)
    return [
        JudgeQuality(**vars(summary.figures), numbers=numbers)
        for numbers in numbers_of(campaign).judges
        if (summary := summaries.get(numbers.member.pk))  # who was added this moment has none
    ]
