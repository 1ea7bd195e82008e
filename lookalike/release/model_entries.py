"""The facts of models.json that follow from the proposals of the pool."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from lookalike.backbones.spec import backbone_family
from lookalike.bias.outsiders import OUTSIDER, POOLED, SIBLING
from lookalike.release.format.folder import Folder

Entry = dict[str, Any]


def complete_entries(folder: Folder, entries: Sequence[Entry]) -> list[Entry]:
    """Return the entries of models.json with the number of proposals and the part in the pool.

    A model is pooled if it proposed pairs, or was a source of the pool that proposed none;
    a sibling if it has the family of a pooled one; else an outsider.

    Args:
        folder: the release; its table pool is read.
        entries: the models.
    """
    n_proposed = Counter(model for (model,) in folder.rows("pool", "model_id"))
    pooled = {one["id"] for one in entries if n_proposed[one["id"]] or _proposed_nothing(one)}
    families = {one["family"] for one in entries if one["id"] in pooled}
    return [
        one
        | ({"n_proposals": n_proposed[one["id"]]} if "n_proposals" in one else {})
        | {"badge": _badge(one, pooled, families)}
        for one in entries
    ]


def contradictions(folder: Folder) -> Iterator[str]:
    """Yield the statements of models.json that names and proposals of models contradict."""
    for model in folder.models:
        family = _family(model)
        if model["family"] != family:
            yield f"says family {model['family']!r} of {model['id']}; its name gives {family!r}"
    known = {model["id"] for model in folder.models}
    for name in sorted({model for (model,) in folder.rows("pool", "model_id")} - known):
        yield f"lacks {name}, which proposed pairs of data/pool.parquet"
    for stated, right in zip(folder.models, complete_entries(folder, folder.models), strict=True):
        for key in right:
            if stated[key] != right[key]:
                yield (
                    f"says {stated[key]!r} for {key} of {stated['id']} where data/pool.parquet "
                    f"gives {right[key]!r}"
                )


def _family(entry: Entry) -> str:
    """Return the family that a model's name gives; of learned models and uploads, the stated one.

    Their names do not give a family.
    """
    is_free = entry["kind"] == "scores" or entry["name"].startswith("learned:")
    return str(entry["family"] if is_free else backbone_family(entry["name"]))


def _proposed_nothing(entry: Entry) -> bool:
    return bool(entry["badge"] == POOLED and entry.get("n_proposals") == 0)


def _badge(entry: Entry, pooled: set[str], families: set[str]) -> str:
    if entry["id"] in pooled:
        return POOLED
    return SIBLING if entry["family"] in families else OUTSIDER
