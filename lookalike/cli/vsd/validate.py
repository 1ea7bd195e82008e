"""`lookalike vsd validate TASK`: what a task holds, and every entry that does not fit."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from lookalike.cli.output import WANTING, Report
from lookalike.io.documents import Table
from lookalike.io.vsd_defects import VsdDefect, find_vsd_defects
from lookalike.io.vsd_files import Split
from lookalike.io.vsd_task import SPLITS, VsdTask, read_vsd_task

DESCRIPTION = (
    "Count what a task of the VSD benchmark holds and list every entry where its code fails or "
    "misleads. The exit status is 0 without defects, 1 with, 2 if it cannot be read."
)
EXAMPLE = "lookalike vsd validate in_catalog_open_catalog/"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("task", type=Path, metavar="TASK", help="folder or zip")


def run(arguments: argparse.Namespace) -> Report:
    """Check the task.

    Raises:
        InputError: with file, line and reason, if it cannot be read at all.
        OSError: if a file cannot be opened.
    """
    task = read_vsd_task(arguments.task)
    defects = find_vsd_defects(task)
    rows = [(one.file, one.line, one.code, one.reason) for one in defects]
    counts = dict(Counter(one.code for one in defects))
    header = ("file", "line", "code", "reason")
    splits = {split: _counts(task, split) for split in SPLITS if task.file("annotations", split)}
    return Report(
        title=f"Defects of {task.name}",
        text="".join(
            f"{file}, line {line}\t{code}\t{reason}\n" for file, line, code, reason in rows
        )
        + _summary(task, splits, counts),
        data={
            "task": task.name,
            "files": {file.name: file.role for file in task.files},
            "gallery_phases": task.gallery_phases,
            "splits": splits,
            "counts": counts,
            "defects": [dict(zip(header, row, strict=True)) for row in rows],
        },
        table=Table(header, rows),
        status=WANTING if defects else 0,
        notes=_notes(task, defects),
    )


def _counts(task: VsdTask, split: Split) -> dict[str, int]:
    qrels, members = task.qrels(split), task.members(split)
    return {
        "images": len(members),
        "products": len({task.images[path]["id"] for path in members}),
        "queries": len(task.queries(split)),
        "ranked": len(task.gallery(split)),
        "pairs": len(qrels),
        "similar": int(qrels.labels.sum()),
    }


def _summary(task: VsdTask, splits: Mapping[Split, dict[str, int]], counts: dict[str, int]) -> str:
    lines = [
        f"{task.name}, {split}: " + ", ".join(f"{n:,} {what}" for what, n in counted.items())
        for split, counted in splits.items()
    ]
    lines.append(", ".join(f"{n:,} {code}" for code, n in counts.items()) or "no defects")
    return "\n".join(lines) + "\n"


def _notes(task: VsdTask, defects: Sequence[VsdDefect]) -> list[str]:
    notes = [
        f"{file.name} is laid out in a way of its own: written again, its bytes are others"
        for file in task.files
        if file.json.style is None
    ]
    if "wild" in task.name and task.gallery_phases is None:
        notes.append(
            "the benchmark ranks some phases alone in its wild task; no file says which "
            '(task.json: {"gallery_phases": ["gallery"]}), so the whole test set is ranked'
        )
    if any(one.code in {"not_a_query", "not_ranked"} for one in defects):
        notes.append("the benchmark's own program ends with a KeyError on such a similar pair")
    return notes
