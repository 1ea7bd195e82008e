"""Whose answers an admin should read: the signs of careless work, judge by judge."""

from __future__ import annotations

from dataclasses import dataclass

from annotation.models import Campaign, PanelMember
from annotation.queries.reviewing.judge_summaries import judge_summaries
from lookalike.agreement.careless import Flag


@dataclass(frozen=True)
class FlaggedJudge:
    """A judge with at least one sign."""

    member: PanelMember
    flags: list[Flag]


def flagged_judges(campaign: Campaign) -> list[FlaggedJudge]:
    """Return the judges with signs of careless work, in the order of the panel."""
    summaries = judge_summaries(campaign)
    panel = campaign.panel.select_related("annotator")
    return [
        FlaggedJudge(member, summary.flags)
        for member in panel
        if (summary := summaries.get(member.pk)) and summary.flags
    ]
