"""`python -m conditional validate FILE`: every defect of templates, instances or triplets."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lookalike.conditional.formats.cirr import read_cirr, read_cirr_split
from lookalike.conditional.formats.genecis import TASKS, read_genecis
from lookalike.conditional.formats.json_files import read_json_list
from lookalike.conditional.formats.sets import TemplateSet
from lookalike.conditional.formats.triplet_files import read_names, read_triplets
from lookalike.conditional.formats.vaw import read_vaw
from lookalike.conditional.types import Defect, Task
from lookalike.conditional.validate import counts_of, defects_of, kept_places
from lookalike.io.errors import InputError

if TYPE_CHECKING:
    SubCommands = argparse._SubParsersAction[argparse.ArgumentParser]

FOUND_DEFECTS = 1
FORMATS = ("genecis", "cirr", "vaw", "triplets")


@dataclass(frozen=True)
class Checked:
    """What a file holds and what is wrong in it."""

    kind: str
    n_entries: int
    defects: Sequence[Defect]


def add_to(sub_commands: SubCommands) -> None:
    """Add the sub-command and its options."""
    parser = sub_commands.add_parser(
        "validate",
        help="list every defect of a file",
        description="List every defect of a file of templates, instances or triplets. "
        "The exit status is 0 without defects, 1 with, 2 if the file cannot be read.",
    )
    parser.add_argument("file", type=Path, metavar="FILE", help="GeneCIS, CIRR, VAW or CSV")
    parser.add_argument("--format", choices=FORMATS, help="by default told by the content")
    parser.add_argument(
        "--task",
        choices=[task.value for task in TASKS],
        help="of a GeneCIS file; by default told by its name",
    )
    parser.add_argument(
        "--images", type=Path, metavar="FILE", help="ids that exist, one a line or a JSON list"
    )
    parser.add_argument(
        "--split", type=Path, metavar="FILE", help="of CIRR: the images of the split, as JSON"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
    parser.set_defaults(command=run)


def run(arguments: argparse.Namespace) -> int:
    """Check the file and write the defects to stdout.

    Raises:
        InputError: with file, line and reason, if the file cannot be read at all.
        OSError: if a file cannot be opened.
    """
    known = frozenset(read_names(arguments.images)) if arguments.images else None
    task = Task(arguments.task) if arguments.task else None
    split = read_cirr_split(arguments.split) if arguments.split else None
    kind = arguments.format or _format_of(arguments.file)
    found = _checked(arguments.file, kind, task, known, split)
    counts = counts_of(found.defects)
    if arguments.json:
        report = {
            "file": str(arguments.file),
            "kind": found.kind,
            "n_entries": found.n_entries,
            "n_defects": len(found.defects),
            "counts": counts,
            "defects": [
                {"index": one.index, "code": one.code, "reason": one.reason}
                for one in found.defects
            ],
        }
        sys.stdout.write(json.dumps(report, indent=1, ensure_ascii=False) + "\n")
    else:
        for one in found.defects:
            sys.stdout.write(f"{one.index}\t{one.code}\t{one.reason}\n")
        total = ", ".join(f"{n:,} {code}" for code, n in counts.items()) or "no defects"
        sys.stdout.write(f"{found.n_entries:,} {found.kind}: {total}\n")
    return FOUND_DEFECTS if found.defects else 0


def _checked(
    path: Path,
    kind: str,
    task: Task | None,
    known: frozenset[str] | None,
    split: Collection[str] | None,
) -> Checked:
    if kind == "triplets":
        triplets = read_triplets(path, known_images=known)
        n_rows = len(triplets.triplets) + len(triplets.malformed)
        return Checked("triplets", n_rows, triplets.malformed)
    if kind == "vaw":
        instances = read_vaw(path)
        places = kept_places(len(instances.instances), instances.malformed)
        unknown = [
            Defect(place, "unknown_image", f"no image {one.image!r}")
            for place, one in zip(places, instances.instances, strict=True)
            if known is not None and one.image not in known
        ]
        defects = sorted([*instances.malformed, *instances.doubtful, *unknown])
        return Checked("instances", len(instances.instances) + len(instances.malformed), defects)
    templates = read_cirr(path) if kind == "cirr" else read_genecis(path, task)
    return _checked_templates(templates, known, split)


def _checked_templates(
    found: TemplateSet, known: frozenset[str] | None, split: Collection[str] | None
) -> Checked:
    defects = [*found.malformed, *defects_of(found.templates, known_images=known, split=split)]
    return Checked("templates", found.n_entries, sorted(defects, key=lambda one: one.index))


def _format_of(path: Path) -> str:
    with path.open("rb") as file:
        start = file.read(4096).lstrip(b"\xef\xbb\xbf \t\r\n")
    if start[:1] not in (b"[", b"{"):
        return "triplets"
    entries = read_json_list(path)
    keys = next((frozenset(entry) for entry in entries if isinstance(entry, dict)), frozenset())
    if "gallery" in keys:
        return "genecis"
    if "caption" in keys:
        return "cirr"
    if "object_name" in keys:
        return "vaw"
    raise InputError(f"{path}: neither GeneCIS, CIRR nor VAW; say --format")
