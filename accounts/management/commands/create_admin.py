"""manage.py create_admin [NAME] [--email ADDRESS] [--password-file FILE]"""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser
from getpass import getpass
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from accounts.first_admin.services import make_admin
from accounts.forms import AdminForm

VARIABLE = "ADMIN_PASSWORD"


class Command(BaseCommand):
    help = (
        "Make an admin who may make others. What is not given is asked for; the password is taken "
        f"from --password-file, or from the variable {VARIABLE}, or asked for twice."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", nargs="?", help="user name")
        parser.add_argument("--email", help="through which a forgotten password is reset")
        parser.add_argument("--password-file", type=Path, help="its first line is the password")

    def handle(self, *args: Any, **options: Any) -> None:
        name = options["name"] or _ask(input, "User name: ", "NAME")
        email = options["email"] or _ask(input, "Email: ", "--email")
        password, again = _password(options["password_file"])
        form = AdminForm(
            {"username": name, "email": email, "password1": password, "password2": again}
        )
        if not form.is_valid():
            problems = [str(error) for errors in form.errors.values() for error in errors]
            raise CommandError(" ".join(problems))
        asked = form.cleaned_data
        person = make_admin(
            username=asked["username"],
            email=asked["email"],
            password=password,
            how="manage.py create_admin",
        )
        self.stdout.write(f"{person.username} is an admin and may sign in.")


def _ask(how: Any, question: str, option: str) -> str:
    if not sys.stdin.isatty():
        raise CommandError(f"Give {option}: nobody is there to be asked.")
    return str(how(question)).strip()


def _password(path: Path | None) -> tuple[str, str]:
    """Return the password, and the password as it was repeated."""
    if path is not None:
        try:
            first = path.read_text().partition("\n")[0]
        except (OSError, UnicodeDecodeError) as problem:
            raise CommandError(f"The password cannot be read: {problem}") from problem
        return first, first
    if given := os.environ.get(VARIABLE):
        return given, given
    option = f"--password-file or {VARIABLE}"
    return _ask(getpass, "Password: ", option), _ask(getpass, "Password again: ", option)
