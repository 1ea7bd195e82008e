"""What one party may use of a web process at a time: the table of budgets, and their accounts."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

KIB, MIB = 2**10, 2**20


class Kind(Enum):
    """Kinds of parties to a request."""

    ADDRESS = "address"  # of a stranger: an IPv4 address, or the /64 of an IPv6 address
    STRANGERS = "strangers"  # all of them together
    PERSON = "person"
    SITE = "site"  # everybody


class Party(NamedTuple):
    """Somebody to whom a request is charged."""

    kind: Kind
    name: str = ""


@dataclass(frozen=True)
class Budget:
    """Limits of one party, in one web process.

    Attributes:
        running: requests that occupy threads of one pool.
        waiting: requests that occupy or wait for threads of one pool.
        held: bytes of bodies and answers, in memory and in temporary files.
    """

    running: int
    waiting: int
    held: int


BUDGETS = {
    Kind.ADDRESS: Budget(running=2, waiting=256, held=64 * MIB),
    Kind.STRANGERS: Budget(running=3, waiting=1024, held=128 * MIB),
    Kind.PERSON: Budget(running=2, waiting=256, held=256 * MIB),
    Kind.SITE: Budget(running=64, waiting=4096, held=512 * MIB),
}
STRANGER_BODY = 64 * KIB  # bytes of one body of somebody who is not signed in
UNSPOOLED = 64 * KIB  # bytes of a body that stay in memory


class OverBudgetError(Exception):
    """A party has used up its budget.

    Attributes:
        status: HTTP status of the answer.
        reason: For the person who asks.
    """

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason


@dataclass
class _Account:
    """What a party uses now. Semaphores exist per pool."""

    held: int = 0
    waiting: dict[str, int] = field(default_factory=dict)
    running: dict[str, asyncio.Semaphore] = field(default_factory=dict)

    @property
    def is_idle(self) -> bool:
        """Whether the party uses nothing."""
        return not self.held and not any(self.waiting.values())


class Accounts:
    """Accounts of all parties that use something now."""

    def __init__(self) -> None:
        self._accounts: dict[Party, _Account] = {}
        self._lock = threading.Lock()  # threads hold bytes, too

    def __len__(self) -> int:
        return len(self._accounts)

    @asynccontextmanager
    async def slot(self, parties: Sequence[Party], pool: str) -> AsyncIterator[None]:
        """Wait until each party may occupy one more thread of a pool, and occupy it.

        Args:
            parties: The narrowest first: it waits without occupying the wider ones.
            pool: Name of the threads.

        Raises:
            OverBudgetError: A party has too many requests waiting: 429, or 503 where many
                people share the budget.
        """
        self._join(parties, pool)
        try:
            async with AsyncExitStack() as slots:
                for party in parties:
                    semaphore = self._accounts[party].running.setdefault(
                        pool, asyncio.Semaphore(BUDGETS[party.kind].running)
                    )
                    await slots.enter_async_context(semaphore)
                yield
        finally:
            self._leave(parties, pool)

    def hold(self, parties: Sequence[Party], n_bytes: int) -> None:
        """Charge bytes to each party, or to none.

        Raises:
            OverBudgetError: A party holds too much; the status is 503.
        """
        with self._lock:
            for party in parties:
                account = self._accounts.get(party)
                used = account.held if account is not None else 0
                if used + n_bytes > BUDGETS[party.kind].held:
                    raise OverBudgetError(503, "Too much is on its way. Try again in a while.")
            for party in parties:
                self._accounts.setdefault(party, _Account()).held += n_bytes

    def release(self, parties: Sequence[Party], n_bytes: int) -> None:
        """Take back what `hold` has charged."""
        with self._lock:
            for party in parties:
                self._accounts[party].held -= n_bytes
                self._drop_if_idle(party)

    def _join(self, parties: Sequence[Party], pool: str) -> None:
        with self._lock:
            for party in parties:
                account = self._accounts.get(party)
                n_waiting = account.waiting.get(pool, 0) if account is not None else 0
                if n_waiting >= BUDGETS[party.kind].waiting:
                    is_one = party.kind in {Kind.ADDRESS, Kind.PERSON}
                    raise OverBudgetError(
                        429 if is_one else 503, "Too many requests at once. Try again in a while."
                    )
            for party in parties:
                waiting = self._accounts.setdefault(party, _Account()).waiting
                waiting[pool] = waiting.get(pool, 0) + 1

    def _leave(self, parties: Sequence[Party], pool: str) -> None:
        with self._lock:
            for party in parties:
                self._accounts[party].waiting[pool] -= 1
                self._drop_if_idle(party)

    def _drop_if_idle(self, party: Party) -> None:
        if self._accounts[party].is_idle:
            del self._accounts[party]
