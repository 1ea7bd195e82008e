"""What a reader of templates returns: the usable entries, and what was wrong with the others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from lookalike.conditional.formats.json_files import EntryError, read_json_list
from lookalike.conditional.types import Defect, RetrievalTemplate
from lookalike.io.errors import FormatError


@dataclass(frozen=True)
class TemplateEntries:
    """Templates in the order of their file.

    Attributes:
        templates: every entry that has the shape of a template; its place in the file is
            `provenance.index`.
        malformed: the entries that could not be read at all.
    """

    templates: tuple[RetrievalTemplate, ...]
    malformed: tuple[Defect, ...] = ()

    @property
    def n_entries(self) -> int:
        """How many entries the file has."""
        return len(self.templates) + len(self.malformed)


def read_templates(
    path: Path, template: Callable[[object, int], RetrievalTemplate]
) -> TemplateEntries:
    """Return the templates of a file that is one JSON list.

    Args:
        path: the file.
        template: makes a template of an entry and its place, or raises EntryError.

    Raises:
        FormatError: as `read_json_list`, or not one usable entry.
        OSError: if the file cannot be opened.
    """
    templates: list[RetrievalTemplate] = []
    malformed: list[Defect] = []
    for index, entry in enumerate(read_json_list(path)):
        try:
            templates.append(template(entry, index))
        except EntryError as problem:
            malformed.append(Defect(index, "malformed", str(problem)))
    if not templates:
        first = malformed[0].reason
        raise FormatError(path, None, f"no entry is a template (the first: {first})")
    return TemplateEntries(tuple(templates), tuple(malformed))
