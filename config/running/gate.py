"""The gate of a web process: who asks, in which threads, and what their request may use.

It runs in the event loop, before a body is read or a thread is occupied. The reasons:
docs/adr/0021-one-table-of-budgets.md.
"""

from __future__ import annotations

import asyncio
import errno
import hashlib
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from config.running.budgets import (
    STRANGER_BODY,
    UNSPOOLED,
    Accounts,
    Kind,
    OverBudgetError,
    Party,
)

KNOWN_SECONDS = 60.0  # until the owner of a credential is looked up again
UNKNOWN_SECONDS = 10.0  # the same where nobody owns it
MOST_KNOWN = 20_000
PROBES = {"/livez", "/readyz"}
JUDGING = "/judge/"
POOLS = {"judging": 4, "pages": 4, "quick": 2, "uploads": 4}
"""Threads of a web process. Only people who are signed in reach those of `judging` and `uploads`;
`quick` answers probes and looks up credentials."""
FULL = "The site's disk is nearly full. Nothing was stored; ask an admin to make room."
_DISK_FULL = {errno.ENOSPC, errno.EDQUOT}


class Visitors:
    """Tells the gate who asks; this one knows nobody."""

    def address(self, environ: dict[str, Any]) -> str:
        """Return the network address that limits count."""
        return str(environ["REMOTE_ADDR"])

    def credential(self, environ: dict[str, Any]) -> str | None:
        """Return what may prove who asks, such as a session's key; it may be forged."""
        return None

    def person(self, environ: dict[str, Any]) -> str | None:
        """Return the name of the person who owns the credential; may ask the database."""
        return None

    def has_room(self, n_bytes: int) -> bool:
        """Whether the disk can take that many bytes and keep its reserve."""
        return True


@dataclass(frozen=True)
class Visit:
    """A request that was let in.

    Attributes:
        parties: Those who pay, the narrowest first.
        pool: The threads that answer it.
        is_known: Whether a person pays.
    """

    parties: tuple[Party, ...]
    pool: str
    is_known: bool = False


class Gate:
    """Lets requests in as far as the budgets of their parties go."""

    def __init__(self, visitors: Visitors) -> None:
        self.visitors = visitors
        self.accounts = Accounts()
        self._pools = {name: ThreadPoolExecutor(n, name) for name, n in POOLS.items()}
        self._known: dict[bytes, tuple[str | None, float]] = {}

    async def visit(self, environ: dict[str, Any]) -> Visit:
        """Find out who asks, and which threads answer.

        Raises:
            OverBudgetError: The address has too many requests waiting.
        """
        address = Party(Kind.ADDRESS, self.visitors.address(environ))
        site = Party(Kind.SITE)
        path = environ["PATH_INFO"]
        if path in PROBES:
            return Visit((address, site), "quick")
        person = await self._person(environ, (address, site))
        if person is None:
            return Visit((address, Party(Kind.STRANGERS), site), "pages")
        pool = "judging" if path.startswith(JUDGING) else "pages"
        return Visit((Party(Kind.PERSON, person), site), pool, is_known=True)

    async def run(self, visit: Visit, pool: str, step: Any, *arguments: Any) -> Any:
        """Call a function in a thread, once the parties may occupy one.

        Raises:
            OverBudgetError: One of them has too many requests waiting.
        """
        async with self.accounts.slot(visit.parties, pool):
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._pools[pool], step, *arguments)

    def check_body(self, visit: Visit, n_bytes: int) -> None:
        """Look at the announced length of a body.

        Raises:
            OverBudgetError: Strangers may not send that much (413); or the disk has no room for
                it (503).
        """
        if n_bytes > STRANGER_BODY and not visit.is_known:
            raise OverBudgetError(413, "Sign in before you send this much.")
        if n_bytes > UNSPOOLED and not self.visitors.has_room(n_bytes):
            raise OverBudgetError(503, FULL)

    def spool(self, visit: Visit, *, is_named: bool = False) -> Spool:
        """Return an empty file that is charged to the visit's parties."""
        return Spool(self, visit.parties, is_named=is_named)

    def close(self) -> None:
        """Wait for requests in threads; drop uploads that have not begun."""
        for name, pool in self._pools.items():
            pool.shutdown(cancel_futures=name == "uploads")

    async def _person(self, environ: dict[str, Any], parties: Sequence[Party]) -> str | None:
        credential = self.visitors.credential(environ)
        if credential is None:
            return None
        digest = hashlib.blake2b(credential.encode(), digest_size=16).digest()
        known, until = self._known.get(digest, (None, 0.0))
        if time.monotonic() < until:
            return known
        lookup = Visit(tuple(parties), "quick")
        person: str | None = await self.run(lookup, "quick", self.visitors.person, environ)
        if len(self._known) >= MOST_KNOWN:
            self._known.clear()
        seconds = UNKNOWN_SECONDS if person is None else KNOWN_SECONDS
        self._known[digest] = person, time.monotonic() + seconds
        return person


class Spool:
    """A body or an answer on its way, charged to its parties until it is closed.

    Args:
        is_named: Whether it is in a file with a name from the start. Otherwise it stays in memory
            up to UNSPOOLED bytes.

    Raises:
        OverBudgetError: The disk is full (503).
    """

    def __init__(self, gate: Gate, parties: Sequence[Party], *, is_named: bool) -> None:
        self.n_bytes = 0
        self._gate, self._parties = gate, parties
        open_file: Any = (
            tempfile.NamedTemporaryFile
            if is_named
            else partial(tempfile.SpooledTemporaryFile, UNSPOOLED)
        )
        with refused_if_full():
            self.file = open_file()

    def write(self, data: bytes) -> int:
        """Append bytes.

        Raises:
            OverBudgetError: A party holds too much, or the disk is nearly full (503).
        """
        if self.n_bytes + len(data) > UNSPOOLED and not self._gate.visitors.has_room(len(data)):
            raise OverBudgetError(503, FULL)
        self._gate.accounts.hold(self._parties, len(data))
        self.n_bytes += len(data)
        with refused_if_full():
            return int(self.file.write(data))

    def flush(self) -> None:
        """Write what is buffered.

        Raises:
            OverBudgetError: The disk is full (503).
        """
        with refused_if_full():
            self.file.flush()

    def close(self) -> None:
        """Drop the file."""
        with suppress(OSError):  # unwritten bytes are dropped, too
            self.file.close()
        self._gate.accounts.release(self._parties, self.n_bytes)
        self.n_bytes = 0


@contextmanager
def refused_if_full() -> Iterator[None]:
    """Turn the error of a full disk into a refusal.

    Raises:
        OverBudgetError: The disk is full (503).
    """
    try:
        yield
    except OSError as problem:
        if problem.errno not in _DISK_FULL:
            raise
        raise OverBudgetError(503, FULL) from problem
