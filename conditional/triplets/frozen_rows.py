"""What a release freezes of triplets, as it was at one moment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from jobs.work.snapshot import Snapshot

SETS = """
select slug, name, source, file_sha256, catalog_id as catalog
from conditional_tripletset where slug = any(%s) order by slug
"""
ANSWERS = """
select s.slug as triplet_set, t.position, t.anchor_id as anchor, t.closer_id as closer,
       t.farther_id as farther, t.condition, t.worker
from conditional_triplet t join conditional_tripletset s on s.id = t.triplet_set_id
where s.slug = any(%s) order by s.slug, t.position
"""


class FrozenTripletSet(NamedTuple):
    """A set of triplets; the catalog by id."""

    slug: str
    name: str
    source: str
    file_sha256: str
    catalog: int


class FrozenAnswer(NamedTuple):
    """One answer to a triplet of a set, which is named by its slug; images by id."""

    triplet_set: str
    position: int
    anchor: int
    closer: int
    farther: int
    condition: str
    worker: str

    @property
    def images(self) -> tuple[int, int, int]:
        """Anchor, closer and farther image."""
        return self.anchor, self.closer, self.farther


def frozen_triplet_sets(view: Snapshot, slugs: Sequence[str]) -> list[FrozenTripletSet]:
    """Return those of some sets that exist, by slug."""
    return view.rows(FrozenTripletSet, SETS, [list(slugs)])


def frozen_answers(view: Snapshot, slugs: Sequence[str]) -> list[FrozenAnswer]:
    """Return every answer of some sets, by slug and position."""
    return view.rows(FrozenAnswer, ANSWERS, [list(slugs)])
