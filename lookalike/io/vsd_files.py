"""The files of a VSD task in a folder or zip, told by their content, whatever their names."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Literal

from lookalike.core.unpacking import DAMAGES, why_too_much
from lookalike.io.errors import FormatError
from lookalike.io.json_text import MAX_BYTES, JsonText, parse_json, read_json

Split = Literal["test", "train"]
Role = Literal["metadata", "annotations", "seeds", "manifest", "task"]
MAX_FILES = 100


@dataclass(frozen=True)
class VsdFile:
    """One file of a task.

    Attributes:
        name: its path in the task's folder.
        role: the kind of its content.
        split: whose it is.
        json: its content.
    """

    name: str
    role: Role
    split: Split
    json: JsonText


def vsd_files(source: Path) -> Iterator[VsdFile]:
    """Yield the JSON files at the top of a folder or zip and in its train and test folders.

    Raises:
        FormatError: a file that cannot be read, swells, or is none of a task's.
        OSError: if a file cannot be opened.
    """
    for name, json in _json_files(source):
        role = _role(json)
        split = "test" if role in {"metadata", "task"} else _split(name)
        yield VsdFile(name, role, split, json)


def _role(json: JsonText) -> Role:
    value = json.value
    if isinstance(value, list):
        return "annotations"
    if isinstance(value, dict):
        if "seeds" in value:
            return "seeds"
        if isinstance(images := value.get("images"), list):
            has_products = any(isinstance(entry, dict) and "id" in entry for entry in images)
            return "metadata" if has_products else "manifest"
        if {"task", "gallery_phases"} & value.keys():
            return "task"
    reason = "it holds neither images, annotations, seeds nor gallery_phases of a VSD task"
    raise FormatError(json.path, 1, reason)


def _split(name: str) -> Split:
    return "train" if "train" in re.split(r"[^a-z]+", name.lower()) else "test"


def _json_files(source: Path) -> Iterator[tuple[str, JsonText]]:
    """Yield name and content of the JSON files at the top and in the train and test folders."""
    if source.is_dir():
        found = sorted({*source.glob("*.json"), *source.glob("train/*.json"),
                        *source.glob("test/*.json")})  # fmt: skip
        for path in found[:MAX_FILES]:
            yield path.relative_to(source).as_posix(), read_json(path)
        return
    try:
        with zipfile.ZipFile(source) as archive:
            members = [entry for entry in archive.infolist() if entry.filename.endswith(".json")]
            top = _common_top([entry.filename for entry in members])
            for entry in members[:MAX_FILES]:
                name = entry.filename.removeprefix(top)
                if PurePosixPath(name).parent.as_posix() not in (".", "train", "test"):
                    continue
                place = source / name
                if entry.file_size > MAX_BYTES:
                    raise FormatError(place, None, f"at most {MAX_BYTES:,} bytes of JSON are read")
                if reason := why_too_much(entry.file_size, entry.compress_size):
                    raise FormatError(place, None, reason)
                yield name, parse_json(place, archive.read(entry))
    except FormatError:
        raise
    except DAMAGES as problem:
        raise FormatError(source, None, f"not a readable zip file: {problem}") from problem


def _common_top(names: list[str]) -> str:
    tops = {name.partition("/")[0] for name in names if "/" in name}
    is_common = len(tops) == 1 and all("/" in name for name in names)
    top = f"{tops.pop()}/" if is_common else ""
    return "" if top in ("train/", "test/") else top
