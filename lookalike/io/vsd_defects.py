"""What is wrong with a task of the VSD benchmark: where its official code fails or misleads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from lookalike.io.vsd import annotation_rows
from lookalike.io.vsd_files import Split
from lookalike.io.vsd_task import PHASES, SPLITS, VsdTask


@dataclass(frozen=True)
class VsdDefect:
    """One entry of a task that does not fit the others.

    Attributes:
        file: its name in the task.
        line: of the entry.
        code: unknown_image, unknown_phase, not_a_query, not_ranked, own_product or in_training.
        reason: in words.
    """

    file: str
    line: int
    code: str
    reason: str


def find_vsd_defects(task: VsdTask) -> list[VsdDefect]:
    """Return every defect of a task, file by file.

    Raises:
        FormatError: a file whose entries have another shape, or a pair with both labels.

    >>> from lookalike.io.vsd_task import make_vsd_task
    >>> images = [{"id": "A", "path": "a.jpg", "phase": "test"}]
    >>> task = make_vsd_task("toy", images, [("a.jpg", "b.jpg", 1)])
    >>> [(defect.line, defect.code) for defect in find_vsd_defects(task)]
    [(2, 'unknown_image')]
    """
    defects = list(_unknown_phases(task))
    for split in SPLITS:
        defects += _unknown_names(task, split)
        if task.file("annotations", split):
            task.qrels(split)
            defects += _labels(task, split)
    if "open_catalog" in task.name:
        defects += _products_of_both(task)
    return defects


def _unknown_phases(task: VsdTask) -> Iterator[VsdDefect]:
    if not (file := task.file("metadata")):
        return
    for (line, _), image in zip(file.json.entries("images"), task.images.values(), strict=True):
        if image["phase"] not in PHASES:
            known = ", ".join(sorted(PHASES))
            reason = f"phase {image['phase']!r} takes {image['path']!r} out of every task; {known}"
            yield VsdDefect(file.name, line, "unknown_phase", reason)


def _unknown_names(task: VsdTask, split: Split) -> Iterator[VsdDefect]:
    """Yield seeds and members of the manifest that the metadata do not know."""
    manifest = task.manifest(split) or []
    for role, key, paths in (
        ("seeds", "seeds", task.seeds(split) if task.file("seeds", split) else []),
        ("manifest", "images", manifest),
    ):
        file = task.file(role, split)  # type: ignore[arg-type]
        if file is None or not paths:
            continue
        for (line, _), path in zip(file.json.entries(key), paths, strict=True):
            if path not in task.images:
                yield _unknown(file.name, line, path)


def _labels(task: VsdTask, split: Split) -> Iterator[VsdDefect]:
    file = task.file("annotations", split)
    if file is None:
        return
    queries, gallery, products = set(task.queries(split)), set(task.gallery(split)), task.products
    for row in annotation_rows(file.json):
        query, candidate = row.query, row.candidate
        unknown = [path for path in (query, candidate) if path not in products]
        if unknown:
            yield from (_unknown(file.name, row.line, path) for path in unknown)
        elif query not in queries:
            reason = f"{query!r} is judged, but no query: by seeds, manifest or phase"
            yield VsdDefect(file.name, row.line, "not_a_query", reason)
        elif candidate not in gallery:
            reason = f"{candidate!r} is judged, but not ranked: by manifest or phase"
            yield VsdDefect(file.name, row.line, "not_ranked", reason)
        elif products[query] == products[candidate]:
            reason = f"both images show product {products[query]!r}: no list can hold it"
            yield VsdDefect(file.name, row.line, "own_product", reason)


def _products_of_both(task: VsdTask) -> Iterator[VsdDefect]:
    """Yield products of the test set that training has seen, which an open catalog rules out."""
    file = task.file("manifest", "train")
    if file is None or not task.file("manifest", "test"):
        return
    products = task.products
    tested = {products[path] for path in task.members("test")}
    paths = task.manifest("train") or []
    for (line, _), path in zip(file.json.entries("images"), paths, strict=True):
        if products.get(path) in tested:
            reason = f"product {products[path]!r} of {path!r} is in the test set, too"
            yield VsdDefect(file.name, line, "in_training", reason)


def _unknown(file: str, line: int, path: str) -> VsdDefect:
    return VsdDefect(file, line, "unknown_image", f"the metadata do not know {path!r}")
