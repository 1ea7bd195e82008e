"""The files of others that a set is imported from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from catalog.importing.uploads import upload_path
from conditional.stored_sets import files_digest
from lookalike.conditional.crops import Dilation
from lookalike.conditional.types import Task
from lookalike.core.errors import Refused
from lookalike.io.errors import InputError, message_with_names

TEMPLATES_TASK = "conditional.import_templates"
TRIPLETS_TASK = "conditional.import_triplets"


class Kind(StrEnum):
    """What files are read as."""

    GENECIS = "genecis"
    CIRR = "cirr"
    TRIPLETS = "triplets"
    INTEGERS = "integers"

    @property
    def is_triplets(self) -> bool:
        """Whether a set of triplets comes of it, not one of templates."""
        return self in (Kind.TRIPLETS, Kind.INTEGERS)

    @property
    def ending(self) -> str:
        """Under what ending such a file is kept."""
        return {Kind.TRIPLETS: "csv", Kind.INTEGERS: "txt"}.get(self, "json")


@dataclass(frozen=True)
class SetFiles:
    """Files that a set is made of, and how to read them.

    Attributes:
        kind: of all files.
        paths: one file, or several of integers.
        names: what integers are positions of.
        scale: of triplets: a known order of the images.
        split: of CIRR: the images that entries without image set look among.
        where: {column: value}, only those rows of a CSV file.
        task: of a GeneCIS file whose name does not state it.
        crops: how boxes of templates are cut out.
        keep_good: leave defective entries out; without it one of them stops the import.
        called: {path: what its giver calls it}, for files that lie under other names.
    """

    kind: Kind
    paths: Sequence[Path]
    names: Path | None = None
    scale: Path | None = None
    split: Path | None = None
    where: Mapping[str, str] = field(default_factory=dict)
    task: Task | None = None
    crops: Dilation = "paper"
    keep_good: bool = False
    called: Mapping[Path, str] = field(default_factory=dict)

    @classmethod
    def of_uploads(cls, arguments: Mapping[str, Any]) -> SetFiles:
        """Return the uploads that a job names."""
        beside = {role: arguments.get(role) for role in ("names", "scale", "split")}
        return cls(
            kind=Kind(arguments["kind"]),
            paths=[upload_path(stored) for stored, _ in arguments["files"]],
            where=arguments["where"],
            task=Task(arguments["task"]) if arguments["task"] else None,
            crops=arguments.get("crops", "paper"),
            keep_good=arguments["keep_good"],
            called={upload_path(stored): name for stored, name in uploads_in(arguments)},
            **{role: upload_path(kept[0]) for role, kept in beside.items() if kept},
        )

    def as_arguments(self) -> dict[str, Any]:
        """Return what a command's job says of the files, so that the very same is known again.

        Raises:
            OSError: a file cannot be read.
        """
        beside = [path for path in (self.names, self.scale, self.split) if path is not None]
        return {
            "kind": self.kind.value,
            "paths": [str(path.resolve()) for path in [*self.paths, *beside]],
            "sha256": files_digest([*self.paths, *beside]),
            "where": dict(self.where),
            "task": self.task,
            "crops": self.crops,
            "keep_good": self.keep_good,
        }

    @property
    def title(self) -> str:
        """The files' names."""
        return ", ".join(self.called.get(path, path.name) for path in self.paths)

    @property
    def provenance(self) -> dict[str, str]:
        """What a set's row says of the files.

        Raises:
            OSError: a file cannot be read.
        """
        return {"file_name": self.title[:300], "file_sha256": files_digest(self.paths)}

    @contextmanager
    def reading(self, field_name: str = "file") -> Iterator[None]:
        """Refuse what turns out to be unreadable, naming files as their giver does."""
        try:
            yield
        except (InputError, OSError) as problem:
            raise Refused(field_name, message_with_names(problem, self.called)) from problem


def uploads_in(arguments: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return all files of an import: the names on our disk, and those that their giver gave."""
    beside = [arguments.get(role) for role in ("names", "scale", "split")]
    return [(stored, name) for stored, name in (*arguments["files"], *filter(None, beside))]
