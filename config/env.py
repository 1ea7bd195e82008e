"""Typed reads of environment variables that fail loudly and name the variable."""

from __future__ import annotations

import os
from pathlib import Path


class StartError(SystemExit):
    """The program cannot start; it ends with the message alone, which says what to do."""


class EnvError(StartError):
    """A variable is missing or does not read as its type; the message names it."""


def text(name: str, default: str | None = None) -> str:
    """Return the variable, or `default`; an unset variable without default is an error."""
    value = os.environ.get(name, "").strip() or default
    if value is None:
        raise EnvError(f"Set the environment variable {name}.")
    return value


def optional(name: str) -> str | None:
    """Return the variable, or None when it is unset or empty."""
    return os.environ.get(name, "").strip() or None


def flag(name: str, default: bool) -> bool:
    """Return a yes/no variable; anything but 1/0, true/false, yes/no, on/off is an error."""
    value = text(name, "1" if default else "0").lower()
    if value in {"1", "true", "yes", "on"}:
        return True
    if value in {"0", "false", "no", "off"}:
        return False
    raise EnvError(f"{name} must be 1 or 0, not {value!r}.")


def integer(name: str, default: int) -> int:
    """Return a whole number."""
    value = text(name, str(default))
    try:
        return int(value)
    except ValueError:
        raise EnvError(f"{name} must be a whole number, not {value!r}.") from None


def octal(name: str, default: int) -> int:
    """Return file permissions, written as chmod takes them."""
    value = text(name, f"{default:o}")
    try:
        return int(value, 8)
    except ValueError:
        raise EnvError(f"{name} must be an octal number such as 077, not {value!r}.") from None


def folder(name: str, default: Path) -> Path:
    """Return an absolute path (the folder need not exist yet)."""
    return Path(text(name, str(default))).expanduser().resolve()


def names(name: str, default: str = "") -> list[str]:
    """Return a comma-separated list."""
    return [part.strip() for part in os.environ.get(name, default).split(",") if part.strip()]
