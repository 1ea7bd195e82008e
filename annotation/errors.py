"""What services of this app raise when they refuse; the message is for a person."""

from __future__ import annotations


class CampaignError(Exception):
    """The request does not fit the campaign; nothing was changed."""


class ChangedMeanwhileError(CampaignError):
    """Somebody else has changed the same thing since the form was shown."""
