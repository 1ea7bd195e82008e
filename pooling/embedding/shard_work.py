"""Embed the shards of a set that no other worker holds, one after the other."""

from __future__ import annotations

import io
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import BinaryIO

from catalog.curation.services import omitted_ids
from catalog.images.blobs import blob_name, has_blobs, open_stored
from catalog.images.remote_originals import Places, read_remote, remote_places
from catalog.models import EmbeddingSet, Image
from jobs.services import JobError, JobProgress, PassingError
from lookalike.backbones.embed import Opener, PictureProblem, embed_images, embed_in_turn
from lookalike.backbones.protocol import Backbone, OutOfMemoryError, Vectors, stored_dtype
from pooling.embedding.shards import claim_shard, n_images, store_shard
from pooling.models import PlannedShard

MAX_NAMED = 5  # shards with images that cannot be read
ADVICE = "Import such an image again, or leave it out on its page, and embed again."


@dataclass(frozen=True)
class _Shard:
    """A claimed shard and those of its images that are still in the catalog."""

    planned: PlannedShard
    images: list[Image]


class ShardWork:
    """Claims, embeds and stores shards until none is open.

    The next shard is claimed, and its pictures are decoded, while the present one is computed.
    A shard with an image that cannot be read is passed over and named in the end. An image that
    cannot be read and that an admin left out of the catalog's pools is done without.

    Attributes:
        n_total: images of the set, where progress shall count what other workers have done, too.
        n_mine: images that were embedded here.
        broken: why a shard could not be embedded, by its primary key.
        lost: ids of the images that are done without.
    """

    def __init__(
        self,
        embedding_set: EmbeddingSet,
        backbone: Backbone,
        progress: JobProgress,
        n_total: int | None = None,
    ) -> None:
        self.embedding_set, self.backbone, self.progress = embedding_set, backbone, progress
        self.n_total, self.n_mine = n_total, 0
        self.broken: dict[int, str] = {}
        self.lost: set[int] = set()

    def go(self, note: str) -> int:
        """Do it, and return how many images were embedded here.

        Raises:
            JobError: images cannot be read, all others being done; or have no vector.
            PassingError: the memory is full.
        """
        while not self._is_through(note):
            pass
        if self.broken:
            reasons = list(self.broken.values())
            more = len(reasons) - MAX_NAMED
            told = "; ".join(reasons[:MAX_NAMED]) + (f" and {more} shards more" if more > 0 else "")
            raise JobError(f"{self.backbone.spec}: {told}. {ADVICE}")
        return self.n_mine

    def _is_through(self, note: str) -> bool:
        """Embed shard after shard; False where one broke, and the rest is to be begun again."""
        in_hand: deque[_Shard] = deque()
        n_before = 0

        def report(n_of_shard: int) -> None:
            self.progress.update(n_before + n_of_shard, self.n_total, note)

        claimed = self._claimed(in_hand)
        with closing(embed_in_turn(self.backbone, claimed, on_batch=report)) as found:
            while True:
                n_left = n_images(self.embedding_set.planned_shards.all())
                n_before = self.n_mine if self.n_total is None else self.n_total - n_left
                try:
                    vectors = next(found, None)
                except OutOfMemoryError as problem:
                    raise PassingError(f"{self.backbone.spec}: {problem}") from problem
                except ValueError as problem:
                    images = in_hand[0].images if in_hand else []
                    reason = _by_name(str(problem), images)
                    raise JobError(f"{self.backbone.spec}: {reason}") from problem
                except PictureProblem as problem:
                    shard = in_hand[0]
                    if lost := self._lost(shard.images):
                        self.lost |= lost
                    else:
                        self.broken[shard.planned.pk] = _by_name(str(problem), shard.images)
                    return False
                if vectors is None:
                    return True
                self._store(in_hand.popleft(), vectors)

    def _lost(self, images: Sequence[Image]) -> set[int]:
        """Return the ids of the images that are left out of pools and cannot be read."""
        omitted = omitted_ids(self.embedding_set.catalog)
        left_out = [image for image in images if image.pk in omitted]
        lost: set[int] = set()
        if left_out:
            embed_images(
                self.backbone,
                self._openers(left_out),
                on_broken=lambda place, _: lost.add(left_out[place].pk),
            )
        return lost

    @staticmethod
    def _openers(images: Sequence[Image]) -> list[Opener]:
        places = remote_places([image.sha256 for image in images])
        return [_Original(image, places.get(image.sha256)) for image in images]

    def _claimed(self, in_hand: deque[_Shard]) -> Iterator[list[Opener]]:
        while (shard := self._next_shard([one.planned.pk for one in in_hand])) is not None:
            in_hand.append(shard)
            yield self._openers(shard.images)

    def _next_shard(self, held: list[int]) -> _Shard | None:
        planned = claim_shard(
            embedding_set=self.embedding_set, job=self.progress.job, besides=[*held, *self.broken]
        )
        if planned is None:
            return None
        found = Image.objects.in_bulk(planned.image_ids)
        images = [found[pk] for pk in planned.image_ids if pk in found and pk not in self.lost]
        planned.image_ids = [image.pk for image in images]
        return _Shard(planned, images)

    def _store(self, shard: _Shard, vectors: Vectors) -> None:
        self.progress.hold()
        dtype = stored_dtype(self.backbone.card)
        store_shard(planned=shard.planned, vectors=vectors.astype(dtype, copy=False))
        self.n_mine += len(shard.images)


class _Original:
    """Opens an image's original, from wherever it is stored."""

    def __init__(self, image: Image, places: Places | None) -> None:
        self._sha256, self._places = image.sha256, places
        self.__name__ = places[0][0] if places else blob_name(image.sha256, "original")

    def __call__(self) -> BinaryIO:
        """Return the bytes; a thread calls this, so it asks no database where they stay."""
        if self._places and not has_blobs(self._sha256, ["original"]):
            return io.BytesIO(read_remote(self._sha256, self._places))
        with open_stored(self._sha256, "original") as file:
            return io.BytesIO(file.read())


def _by_name(message: str, images: Sequence[Image]) -> str:
    """Return a message about stored files with the names under which people know them."""
    for image in images:
        path = blob_name(image.sha256, "original")
        if path in message:
            source = image.source_files.first()
            name = source.path if source else str(image.uid)
            message = message.replace(path, f"{name} (stored as {path})")
    return message
