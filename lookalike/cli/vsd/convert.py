"""`lookalike vsd convert SOURCE FOLDER`: a release, examples or a task as files of a task."""

from __future__ import annotations

import argparse
from pathlib import Path

from lookalike.cli.output import Report
from lookalike.io.documents import Table
from lookalike.io.errors import InputError
from lookalike.io.labels import read_products, read_qrels
from lookalike.io.tables import Qrels
from lookalike.io.vsd_task import VsdTask, make_vsd_task, read_vsd_task, write_vsd_task
from lookalike.release.format.archive import is_release
from lookalike.release.opened import open_release
from lookalike.release.vsd_task import release_as_vsd_task

DESCRIPTION = (
    "Write a release, labels with their products, or a task of the VSD benchmark as the files of a "
    "task: metadata with phases, annotations, seeds, manifest, and which phases are ranked. A task "
    "that was read is written byte for byte."
)
EXAMPLE = "lookalike vsd convert shoes-1.0.0.zip shoes-vsd/"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument(
        "source",
        type="input",
        nargs="+",
        metavar="SOURCE",
        help="a release, a task, or files of labels (VSD JSON, its example pairs, TREC, CSV)",
    )
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="new, for the task's files")
    parser.add_argument(
        "--metadata",
        type="input",
        metavar="FILE",
        help="products of labels: VSD JSON, CSV path,product_id or parquet",
    )
    parser.add_argument("--name", help="of the task; by default the release's or the folder's")
    parser.add_argument(
        "--gallery-phases",
        metavar="A,B",
        help="of labels: which images are ranked, query or gallery; by default all",
    )


def run(arguments: argparse.Namespace) -> Report:
    """Write the task's files.

    Raises:
        InputError: a source that is none of these, or does not name products; the folder is there.
        OSError: a file cannot be read or written.
    """
    task = _task(arguments)
    changed = write_vsd_task(task, arguments.folder)
    rows = [(file.name, file.role, file.split) for file in task.files]
    return Report(
        title=f"{task.name} as a task of the VSD benchmark",
        text="".join(f"{arguments.folder / name}: {role}\n" for name, role, _ in rows),
        data={
            "task": task.name,
            "folder": str(arguments.folder),
            "files": {name: role for name, role, _ in rows},
        },
        table=Table(("file", "role", "split"), rows),
        notes=[
            f"{name} says the same in other bytes: its layout is none that we know"
            for name in changed
        ],
    )


def _task(arguments: argparse.Namespace) -> VsdTask:
    sources: list[Path] = arguments.source
    is_alone = len(sources) == 1 and (sources[0].is_dir() or sources[0].suffix == ".zip")
    if is_alone and is_release(sources[0]):
        with open_release(sources[0]) as release:
            return release_as_vsd_task(release, arguments.name or release.info["name"])
    if is_alone:
        return read_vsd_task(sources[0])
    if arguments.metadata is None:
        raise InputError("labels need --metadata: a task says the product of each image")
    labels = Qrels.of(pair for source in sources for pair in read_qrels(source))
    queries, products = set(labels.query_ids), read_products(arguments.metadata)
    images = [
        {"id": product, "path": path, "phase": "query" if path in queries else "gallery"}
        for path, product in products.items()
    ]
    return make_vsd_task(
        arguments.name or arguments.folder.resolve().name,
        images,
        labels,
        seeds=labels.query_ids,
        manifest=list(products),
        gallery_phases=arguments.gallery_phases.split(",") if arguments.gallery_phases else None,
    )
