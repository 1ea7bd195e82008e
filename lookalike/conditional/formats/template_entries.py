"""What a reader of templates returns: the usable entries, and what was wrong with the others."""

from __future__ import annotations

from dataclasses import dataclass

from lookalike.conditional.types import Defect, RetrievalTemplate


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
