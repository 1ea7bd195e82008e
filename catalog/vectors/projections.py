"""Learned maps between vectors: stored once, applied to a catalog's vectors without its pictures.

No torch here: numpy applies them, in any process.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Protocol

import numpy as np
from django.conf import settings
from django.db import IntegrityError, transaction

from catalog.models import EmbeddingSet, EmbeddingShard, Image, Projection
from catalog.vectors.embeddings import damaged_shards, read_shard, write_shard
from jobs.errors import JobError
from lookalike.backbones.protocol import compute_fingerprint
from lookalike.core.atomic_files import write_atomically
from lookalike.core.errors import Refused
from lookalike.core.progress import SILENT, Progress
from lookalike.learning.fixed_condition import load_projection
from lookalike.learning.projection import Layers
from lookalike.learning.projection import Projection as Projected

STORED_AS = "float16"
MAX_SHOWN = 10


def layers_path(sha256: str) -> Path:
    """Return where the file of that content lies (or would lie)."""
    return Path(settings.DATA_DIR) / "projections" / f"{sha256}.safetensors"


class HasContent(Protocol):
    """What can be written."""

    def content(self) -> bytes:
        """Return its file."""


def write_layers(layers: HasContent) -> str:
    """Store a map, or a network beside it, whole or not at all; return the SHA-256 of its file."""
    content = layers.content()
    sha256 = hashlib.sha256(content).hexdigest()
    write_atomically(layers_path(sha256), lambda file: file.write(content))
    return sha256


@lru_cache(maxsize=32)
def read_projection(sha256: str) -> Projected:
    """Return a stored map.

    Raises:
        JobError: its file is missing or was changed.
    """
    path = layers_path(sha256)
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise JobError(
            f"The learned map {path} is missing; restore it, or learn it again."
        ) from None
    if hashlib.sha256(content).hexdigest() != sha256:
        raise JobError(f"The learned map {path} was changed on disk; restore it from a backup.")
    return load_projection(path)


def read_layers(sha256: str) -> Layers:
    """Return a stored map that others can follow: that of a text space, or of texts.

    Raises:
        JobError: its file is missing or was changed.
        Refused: it is one of another kind.
    """
    found = read_projection(sha256)
    if not isinstance(found, Layers):
        raise Refused("model", "it is a Combiner's, which nothing can follow.")
    return found


def store_projection(
    *,
    slug: str,
    head: str = "",
    name: str,
    layers: Projected,
    parent: EmbeddingSet | Projection,
    seen_image_ids: Collection[int],
) -> Projection:
    """Store a learned map as a model.

    Args:
        slug, head: how its spec calls it.
        name: for people.
        layers: the map.
        parent: the vectors that it maps, or a map of the same.
        seen_image_ids: images whose labels or captions it was learned from.

    Raises:
        Refused: there is one of that name.
    """
    spec, fingerprint = (
        (parent.spec, parent.fingerprint)
        if isinstance(parent, EmbeddingSet)
        else (parent.parent_spec, parent.parent_fingerprint)
    )
    sha256 = write_layers(layers)
    try:
        with transaction.atomic():
            return Projection.objects.create(
                slug=slug, head=head, name=name[:200], parent_spec=spec,
                parent_fingerprint=fingerprint, fingerprint=layers.fingerprint, sha256=sha256,
                card=dict(layers.card), dim=layers.dim, seen_image_ids=sorted(seen_image_ids),
            )  # fmt: skip
    except IntegrityError:
        raise Refused("name", "there is a learned model of that name; choose another.") from None


def delete_projection(*, projection: Projection) -> None:
    """Delete a learned map with the vectors that it has made."""
    made = EmbeddingSet.objects.filter(fingerprint=derived_fingerprint(projection))
    with transaction.atomic():
        made.delete()
        projection.delete()


def parent_spec(spec: str) -> str:
    """Return the backbone whose vectors a learned model maps, "" where it was deleted."""
    slug, _, head = spec.removeprefix("learned:").partition("#")
    found = Projection.objects.filter(slug=slug, head=head)
    return found.values_list("parent_spec", flat=True).first() or ""


def find_projection(spec: str) -> Projection:
    """Return the learned model that a spec names.

    Raises:
        Refused: there is none; names those that there are.
    """
    slug, _, head = spec.removeprefix("learned:").partition("#")
    found = Projection.objects.filter(slug=slug, head=head).first()
    if found is None:
        known = [one.spec for one in Projection.objects.all()[:MAX_SHOWN]]
        there_is = f"there is {', '.join(known)}" if known else "none has been learned yet"
        raise Refused("models", f"no learned model is called {spec!r}; {there_is}.")
    return found


def derived_fingerprint(projection: Projection) -> str:
    """Return the fingerprint of the vectors that a learned map makes, on any catalog."""
    return compute_fingerprint(_card(projection))


def _card(projection: Projection) -> dict[str, object]:
    return {
        "model": projection.spec,  # each has vectors of its own, that go with it
        "projection": projection.fingerprint,
        "parent_spec": projection.parent_spec,
        "parent": projection.parent_fingerprint,
        "learned": projection.card,
        "stored_as": STORED_AS,
    }


def derive_set(
    *, parent: EmbeddingSet, projection: Projection, progress: Progress = SILENT
) -> EmbeddingSet:
    """Return the vectors that a learned map makes of a complete set, made of its shards.

    All shards are stored at once or none, and making them again changes nothing.

    Raises:
        JobError: the set is not of the model that the map was learned for; a file is missing
            or damaged, or holds NaN.
        JobLostError: the job was cancelled or taken over.
    """
    if parent.fingerprint != projection.parent_fingerprint:
        raise JobError(
            f"{projection.spec} maps other vectors than those of {parent}: weights or libraries "
            f"of {projection.parent_spec} are not those it was learned with."
        )
    layers, shards = read_projection(projection.sha256), list(parent.shards.order_by("position"))
    fingerprint = derived_fingerprint(projection)
    made = EmbeddingSet.objects.filter(catalog=parent.catalog, fingerprint=fingerprint).first()
    if made is not None and _is_up_to_date(made, shards):
        return made
    progress.start(0, len(shards), f"{projection.spec}: mapping the vectors of {parent.catalog}")
    hashes = []
    for n_done, shard in enumerate(shards, 1):
        vectors = np.asarray(read_shard(shard, parent.dim), np.float32)
        hashes.append(write_shard(layers.apply(vectors).astype(STORED_AS)))
        progress.update(n_done)
    with transaction.atomic():
        made, _ = EmbeddingSet.objects.get_or_create(
            catalog=parent.catalog,
            fingerprint=fingerprint,
            defaults={"spec": projection.spec, "card": _card(projection), "dim": layers.dim},
        )
        made = EmbeddingSet.objects.select_for_update().get(pk=made.pk)
        made.shards.all().delete()
        EmbeddingShard.objects.bulk_create(
            EmbeddingShard(
                embedding_set=made, position=shard.position, image_ids=shard.image_ids,
                sha256=sha256, dtype=STORED_AS,
            )
            for shard, sha256 in zip(shards, hashes, strict=True)
        )  # fmt: skip
        made.is_complete = True
        made.save(update_fields=["is_complete"])
    return made


def _is_up_to_date(made: EmbeddingSet, parents: Sequence[EmbeddingShard]) -> bool:
    """Whether a set that was made has the images of its parent's shards, and is whole."""
    rows = made.shards.order_by("position").values_list("position", "image_ids")
    same = list(rows) == [(shard.position, shard.image_ids) for shard in parents]
    return same and made.is_complete and not damaged_shards(made)


def seen_among(spec: str, hashes: Collection[str]) -> set[str]:
    """Return which images a model has learned labels or captions of, by their SHA-256.

    Empty for a model that is not learned here. The same picture in another catalog counts.
    """
    if not spec.startswith("learned:"):
        return set()
    slug, _, head = spec.removeprefix("learned:").partition("#")
    found = Projection.objects.filter(slug=slug, head=head).first()
    if found is None:
        return set()
    seen = Image.objects.filter(pk__in=found.seen_image_ids, sha256__in=hashes)
    return set(seen.values_list("sha256", flat=True))
