"""How many pictures a device gets at once."""

from __future__ import annotations

GAIN = 1.05  # a doubled batch must be so much faster to be kept
MEASURED = 2  # batches of a size that are timed, after one that warms up
MOST = 256  # no batch holds more than a shard does


class BatchSize:
    """A batch size that halves when memory is full and, if it may, doubles while that is faster.

    It grows once, from the size it begins with: after the first size that is not faster, or
    does not fit, the one before it stays.

    Attributes:
        now: pictures of the next batch.
        grows: whether it may still double; what batches take is to be told then.
    """

    def __init__(self, size: int, *, grows: bool = False) -> None:
        self.now = size
        self.grows = grows
        self._rate_before = 0.0
        self._rates: list[float] = []
        self._is_warm = False

    def did_not_fit(self, n_pictures: int) -> None:
        """Note that so many pictures at once were too many for the memory."""
        self.now = min(self.now, -(-n_pictures // 2))
        self.grows = False

    def worked(self, n_pictures: int, seconds: float) -> None:
        """Note how long a batch took; those that are not full say nothing."""
        if not self.grows or n_pictures != self.now:
            return
        if not self._is_warm:
            self._is_warm = True
            return
        self._rates.append(n_pictures / max(seconds, 1e-9))
        if len(self._rates) == MEASURED:
            self._decide(max(self._rates))

    def _decide(self, rate: float) -> None:
        if rate < GAIN * self._rate_before:
            self.now //= 2
            self.grows = False
        elif 2 * self.now > MOST:
            self.grows = False
        else:
            self._rate_before, self._rates, self._is_warm = rate, [], False
            self.now *= 2
