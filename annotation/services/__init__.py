"""The only writers of this app; see each module for what it raises."""

from annotation.services.adjudication import adjudicate, gold_from_ruling, withdraw_ruling
from annotation.services.answers import record_answers
from annotation.services.campaigns import (
    add_members,
    close_campaign,
    create_campaign,
    open_campaign,
    pause_campaign,
)
from annotation.services.comments import (
    mark_replies_seen,
    record_comments,
    reply_to_comment,
)
from annotation.services.exclusions import count_again, exclude_answers
from annotation.services.gold import add_gold, consensus_gold, remove_gold
from annotation.services.guidelines import publish_guidelines, read_guidelines
from annotation.services.imports import import_judgements
from annotation.services.questions import add_questions
from annotation.services.reconciling import reconcile
from annotation.services.serving.leases import claim_questions, reap_leases
from annotation.services.serving.stages import admit
from annotation.services.settings import (
    change_settings,
    hide_labels,
    note_stop,
    pause_judge,
    resume_judge,
    set_member_active,
)

__all__ = [
    "add_gold",
    "add_members",
    "add_questions",
    "adjudicate",
    "admit",
    "change_settings",
    "claim_questions",
    "close_campaign",
    "consensus_gold",
    "count_again",
    "create_campaign",
    "exclude_answers",
    "gold_from_ruling",
    "hide_labels",
    "import_judgements",
    "mark_replies_seen",
    "note_stop",
    "open_campaign",
    "pause_campaign",
    "pause_judge",
    "publish_guidelines",
    "read_guidelines",
    "reap_leases",
    "reconcile",
    "record_answers",
    "record_comments",
    "remove_gold",
    "reply_to_comment",
    "resume_judge",
    "set_member_active",
    "withdraw_ruling",
]
