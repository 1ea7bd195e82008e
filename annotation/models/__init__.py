"""Campaigns, their questions, and what the judges answered.

A question is one (query, candidate) pair put to a panel. Answers are append-only events; the
judgement that counts now is kept in the same transaction, so that an unjudged pair is the
absence of a row. This app knows nothing of the models that proposed the pairs.
"""

from annotation.models.campaigns import (
    Campaign,
    Guideline,
    PanelMember,
    Preference,
    StateChange,
)
from annotation.models.choices import (
    VOTES,
    Answer,
    AskingOrder,
    CampaignState,
    Device,
    EntryState,
    Mode,
    QuestionKind,
    Reason,
    Serving,
    Stage,
    TieRule,
)
from annotation.models.comments import MAX_COMMENT, Comment, GuidelineReading
from annotation.models.judgements import (
    Adjudication,
    Exclusion,
    Judgement,
    JudgementEvent,
)
from annotation.models.questions import (
    Gold,
    Question,
    QueueEntry,
)

__all__ = [
    "MAX_COMMENT",
    "VOTES",
    "Adjudication",
    "Answer",
    "AskingOrder",
    "Campaign",
    "CampaignState",
    "Comment",
    "Device",
    "EntryState",
    "Exclusion",
    "Gold",
    "Guideline",
    "GuidelineReading",
    "Judgement",
    "JudgementEvent",
    "Mode",
    "PanelMember",
    "Preference",
    "Question",
    "QuestionKind",
    "QueueEntry",
    "Reason",
    "Serving",
    "Stage",
    "StateChange",
    "TieRule",
]
