"""Where mails go, read from the one variable EMAIL_URL."""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from config import env

CONSOLE = "django.core.mail.backends.console.EmailBackend"
SMTP = "django.core.mail.backends.smtp.EmailBackend"
PORTS = {"smtp": 25, "submission": 587, "smtps": 465}


class Mail(NamedTuple):
    """A way to send mails, in the words of Django's settings."""

    backend: str = CONSOLE
    host: str = ""
    port: int = 0
    user: str = ""
    password: str = ""
    starts_tls: bool = False
    is_tls: bool = False


def given() -> Mail:
    """Return what EMAIL_URL says; without it mails are printed.

    `smtp://host:25` sends without encryption, `submission://user:password@host:587` begins TLS
    before it says the password, `smtps://user:password@host:465` speaks TLS from the start.

    Raises:
        env.EnvError: it cannot be read; its password is not repeated.
    """
    url = env.text("EMAIL_URL", "console:")
    if url.rstrip("/") == "console:":
        return Mail()
    try:
        parts = urlsplit(url)
        port = parts.port or PORTS[parts.scheme]
    except (ValueError, KeyError):
        parts, port = urlsplit(""), 0
    if not parts.hostname or not port:
        raise env.EnvError(
            "EMAIL_URL must be console:, or smtp://, submission:// or smtps:// with "
            "user:password@host:port; write %40 for @ and %2F for / in a password."
        )
    return Mail(
        backend=SMTP,
        host=parts.hostname,
        port=port,
        user=unquote(parts.username or ""),
        password=unquote(parts.password or ""),
        starts_tls=parts.scheme == "submission",
        is_tls=parts.scheme == "smtps",
    )
