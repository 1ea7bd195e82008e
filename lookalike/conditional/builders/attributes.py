"""Templates about an attribute of an object: the same colour, or this object in another colour.

Source: Vaze et al. (CVPR 2023), section 4 and figure 2; the details (appendix A.1) are not known
and filled in by analogy with the object tasks. Only explicit labels count: an unlabelled value is
neither present nor absent, which is what makes the target unique.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from lookalike.conditional.builders.attribute_table import AttributeTable
from lookalike.conditional.builders.turns import (
    FEW_HAVING,
    FEW_LACKING,
    NO_TARGET,
    Built,
    Limits,
    draw_in_turns,
    pick_apart,
    shuffled_gallery,
)
from lookalike.conditional.types import Details, Provenance, RetrievalTemplate, Task
from lookalike.core.arrays import Ints

N_LACKING, N_HAVING = 9, 5
CATCH_ALL = frozenset({"other"})  # VAW's type of values that have no type in common


class AttributeTypeError(ValueError):
    """Attribute types that cannot be asked for; the message says which and why."""


def build_focus_attribute(
    table: AttributeTable,
    limits: Limits,
    seed: int,
    *,
    source: str,
    types: Sequence[str] | None = None,
) -> Built:
    """Draw templates "the same <type>": the condition is an attribute type such as "color".

    Reference and target are of one object and both have a value of the type. The 9 distractors
    are of that object too, are known not to have the value, and have none of the reference's
    other values of the type. No two pictures show one image or one product.

    Args:
        table: the instances.
        limits: caps.
        seed: of the draw; the same seed and table give the same set.
        source: for the provenance.
        types: the types to ask for; by default all of the table but VAW's catch-all "other".

    Returns:
        The templates and why other references were rejected.

    Raises:
        AttributeTypeError: a type that the table does not have, or it has the catch-all alone.
    """
    chosen = chosen_types(types, table.types)
    rng = np.random.default_rng(seed)
    references = {
        name: np.flatnonzero((table.labels[:, table.types[name]] == 1).any(axis=1))
        for name in chosen
    }
    draw = _Draw(table, rng, seed, source, Task.FOCUS_ATTRIBUTE)
    return draw_in_turns(references, draw.focus, table.images, limits, rng)


def build_change_attribute(
    table: AttributeTable,
    limits: Limits,
    seed: int,
    *,
    source: str,
    types: Sequence[str] | None = None,
) -> Built:
    """Draw templates "this, but <value>": the condition is a value such as "olive green".

    The reference is known not to have the value and has another one of its type (where no
    instance is like that, being known not to have it is enough). The target is of the same object
    and has the value. Distractors: 9 of the same object known not to have it, 5 of other objects
    that have it. No two pictures show one image or one product.

    Args:
        table: the instances.
        limits: caps.
        seed: of the draw.
        source: for the provenance.
        types: the types of the values to ask for; by default all of the table but VAW's
            catch-all "other".

    Returns:
        The templates and why other references were rejected.

    Raises:
        AttributeTypeError: a type that the table does not have, or it has the catch-all alone.
    """
    rng = np.random.default_rng(seed)
    references: dict[str, Ints] = {}
    for name in chosen_types(types, table.types):
        for column in table.types[name].tolist():
            lacking = table.labels[:, column] == -1
            others = table.types[name][table.types[name] != column]
            replacing = lacking & (table.labels[:, others] == 1).any(axis=1)
            found = np.flatnonzero(replacing if replacing.any() else lacking)
            known = references.get(str(column), np.zeros(0, np.int64))
            references[str(column)] = np.union1d(known, found)
    draw = _Draw(table, rng, seed, source, Task.CHANGE_ATTRIBUTE)
    built = draw_in_turns(references, draw.change, table.images, limits, rng)
    by_text: Counter[str] = Counter()  # two values may share one
    for condition, n in built.report.by_condition.items():
        by_text[table.text(int(condition))] += n
    report = replace(built.report, by_condition=dict(sorted(by_text.items())))
    return Built(built.templates, report)


def chosen_types(types: Sequence[str] | None, held: Iterable[str]) -> list[str]:
    """Return the attribute types to ask for; see `build_focus_attribute`.

    >>> chosen_types(None, ["color", "material", "other"])
    ['color', 'material']
    >>> chosen_types(["other"], ["color", "material", "other"])
    ['other']

    Raises:
        AttributeTypeError: as `build_focus_attribute`.
    """
    names = list(held)
    if types is None:
        chosen = [name for name in names if name not in CATCH_ALL]
        if names and not chosen:
            raise AttributeTypeError(
                f"the only attribute type is the catch-all {names[0]!r}; name it to ask for it"
            )
        return chosen
    for name in types:
        if name not in names:
            reason = f"there is no attribute type {name!r}; known: {', '.join(names)}"
            raise AttributeTypeError(reason)
    return list(dict.fromkeys(types))


@dataclass(frozen=True)
class _Draw:
    """One draw: the table, its random numbers and what the provenance says."""

    table: AttributeTable
    rng: np.random.Generator
    seed: int
    source: str
    task: Task

    def focus(self, type_name: str, row: int) -> RetrievalTemplate | str:
        """Make a template of a type and a reference."""
        table = self.table
        columns = table.types[type_name]
        held = columns[table.labels[row, columns] == 1]
        column = int(self.rng.choice(held))
        peers = self._peers(row)
        target = self._target(peers, column)
        if target is None:
            return NO_TARGET
        is_wrong = (table.labels[peers, column] == -1) & ~(
            table.labels[np.ix_(peers, held)] == 1
        ).any(axis=1)
        taken = {int(table.groups[row]), int(table.groups[target])}
        lacking = self._pick(peers[is_wrong], taken, N_LACKING)
        if lacking is None:
            return FEW_LACKING
        facts = {"type": type_name, "value": table.text(column)}
        return self._template(type_name, (row, target), (lacking, []), facts)

    def change(self, column_name: str, row: int) -> RetrievalTemplate | str:
        """Make a template of a value and a reference."""
        table, column = self.table, int(column_name)
        peers = self._peers(row)
        target = self._target(peers, column)
        if target is None:
            return NO_TARGET
        taken = {int(table.groups[row]), int(table.groups[target])}
        lacking = self._pick(peers[table.labels[peers, column] == -1], taken, N_LACKING)
        if lacking is None:
            return FEW_LACKING
        owners = table.owners[column]
        strangers = owners[table.objects[owners] != table.objects[row]]
        having = self._pick(strangers, taken, N_HAVING)
        if having is None:
            return FEW_HAVING
        text = table.text(column)
        return self._template(text, (row, target), (lacking, having), {"value": text})

    def _peers(self, row: int) -> Ints:
        members = self.table.members[int(self.table.objects[row])]
        peers: Ints = members[self.table.groups[members] != self.table.groups[row]]
        return peers

    def _target(self, peers: Ints, column: int) -> int | None:
        owners = peers[self.table.labels[peers, column] == 1]
        return int(self.rng.choice(owners)) if owners.size else None

    def _pick(self, pool: Ints, taken: set[int], n: int) -> list[int] | None:
        if pool.size < n:
            return None
        chosen = pick_apart(self.rng.permutation(pool), self.table.groups, taken, n)
        return chosen if len(chosen) == n else None

    def _template(
        self,
        condition: str,
        pair: tuple[int, int],
        distractors: tuple[list[int], list[int]],
        facts: Details,
    ) -> RetrievalTemplate:
        row, target = pair
        views = ([self.table.view(row) for row in rows] for rows in distractors)
        gallery, answer = shuffled_gallery(self.rng, *views)
        facts = {"object": self.table.instances[row].object_name, **facts}
        return RetrievalTemplate(
            task=self.task,
            condition=condition,
            reference=self.table.view(row),
            target=self.table.view(target),
            gallery=gallery,
            provenance=Provenance(self.source, 0, self.seed, facts),
            answer=answer,
        )
