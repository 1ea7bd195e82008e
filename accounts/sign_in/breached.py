"""Refuse passwords that are in a list of breached ones: a file, or the service's ranges."""

from __future__ import annotations

import hashlib
import logging
import os
from pathlib import Path
from typing import BinaryIO

import requests
from django.conf import settings
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

log = logging.getLogger(__name__)

PREFIX = 5  # letters of the hash that the service is told: thousands of passwords share them
SECONDS = 3
LONGEST_LINE = 128


class BreachedPasswordValidator:
    """Refuse a password that `settings.BREACHED_PASSWORDS` lists; with no list, refuse none.

    The list is a file of Have I Been Pwned, `SHA-1:count` in the order of the hashes, or the
    address of its ranges (https://api.pwnedpasswords.com/range/). The service learns five letters
    of the hash. A password is taken where the service does not answer, and the log says so.
    """

    def validate(self, password: str, user: object = None) -> None:
        """Check one password.

        Raises:
            ValidationError: it is listed.
            OSError: the file cannot be read.
        """
        source = settings.BREACHED_PASSWORDS
        if not source:
            return
        digest = hashlib.sha1(password.encode(), usedforsecurity=False).hexdigest().upper()
        is_listed = _in_range if source.startswith("https://") else _in_file
        if is_listed(source, digest):
            raise ValidationError(
                _("This password is in a list of breached passwords. Choose another."),
                code="password_breached",
            )

    def get_help_text(self) -> str:
        """Say what is refused."""
        if not settings.BREACHED_PASSWORDS:
            return ""
        return _("Your password can’t be in a list of breached passwords.")


def _in_range(address: str, digest: str) -> bool:
    try:
        answer = requests.get(
            address + digest[:PREFIX], headers={"Add-Padding": "true"}, timeout=SECONDS
        )
        answer.raise_for_status()
    except requests.RequestException as problem:
        log.warning("Breached passwords cannot be asked for: %s", problem)
        return False
    for line in answer.text.splitlines():
        ending, _colon, count = line.strip().partition(":")
        if ending == digest[PREFIX:]:
            return count != "0"  # padding has a count of 0
    return False


def _in_file(path: str, digest: str) -> bool:
    """Search a sorted file by halves: 30 reads for a billion lines."""
    with Path(path).open("rb") as file:
        low, high = 0, file.seek(0, os.SEEK_END)
        while low < high:
            middle = (low + high) // 2
            found = _hash_from(file, middle)
            if found is None or found >= digest:
                high = middle
            else:
                low = middle + 1
        return _hash_from(file, low) == digest


def _hash_from(file: BinaryIO, at: int) -> str | None:
    """The hash of the first line that begins at or after a byte; None at the end."""
    file.seek(max(at - 1, 0))
    if at:
        file.readline(LONGEST_LINE)
    line = file.readline(LONGEST_LINE)
    return line.partition(b":")[0].strip().decode("ascii", "replace").upper() if line else None
