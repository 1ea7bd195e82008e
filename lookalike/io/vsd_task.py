"""A task of the VSD benchmark: which images are queries, which are ranked, and their labels.

Source: README and `dataset_utils/image_dataset.py` of vsd-benchmark/vsd at c08e8d9. Its four
tasks are in_catalog_retrieval_zero_shot, in_catalog_open_catalog, in_catalog_closed_catalog and
consumer-catalog_wild_zero_shot.
"""

from __future__ import annotations

import io
import shutil
import uuid
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from lookalike.io.errors import FormatError, InputError
from lookalike.io.json_text import JsonStyle, JsonText
from lookalike.io.tables import Qrels, labels_from
from lookalike.io.vsd import annotation_rows
from lookalike.io.vsd_files import Role, Split, VsdFile, vsd_files

SPLITS: tuple[Split, ...] = ("test", "train")
PHASES = frozenset({"train", "test", "query", "gallery", "search"})
"""Images of other phases are in no task."""
RESERVED = frozenset({"id", "path", "phase"})
"""What metadata say of every image; all else is an attribute."""
OWN_STYLE = JsonStyle()
_MOMENT = (1980, 1, 1, 0, 0, 0)  # the first that a zip can say; no clock enters the bytes


@dataclass(frozen=True)
class VsdTask:
    """A task as its files say it.

    Attributes:
        name: the task's.
        files: metadata and annotations; perhaps seeds, manifest and task; some of them for the
            training split, too.
    """

    name: str
    files: tuple[VsdFile, ...]

    def file(self, role: Role, split: Split = "test") -> VsdFile | None:
        """Return the file of a role, None if there is none."""
        found = (file for file in self.files if (file.role, file.split) == (role, split))
        return next(found, None)

    @cached_property
    def images(self) -> dict[str, dict[str, Any]]:
        """{path: what the metadata say of it}, `id` being the product; in the order of the file."""
        file = _needed(self, "metadata")
        images: dict[str, dict[str, Any]] = {}
        for number, (line, entry) in enumerate(file.entries("images"), 1):
            known = entry if isinstance(entry, dict) else {}
            for key in ("id", "path", "phase"):
                if not isinstance(known.get(key), str) or not known[key]:
                    raise FormatError(file.path, line, f'entry {number} lacks "{key}"')
            if known["path"] in images:
                reason = f"{known['path']!r} stands in an entry before this one, too"
                raise FormatError(file.path, line, reason)
            images[known["path"]] = known
        return images

    @property
    def products(self) -> dict[str, str]:
        """{path: product id}."""
        return {path: image["id"] for path, image in self.images.items()}

    @cached_property
    def gallery_phases(self) -> tuple[str, ...] | None:
        """The phases of the images that are ranked; None for all of the test set."""
        file = self.file("task")
        phases = file.json.value.get("gallery_phases") if file else None  # type: ignore[attr-defined]
        if file is None or phases is None:
            return None
        if not isinstance(phases, list) or not phases or not PHASES.issuperset(map(str, phases)):
            known = ", ".join(sorted(PHASES))
            raise FormatError(file.json.path, None, f'"gallery_phases" is no list of {known}')
        return tuple(phases)

    def qrels(self, split: Split = "test") -> Qrels:
        """Return the labels of a split.

        Raises:
            FormatError: as `read_qrels`; or a pair that has both labels.
        """
        file = _needed(self, "annotations", split)
        return labels_from(file.path, annotation_rows(file))

    def manifest(self, split: Split = "test") -> list[str] | None:
        """Return the images of a split; None if all images are in it."""
        file = self.file("manifest", split)
        return _strings(file.json, "images", "path") or None if file else None

    def seeds(self, split: Split = "test") -> list[str]:
        """Return the images that may be queries: those named, else the first of each pair."""
        if file := self.file("seeds", split):
            return _strings(file.json, "seeds")
        rows = annotation_rows(_needed(self, "annotations", split))
        return list(dict.fromkeys(row.query for row in rows))

    def members(self, split: Split = "test") -> list[str]:
        """Return the images of a split that have a phase of the benchmark, as metadata go."""
        manifest = self.manifest(split)
        listed = None if manifest is None else set(manifest)
        return [
            path
            for path, image in self.images.items()
            if image["phase"] in PHASES and (listed is None or path in listed)
        ]

    def queries(self, split: Split = "test") -> list[str]:
        """Return the queries: members of the split that are seeds."""
        seeds = set(self.seeds(split))
        return [path for path in self.members(split) if path in seeds]

    def gallery(self, split: Split = "test") -> list[str]:
        """Return the ranked images: the split with queries, or those of the gallery's phases."""
        phases = self.gallery_phases
        members = self.members(split)
        if phases is None:
            return members
        return [path for path in members if self.images[path]["phase"] in phases]


