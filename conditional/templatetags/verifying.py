"""What the home page of judges shows of this app; annotation itself does not know it."""

from __future__ import annotations

from django import template
from django.template import RequestContext

from accounts.models import User
from conditional.verification.queries import Queue, list_queues

register = template.Library()


@register.simple_tag(takes_context=True)
def verification_queues(context: RequestContext) -> list[Queue]:
    """Return the verifications that whoever looks at the page judges."""
    person = getattr(context.get("request"), "user", None)
    return list_queues(person.pk) if isinstance(person, User) else []
