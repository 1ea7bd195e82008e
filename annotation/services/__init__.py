"""The only writers of this app; see each module for what it raises."""

from annotation.services.answers import record_answers
from annotation.services.campaigns import (
    add_members,
    add_questions,
    close_campaign,
    create_campaign,
    open_campaign,
    pause_campaign,
)
from annotation.services.imports import import_judgements
from annotation.services.leases import claim_questions, reap_leases
from annotation.services.preferences import save_preference
from annotation.services.reconciling import reconcile
from annotation.services.stages import admit

__all__ = [
    "add_members",
    "add_questions",
    "admit",
    "claim_questions",
    "close_campaign",
    "create_campaign",
    "import_judgements",
    "open_campaign",
    "pause_campaign",
    "reap_leases",
    "reconcile",
    "record_answers",
    "save_preference",
]