def read_vsd_task(source: str | Path) -> VsdTask:
    """Read the task in a folder or zip; files are told by their content, whatever their names.

    metadata `{"images": [{"id", "path", "phase", ...}]}`, annotations `[{"key": [seed,
    candidate], "value": 0 or 1}]`, seeds `{"seeds": [path]}`, manifest `{"images": [{"path"}]}`,
    and `{"gallery_phases": [...], "task": name}`, which the benchmark keeps in code. A file with
    the word train in its path is the training split's.

    Raises:
        FormatError: a file that cannot be read, or is none of a task's; or two of one role.
        InputError: no metadata or no annotations.
        OSError: if a file cannot be opened.
    """
    source = Path(source)
    files: dict[tuple[Split, Role], VsdFile] = {}
    for file in vsd_files(source):
        before = files.setdefault((file.split, file.role), file)
        if before is not file:
            reason = f"{file.role} of the {file.split} split stand in {before.name}, too; keep one"
            raise FormatError(file.json.path, None, reason)
    name = source.stem if source.is_file() else source.resolve().name
    task = VsdTask(name, tuple(files.values()))
    if about := task.file("task"):
        named = about.json.value.get("task")  # type: ignore[attr-defined]
        task = replace(task, name=named if isinstance(named, str) and named else name)
    needed: tuple[Role, ...] = ("metadata", "annotations")
    for role in needed:
        if task.file(role) is None:
            raise InputError(f"{source}: no file holds {role} of a VSD task")
    _ = task.images, task.gallery_phases
    return task


def write_vsd_task(task: VsdTask, folder: str | Path) -> list[str]:
    """Write a task's files into a new folder: all of them, or nothing.

    A file that was read is written as it was laid out, byte for byte.

    Returns:
        The names of files whose layout is none that is known: what they say is the same, their
        bytes are not.

    Raises:
        InputError: the folder is there and holds something.
        OSError: it cannot be written.
    """
    folder = Path(folder)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"{folder} is there already; name a new folder")
    folder.parent.mkdir(parents=True, exist_ok=True)
    place = folder.parent / f".{folder.name}.{uuid.uuid4()}"
    try:
        for name, content in task_contents(task):
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            (place / name).write_bytes(content)
        place.rename(folder)
    except BaseException:
        shutil.rmtree(place, ignore_errors=True)
        raise
    return [file.name for file in task.files if file.json.style is None]


def task_contents(task: VsdTask) -> Iterator[tuple[str, bytes]]:
    """Yield the name and the bytes of each file of a task."""
    for file in task.files:
        style = file.json.style or replace(OWN_STYLE, by_line=isinstance(file.json.value, list))
        yield file.name, style.dumps(file.json.value).encode()


def zip_vsd_task(task: VsdTask) -> bytes:
    """Return a task's files as a zip: the same bytes for the same task."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in task_contents(task):
            entry = zipfile.ZipInfo(f"{task.name}/{name}", _MOMENT)
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, content, zipfile.ZIP_DEFLATED)
    return packed.getvalue()


def make_vsd_task(
    name: str,
    images: Iterable[Mapping[str, object]],
    labels: Iterable[tuple[str, str, int]],
    *,
    seeds: Sequence[str] | None = None,
    manifest: Sequence[str] | None = None,
    gallery_phases: Sequence[str] | None = None,
) -> VsdTask:
    """Return a task with one split.

    Args:
        name: of the task.
        images: each with `id` (the product), `path` and `phase`, and what else is known.
        labels: seed, candidate, and 0 or 1.
        seeds: the queries; the first of each pair if None.
        manifest: the images that take part; all if None.
        gallery_phases: of the images that are ranked; all if None.

    Raises:
        FormatError: a phase that the benchmark does not have.

    >>> images = [{"id": "A", "path": "a.jpg", "phase": "query"}]
    >>> images += [{"id": "B", "path": "b.jpg", "phase": "gallery"}]
    >>> task = make_vsd_task("toy", images, [("a.jpg", "b.jpg", 1)], gallery_phases=["gallery"])
    >>> task.queries(), task.gallery(), len(task.qrels())
    (['a.jpg'], ['b.jpg'], 1)
    """
    contents: dict[Role, object] = {
        "metadata": {"images": [dict(image) for image in images]},
        "annotations": [{"key": [q, c], "value": int(label)} for q, c, label in labels],
    }
    if seeds is not None:
        contents["seeds"] = {"seeds": list(seeds)}
    if manifest is not None:
        contents["manifest"] = {"images": [{"path": path} for path in manifest]}
    if gallery_phases is not None:
        contents["task"] = {"task": name, "gallery_phases": list(gallery_phases)}
    files = []
    for role, value in contents.items():
        style = replace(OWN_STYLE, by_line=role != "task")
        text = JsonText(Path(f"{role}.json"), style.dumps(value), value)
        files.append(VsdFile(f"{role}.json", role, "test", text))
    task = VsdTask(name, tuple(files))
    _ = task.gallery_phases
    return task


def _needed(task: VsdTask, role: Role, split: Split = "test") -> JsonText:
    file = task.file(role, split)
    if file is None:
        raise InputError(f"{task.name}: no file holds {role} of the {split} split")
    return file.json


def _strings(json: JsonText, key: str, inner: str | None = None) -> list[str]:
    """Return the texts of an array; with `inner`, that key of its objects."""
    found: list[str] = []
    for number, (line, entry) in enumerate(json.entries(key), 1):
        value = entry.get(inner) if inner and isinstance(entry, dict) else entry
        if not isinstance(value, str) or not value:
            what = f'lacks "{inner}"' if inner else "is no text"
            raise FormatError(json.path, line, f"entry {number} of {key!r} {what}")
        found.append(value)
    return found
