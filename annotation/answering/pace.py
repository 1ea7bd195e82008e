"""How many answers one judge may save in a minute."""

from __future__ import annotations

import math
import threading
import time
from dataclasses import dataclass, field

from annotation.answering.submissions import MAX_BATCH

MOST_JUDGES = 10_000


@dataclass
class Pace:
    """A token bucket for each judge, in this process: judging goes on without the broker.

    A bucket holds a minute's answers, at least one batch.
    """

    _buckets: dict[int, tuple[float, float]] = field(default_factory=dict)  # level, time
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def take(self, judge: int, n_answers: int, *, a_minute: int) -> int:
        """Count answers.

        Args:
            judge: Key of the person.
            n_answers: At most MAX_BATCH.
            a_minute: The limit; 0 for none.

        Returns:
            0 if they may be saved, or the seconds until they may be; then they are not counted.
        """
        if not a_minute:
            return 0
        capacity, rate = max(a_minute, MAX_BATCH), a_minute / 60
        now = time.monotonic()
        with self._lock:
            level, since = self._buckets.get(judge, (float(capacity), now))
            level = min(capacity, level + rate * (now - since))
            if level < n_answers:
                return math.ceil((n_answers - level) / rate)
            if len(self._buckets) >= MOST_JUDGES:
                self._buckets.clear()
            self._buckets[judge] = level - n_answers, now
            return 0


pace = Pace()
