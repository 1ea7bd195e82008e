"""EMAIL_URL says where mails go; what cannot be meant stops the start."""

from __future__ import annotations

import pytest

from accounts.checks import check_mail
from config.env import EnvError
from config.operation import mail


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("", mail.Mail()),
        ("console:", mail.Mail()),
        ("console://", mail.Mail()),
        ("smtp://localhost", mail.Mail(mail.SMTP, "localhost", 25)),
        ("smtp://[::1]:1025", mail.Mail(mail.SMTP, "::1", 1025)),
        (
            "submission://me%40example.org:p%40ss%2Fword@mail.example.org",
            mail.Mail(mail.SMTP, "mail.example.org", 587, "me@example.org", "p@ss/word", True),
        ),
        (
            "smtps://me:secret@mail.example.org:4650",
            mail.Mail(mail.SMTP, "mail.example.org", 4650, "me", "secret", False, True),
        ),
    ],
)
def test_one_variable_says_how_mails_are_sent(monkeypatch, url, expected):
    monkeypatch.setenv("EMAIL_URL", url)
    assert mail.given() == expected


@pytest.mark.parametrize(
    "url",
    [
        *("smtp://", "smtp:localhost", "mail.example.org", "http://me:secret@mail.example.org"),
        *("smtps://me:secret@:465", "smtp://me:secret@host:port", "smtp://host:99999", "console:x"),
    ],
)
def test_what_cannot_be_meant_is_refused_without_its_password(monkeypatch, url):
    monkeypatch.setenv("EMAIL_URL", url)
    with pytest.raises(EnvError, match="EMAIL_URL") as caught:
        mail.given()
    assert "secret" not in str(caught.value)
    assert caught.value.__context__ is None


def test_the_deployment_check_warns_where_mails_are_printed(settings):
    settings.EMAIL_BACKEND = mail.CONSOLE
    assert [warning.id for warning in check_mail()] == ["accounts.W001"]
    settings.EMAIL_BACKEND = mail.SMTP
    assert check_mail() == []
