"""How long work says how far it is, whoever watches: a job's row, a terminal, nobody."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """What long work reports to; any call may raise to stop the work."""

    def start(self, n_done: int, n_total: int | None, note: str, *, is_long: bool = False) -> None:
        """Begin a phase of the work.

        Args:
            n_done: units done already.
            n_total: units in all; None while that is unknown.
            note: what is being done now.
            is_long: it may go on for hours without a word.
        """

    def update(
        self,
        n_done: int,
        n_total: int | None = None,
        note: str | None = None,
        *,
        is_long: bool | None = None,
    ) -> None:
        """Report units done; what is None stays as it was."""

    def note(self, text: str) -> None:
        """Say what is being done now."""


class Silent:
    """The progress of work that nobody watches."""

    def start(self, n_done: int, n_total: int | None, note: str, *, is_long: bool = False) -> None:
        """Do nothing."""

    def update(
        self,
        n_done: int,
        n_total: int | None = None,
        note: str | None = None,
        *,
        is_long: bool | None = None,
    ) -> None:
        """Do nothing."""

    def note(self, text: str) -> None:
        """Do nothing."""


SILENT = Silent()


class Steps(Silent):
    """The progress of work in long steps: every note begins the next one.

    Args:
        progress: told of every step.
        n_expected: how many steps there are, roughly.
    """

    def __init__(self, progress: Progress, n_expected: int) -> None:
        self._progress = progress
        self._n_expected = n_expected
        self._n_begun = 0

    def note(self, text: str) -> None:
        """Begin the next step."""
        self._n_begun += 1
        n_total = max(self._n_expected, self._n_begun + 1)
        self._progress.update(self._n_begun, n_total, text, is_long=True)

    def end(self, text: str) -> None:
        """Report the last step done."""
        self._progress.update(self._n_begun + 1, self._n_begun + 1, text)
