"""What a form says when a service refuses what it asks for."""

from __future__ import annotations

import re

from django.forms import BaseForm

from lookalike.core.errors import Refused


def add_refusal(form: BaseForm, problem: Refused) -> None:
    """Say why at the field that is wrong, or above the form where it has no such field."""
    field = problem.field if problem.field in form.fields else None
    form.add_error(field, sentence(problem.message))


def sentence(message: str) -> str:
    """Return what commands say behind a field's name as a sentence; names stay as they are.

    >>> sentence("name at least one model."), sentence("timm:vit is named twice.")
    ('Name at least one model.', 'timm:vit is named twice.')
    """
    return message[:1].upper() + message[1:] if re.match(r"[a-z]{2,},? ", message) else message
