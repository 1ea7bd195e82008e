"""What a form says when a service refuses what it asks for."""

from __future__ import annotations

from django.forms import BaseForm

from lookalike.core.errors import Refused


def add_refusal(form: BaseForm, problem: Refused) -> None:
    """Say why at the field that is wrong, or above the form where it has no such field."""
    form.add_error(problem.field if problem.field in form.fields else None, problem.message)
