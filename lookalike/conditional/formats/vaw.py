"""Files of VAW (Pham et al., CVPR 2021): objects with attributes that they have and have not.

Instances: a JSON list of `{"image_id", "instance_id", "instance_bbox": [x, y, w, h], "object_name",
"positive_attributes": [...], "negative_attributes": [...]}`; further keys are kept. Types:
`attribute_types.json`, `{type: [values]}`, where a value may stand under two types.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lookalike.conditional.formats.json_files import (
    EntryError,
    as_box,
    as_id,
    as_object,
    as_text,
    as_texts,
    json_kind,
    number_if_decimal,
    read_json,
    read_json_list,
    write_json,
)
from lookalike.conditional.types import Defect, Instance
from lookalike.io.errors import FormatError

SOURCE = "vaw"
Types = dict[str, list[str]]


@dataclass(frozen=True)
class InstanceSet:
    """Instances in the order of their file.

    Attributes:
        instances: every entry that has the shape of an instance.
        malformed: the entries that could not be read (code `malformed`).
        doubtful: instances that are read but say contradictory things (`contradiction`: a value
            among the positive and the negative ones, which the builders take as unlabelled) or
            repeat an instance id (`duplicate`); index is the place in the file.
    """

    instances: tuple[Instance, ...]
    malformed: tuple[Defect, ...] = ()
    doubtful: tuple[Defect, ...] = ()


def read_vaw(*paths: str | Path) -> InstanceSet:
    """Return the instances of VAW files, in their order and with all that they say.

    VAW publishes its training instances in two parts. Entries are numbered on from file to file;
    where there are several files, a defect also names its file and its entry there.

    Args:
        paths: of the files, at least one.

    Raises:
        FormatError: a file that is not JSON, not a list, or without one usable entry.
        OSError: if a file cannot be opened.
    """
    found = _Instances(n_files=len(paths))
    for path in map(Path, paths):
        found.add(path, read_json_list(path))
    return InstanceSet(tuple(found.instances), tuple(found.malformed), tuple(found.doubtful))


@dataclass
class _Instances:
    """Instances and defects of the files read so far."""

    n_files: int
    n_entries: int = 0
    instances: list[Instance] = field(default_factory=list)
    malformed: list[Defect] = field(default_factory=list)
    doubtful: list[Defect] = field(default_factory=list)
    first_with: dict[str, int] = field(default_factory=dict)

    def add(self, path: Path, entries: Sequence[object]) -> None:
        """Read the entries of a file.

        Raises:
            FormatError: none of them is an instance.
        """
        n_before, n_malformed = len(self.instances), len(self.malformed)
        for number, entry in enumerate(entries):
            where = f"{path.name}, entry {number}: " if self.n_files > 1 else ""
            try:
                instance = _instance(entry)
            except EntryError as problem:
                self._note(self.malformed, "malformed", f"{where}{problem}")
            else:
                self._add(instance, where)
            self.n_entries += 1
        if len(self.instances) == n_before:
            first = self.malformed[n_malformed].reason if entries else "the list is empty"
            raise FormatError(path, None, f"no entry is an instance (the first: {first})")

    def _add(self, instance: Instance, where: str) -> None:
        self.instances.append(instance)
        if instance.contradictions:
            values = ", ".join(sorted(instance.contradictions))
            reason = f"{where}instance {instance.name!r} has and has not: {values}"
            self._note(self.doubtful, "contradiction", reason)
        earlier = self.first_with.setdefault(instance.name, self.n_entries)
        if earlier != self.n_entries:
            reason = f"{where}instance id {instance.name!r} is that of entry {earlier}"
            self._note(self.doubtful, "duplicate", reason)

    def _note(self, defects: list[Defect], code: str, reason: str) -> None:
        defects.append(Defect(self.n_entries, code, reason))


def read_attribute_types(path: str | Path) -> Types:
    """Return {type: its values} of an attribute_types.json, repeated values once.

    Raises:
        FormatError: not JSON, not an object of lists of texts, or empty.
        OSError: if the file cannot be opened.
    """
    path = Path(path)
    found = read_json(path)
    if not isinstance(found, dict) or not found:
        raise FormatError(path, 1, f"an object of types is needed, not {json_kind(found)}")
    types: Types = {}
    for name in found:
        try:
            types[name] = list(dict.fromkeys(as_texts(found, name)))
        except EntryError as problem:
            raise FormatError(path, None, f"type {problem}") from problem
    return types


def write_vaw(path: str | Path, instances: Sequence[Instance]) -> None:
    """Write instances as a VAW file; what was read comes back as it was.

    Raises:
        ValueError: an instance without box.
    """
    write_json(Path(path), [_entry(instance) for instance in instances])


def _instance(entry: object) -> Instance:
    found = as_object(entry)
    name = as_text(found, "object_name")
    if not name.strip():
        raise EntryError("object_name is empty")
    box = as_box(found, "instance_bbox")
    if not (box.width > 0 and box.height > 0 and box.left >= 0 and box.top >= 0):
        raise EntryError(f"instance_bbox {list(box)} has no area or begins outside the image")
    return Instance(
        image=as_id(found, "image_id"),
        name=as_id(found, "instance_id"),
        object_name=name,
        positive=frozenset(as_texts(found, "positive_attributes")),
        negative=frozenset(as_texts(found, "negative_attributes")),
        box=box,
        details=dict(found),
    )


def _entry(instance: Instance) -> dict[str, object]:
    if instance.box is None:
        raise ValueError(f"instance {instance.name!r} has no box, which VAW files need")
    entry = dict(instance.details) if "instance_bbox" in instance.details else {}
    for key, name in (("image_id", instance.image), ("instance_id", instance.name)):
        if str(entry.get(key)) != name:
            entry[key] = number_if_decimal(name)
    if entry.get("instance_bbox") != list(instance.box):
        entry["instance_bbox"] = list(instance.box)
    entry["object_name"] = instance.object_name
    for key, values in (
        ("positive_attributes", instance.positive),
        ("negative_attributes", instance.negative),
    ):
        written = entry.get(key)
        if not isinstance(written, list) or frozenset(written) != values:
            entry[key] = sorted(values)
    return entry
