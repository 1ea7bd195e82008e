"""The only writers of this app; see each module for what it raises."""

from annotation.services.campaigns import (
    add_members,
    add_questions,
    close_campaign,
    create_campaign,
    open_campaign,
    pause_campaign,
)

__all__ = [
    "add_members",
    "add_questions",
    "close_campaign",
    "create_campaign",
    "open_campaign",
    "pause_campaign",
]
