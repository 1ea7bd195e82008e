"""Which campaigns ask about a set."""

from __future__ import annotations

from django.db.models import QuerySet

from accounts.models import User
from annotation.models import Campaign
from annotation.queries.campaigns import campaigns_shown_to
from conditional.models import SetCampaign, TemplateSet, TripletSet


def campaigns_of(asked_set: TemplateSet | TripletSet, person: User) -> QuerySet[Campaign]:
    """Return the campaigns about a set that a reader may know, newest first."""
    about: QuerySet[SetCampaign] = asked_set.campaigns.all()
    return campaigns_shown_to(person).filter(about__in=about)
