"""Errors about input: files, options and values that cannot be used."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path


class InputError(ValueError):
    """Input that cannot be used; the message tells its giver why."""


class FormatError(InputError):
    """A file does not have the expected format.

    Attributes:
        file: the path as it was given.
        line: 1-based place of the first offence; None where the file as a whole is at fault.
        reason: the fault, for people.
        unit: what `line` counts: "line", or "row" in a file without lines (parquet).
    """

    def __init__(
        self, file: str | Path, line: int | None, reason: str, *, unit: str = "line"
    ) -> None:
        self.file = str(file)
        self.line = line
        self.reason = reason
        self.unit = unit
        place = self.file if line is None else f"{self.file}, {unit} {line}"
        super().__init__(f"{place}: {reason}")

    def __reduce__(self) -> tuple[object, ...]:
        return partial(FormatError, unit=self.unit), (self.file, self.line, self.reason)


def message_with_names(problem: Exception, names: Mapping[Path, str]) -> str:
    """Return an error's message with the file names that the user gave.

    Args:
        problem: from reading some files.
        names: {where a file lies: what its giver calls it}.
    """
    message = str(problem)
    for path, name in names.items():
        message = message.replace(str(path), name)
        if path.name not in name:
            message = message.replace(path.name, name)
    return message
