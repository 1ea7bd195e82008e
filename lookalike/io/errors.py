"""What a person gave and cannot be used, and the one error of every reader of files."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path


class InputError(ValueError):
    """Input that cannot be used; the message tells its giver why."""


class FormatError(InputError):
    """A file that cannot be read as what it should be.

    Attributes:
        file: the path as it was given.
        line: 1-based place of the first offence; None where the file as a whole is at fault.
        reason: what is wrong there, for a person.
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
    """Return what an error says, with files named as their giver knows them.

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
