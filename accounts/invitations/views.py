"""The page that invites many people at once."""

from __future__ import annotations

from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from accounts.access import admin_required, signed_in
from accounts.forms import roles_to_give
from accounts.invitations.lines import MAX_LINES, Line, parse_lines
from accounts.invitations.services import Outcome, invite_people
from accounts.languages import choices
from accounts.models import Role, User
from accounts.sign_in.addresses import site_address


class InvitationsForm(forms.Form):
    """A list of people, and what they shall be."""

    people = forms.CharField(
        max_length=50_000,
        widget=forms.Textarea(attrs={"rows": 10, "spellcheck": "false", "class": "mono"}),
        help_text="One in each line: ada@example.org, Ada Lovelace &lt;ada@example.org&gt;, or "
        "ada, ada@example.org to choose the user name. A user name alone is enough: then hand "
        "over the link yourself.",
    )
    role = forms.ChoiceField()
    language = forms.ChoiceField(required=False, help_text="Of the mail and of their pages.")
    sends_mail = forms.BooleanField(required=False, label="Send each link by email")

    def __init__(self, *args: Any, actor: User, role: Role | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["role"].choices = roles_to_give(actor)  # type: ignore[attr-defined]
        if role is not None:
            del self.fields["role"]
        unset = ("", "As the browser asks")
        self.fields["language"].choices = [unset, *choices()]  # type: ignore[attr-defined]

    def clean_people(self) -> list[Line]:
        """Return the lines, of which there are not too many."""
        lines = parse_lines(self.cleaned_data["people"])
        if len(lines) > MAX_LINES:
            raise forms.ValidationError(f"{len(lines)} lines; at most {MAX_LINES} at once.")
        return lines


@admin_required
def invite_many(request: HttpRequest) -> HttpResponse:
    """Invite the people of a list to a role."""
    return render(request, "accounts/invite_many.html", take_invitations(request))


def take_invitations(request: HttpRequest, role: Role | None = None) -> dict[str, Any]:
    """Invite the people of a list, if one is sent; return what its page shows.

    Each line's link is shown once, and the refused are kept to be corrected.

    Args:
        request: of an admin.
        role: of all of them; None: as the form says.
    """
    actor = signed_in(request)
    form = InvitationsForm(request.POST or None, actor=actor, role=role)
    invited: list[Outcome] = []
    refused: list[Outcome] = []
    if request.method == "POST" and form.is_valid():
        asked = form.cleaned_data
        for outcome in invite_people(
            actor=actor,
            lines=asked["people"],
            role=role or Role(asked["role"]),
            site=site_address(request),
            sends_mail=asked["sends_mail"],
            language=asked["language"],
        ):
            (refused if outcome.person is None else invited).append(outcome)
        left = "\n".join(outcome.line.text for outcome in refused)
        form = InvitationsForm(initial={**asked, "people": left}, actor=actor, role=role)
    return {"form": form, "invited": invited, "refused": refused}
