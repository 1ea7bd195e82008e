"""Templates of a file and the vectors of what they show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lookalike.conditional.formats.genecis import read_genecis
from lookalike.conditional.types import RetrievalTemplate, Task
from lookalike.core.arrays import Float32s
from lookalike.io.errors import InputError
from lookalike.io.named_images import rows_by_name
from lookalike.io.vectors import VectorTable


@dataclass(frozen=True)
class TemplateRows:
    """Templates and where their images' vectors are.

    Attributes:
        templates: in the file's order.
        vectors: shape (n, d).
        rows: of each template, that of the reference and after it those of the candidates, the
            target last.
    """

    templates: Sequence[RetrievalTemplate]
    vectors: Float32s
    rows: Sequence[Sequence[int]]


def template_rows(path: str, task: str | None, source: Path, held: VectorTable) -> TemplateRows:
    """Return the templates of a GeneCIS file with the rows of their images' vectors.

    Args:
        path: of the templates.
        task: None: told by the file's name.
        source: file of the vectors.
        held: the vectors.

    Raises:
        InputError: a file cannot be used, templates show parts of images, or an image has no
            vector.
    """
    entries = read_genecis(path, Task(task) if task else None)
    if entries.malformed:
        first = entries.malformed[0]
        raise InputError(f"{path}: entry {first.index}: {first.reason}")
    if any(view.box is not None for one in entries.templates for _, view in one.views()):
        raise InputError(f"{path} shows parts of images; vectors are of whole ones")
    shown = [
        [view.image for view in (one.reference, *one.candidates(len(one.gallery)))]
        for one in entries.templates
    ]
    row_of = rows_by_name(source, held, [one for images in shown for one in images], needs_all=True)
    rows = [[row_of[image] for image in images] for images in shown]
    return TemplateRows(entries.templates, held.vectors, rows)
