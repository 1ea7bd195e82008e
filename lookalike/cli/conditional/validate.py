"""`lookalike conditional validate FILE`: every defect of templates, instances or triplets."""

from __future__ import annotations

import argparse
from collections.abc import Collection, Sequence
from pathlib import Path

from lookalike.cli.output import WANTING, Report
from lookalike.conditional.formats.cirr import read_cirr, read_cirr_split
from lookalike.conditional.formats.genecis import TASKS, read_genecis
from lookalike.conditional.formats.json_files import read_json_list
from lookalike.conditional.formats.triplet_files import read_names, read_triplets
from lookalike.conditional.formats.vaw import read_vaw
from lookalike.conditional.types import Defect, Task
from lookalike.conditional.validate import count_defects, find_defects, kept_places
from lookalike.io.documents import Table
from lookalike.io.errors import InputError

DESCRIPTION = (
    "List every defect of a file of templates, instances or triplets. The exit status is 0 without "
    "defects, 1 with, 2 if the file cannot be read."
)
EXAMPLE = "lookalike conditional validate focus_object.json --images ids.txt"
FORMATS = ("genecis", "cirr", "vaw", "triplets")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("file", type="input", metavar="FILE", help="GeneCIS, CIRR, VAW or CSV")
    parser.add_argument("--format", choices=FORMATS, help="by default told by the content")
    parser.add_argument(
        "--task",
        choices=[task.value for task in TASKS],
        help="of a GeneCIS file; by default told by its name",
    )
    parser.add_argument(
        "--images", type="input", metavar="FILE", help="ids that exist, one a line or a JSON list"
    )
    parser.add_argument(
        "--split", type="input", metavar="FILE", help="of CIRR: the images of the split, as JSON"
    )


def run(arguments: argparse.Namespace) -> Report:
    """Check the file.

    Raises:
        InputError: with file, line and reason, if the file cannot be read at all.
        OSError: if a file cannot be opened.
    """
    known = frozenset(read_names(arguments.images)) if arguments.images else None
    task = Task(arguments.task) if arguments.task else None
    split = read_cirr_split(arguments.split) if arguments.split else None
    kind = arguments.format or _format_of(arguments.file)
    entries, n_entries, found = _checked(arguments.file, kind, task, known, split)
    counts = count_defects(found)
    defects = [(defect.index, defect.code, defect.reason) for defect in found]
    total = ", ".join(f"{n:,} {code}" for code, n in counts.items()) or "no defects"
    header = ("index", "code", "reason")
    return Report(
        title=f"Defects of {arguments.file}",
        text="".join(f"{index}\t{code}\t{reason}\n" for index, code, reason in defects)
        + f"{n_entries:,} {entries}: {total}\n",
        data={
            "file": str(arguments.file),
            "kind": entries,
            "n_entries": n_entries,
            "n_defects": len(defects),
            "counts": counts,
            "defects": [dict(zip(header, row, strict=True)) for row in defects],
        },
        table=Table(header, defects),
        status=WANTING if defects else 0,
    )


def _checked(
    path: Path,
    kind: str,
    task: Task | None,
    known: frozenset[str] | None,
    split: Collection[str] | None,
) -> tuple[str, int, Sequence[Defect]]:
    """Return what the entries of a file are, how many it holds, and what is wrong in them."""
    if kind == "triplets":
        triplets = read_triplets(path, known_images=known)
        n_rows = len(triplets.triplets) + len(triplets.malformed)
        return "triplets", n_rows, triplets.malformed
    if kind == "vaw":
        instances = read_vaw(path)
        places = kept_places(len(instances.instances), instances.malformed)
        unknown = [
            Defect(place, "unknown_image", f"no image {one.image!r}")
            for place, one in zip(places, instances.instances, strict=True)
            if known is not None and one.image not in known
        ]
        defects = sorted([*instances.malformed, *instances.doubtful, *unknown])
        return "instances", len(instances.instances) + len(instances.malformed), defects
    templates = read_cirr(path) if kind == "cirr" else read_genecis(path, task)
    invalid = find_defects(templates.templates, known_images=known, split=split)
    defects = sorted([*templates.malformed, *invalid], key=lambda defect: defect.index)
    return "templates", templates.n_entries, defects


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
