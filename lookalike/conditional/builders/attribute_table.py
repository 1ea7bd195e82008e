"""Instances and their attributes as arrays, which the attribute builders read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lookalike.conditional.builders.turns import group_codes, number_keys
from lookalike.conditional.types import Instance, View
from lookalike.core.arrays import Ints


@dataclass(frozen=True)
class AttributeTable:
    """What is known of the attributes of instances.

    Attributes:
        instances: as given.
        labels: shape (n_instances, n_values): 1 has the value, -1 is known not to have it, 0
            unlabelled (also where the source contradicts itself).
        values: names of the columns, ascending.
        types: {type: its values among the columns}, as positions; values without a type are in
            none, and neither task asks for them.
        texts: {value: how to say it in a condition}; the value itself where it is missing.
        objects: shape (n_instances,), the object's number.
        images: shape (n_instances,), the image's number.
        groups: shape (n_instances,), what must not meet in a gallery: product or image.
    """

    instances: tuple[Instance, ...]
    labels: NDArray[np.int8]
    values: tuple[str, ...]
    types: Mapping[str, Ints]
    texts: Mapping[str, str]
    objects: Ints
    images: Ints
    groups: Ints

    @classmethod
    def of(
        cls,
        instances: Sequence[Instance],
        types: Mapping[str, Sequence[str]],
        texts: Mapping[str, str] | None = None,
    ) -> AttributeTable:
        """Code instances as arrays.

        Args:
            instances: at least one.
            types: {type: values}; a value may stand under two types.
            texts: as in the attribute.

        Raises:
            ValueError: no instances.
        """
        if not instances:
            raise ValueError("there are no instances")
        values = tuple(sorted({v for one in instances for v in one.positive | one.negative}))
        place = {value: column for column, value in enumerate(values)}
        labels = np.zeros((len(instances), len(values)), np.int8, order="F")
        for row, instance in enumerate(instances):
            contradicted = instance.contradictions
            labels[row, [place[v] for v in instance.positive - contradicted]] = 1
            labels[row, [place[v] for v in instance.negative - contradicted]] = -1
        return cls(
            instances=tuple(instances),
            labels=labels,
            values=values,
            types={
                name: np.array(sorted({place[v] for v in found if v in place}), np.int64)
                for name, found in types.items()
            },
            texts=dict(texts or {}),
            objects=number_keys([instance.object_name for instance in instances]),
            images=number_keys([instance.image for instance in instances]),
            groups=group_codes([i.image for i in instances], [i.product for i in instances]),
        )

    @cached_property
    def members(self) -> tuple[Ints, ...]:
        """The instances of each object."""
        order = np.argsort(self.objects, kind="stable")
        counts = np.bincount(self.objects)
        return tuple(np.split(order, np.cumsum(counts)[:-1]))

    @cached_property
    def owners(self) -> tuple[Ints, ...]:
        """The instances that have each value."""
        return tuple(np.flatnonzero(column == 1) for column in self.labels.T)

    def text(self, column: int) -> str:
        """Return how to say a value."""
        value = self.values[column]
        return self.texts.get(value, value)

    def view(self, row: int) -> View:
        """Return what to show of an instance."""
        instance = self.instances[row]
        return View(instance.image, instance.box)
