"""Files of VAW (Pham et al., CVPR 2021): objects with attributes that they have and have not.

Instances: a JSON list of `{"image_id", "instance_id", "instance_bbox": [x, y, w, h], "object_name",
"positive_attributes": [...], "negative_attributes": [...]}`; further keys are kept. Types:
`attribute_types.json`, `{type: [values]}`, where a value may stand under two types.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
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


def read_vaw(path: str | Path) -> InstanceSet:
    """Return the instances of a VAW file, in its order and with all that it says.

    Raises:
        FormatError: not JSON, not a list, or not one usable entry.
        OSError: if the file cannot be opened.
    """
    path = Path(path)
    instances: list[Instance] = []
    malformed: list[Defect] = []
    doubtful: list[Defect] = []
    first_with: dict[str, int] = {}
    for index, entry in enumerate(read_json_list(path)):
        try:
            instance = _instance(entry)
        except EntryError as problem:
            malformed.append(Defect(index, "malformed", str(problem)))
            continue
        instances.append(instance)
        if instance.contradictions:
            values = ", ".join(sorted(instance.contradictions))
            reason = f"instance {instance.name!r} has and has not: {values}"
            doubtful.append(Defect(index, "contradiction", reason))
        earlier = first_with.setdefault(instance.name, index)
        if earlier != index:
            reason = f"instance id {instance.name!r} is that of entry {earlier}"
            doubtful.append(Defect(index, "duplicate", reason))
    if not instances:
        first = malformed[0].reason
        raise FormatError(path, None, f"no entry is an instance (the first: {first})")
    return InstanceSet(tuple(instances), tuple(malformed), tuple(doubtful))


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
