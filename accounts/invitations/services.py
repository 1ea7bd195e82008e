"""Invite the people of a list; one bad line keeps nobody else out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from accounts.forms import InvitationForm
from accounts.invitations.lines import Line
from accounts.models import Role, User
from accounts.services import invite_person, mail_password_link, password_link
from lookalike.core.errors import Refused


@dataclass(frozen=True)
class Outcome:
    """What became of a line.

    Attributes:
        line: as it was given.
        person: the new account, None where it was refused.
        problem: why it was refused, or why no mail went out.
        link: with which the person chooses a password, once.
        is_mailed: whether it went to the address.
    """

    line: Line
    person: User | None = None
    problem: str = ""
    link: str = ""
    is_mailed: bool = False


def invite_people(
    *,
    actor: User,
    lines: Iterable[Line],
    role: Role,
    site: str,
    sends_mail: bool,
    language: str = "",
) -> list[Outcome]:
    """Make an account for each line that can have one, and a link for each account.

    After the first mail that cannot be sent no other is tried: a mail server that hangs would
    hold up the page for every line.

    Raises:
        PermissionDenied: the actor may not invite, or not to this role.
    """
    outcomes = []
    for line in lines:
        outcome = _invited(actor, line, role, site, language)
        if sends_mail and outcome.person is not None and outcome.person.email:
            outcome = _mailed(outcome, outcome.person)
            sends_mail = outcome.is_mailed
        outcomes.append(outcome)
    return outcomes


def _invited(actor: User, line: Line, role: Role, site: str, language: str) -> Outcome:
    fields = {
        "username": line.username or free_username(line.stem),
        "email": line.email,
        "first_name": line.first_name,
        "last_name": line.last_name,
        "role": role,
        "language": language,
    }
    form = InvitationForm(fields, actor=actor)
    if not form.is_valid():
        problems = [str(error) for errors in form.errors.values() for error in errors]
        return Outcome(line, problem=" ".join(problems))
    asked = {name: form.cleaned_data[name] for name in fields if name != "role"}
    person = invite_person(actor=actor, role=role, **asked)
    return Outcome(line, person, link=password_link(actor=actor, person=person, site=site))


def free_username(stem: str) -> str:
    """Return a user name that nobody has: the stem, or it with a number behind."""
    taken = {
        name.lower()
        for name in User.objects.filter(username__istartswith=stem).values_list(
            "username", flat=True
        )
    }
    number, name = 2, stem
    while name.lower() in taken:
        name, number = f"{stem}-{number}", number + 1
    return name


def _mailed(outcome: Outcome, person: User) -> Outcome:
    try:
        mail_password_link(person=person, link=outcome.link)
    except Refused as problem:
        return replace(outcome, problem=str(problem))
    return replace(outcome, is_mailed=True)
