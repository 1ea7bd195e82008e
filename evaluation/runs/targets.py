"""What an uploaded run must speak about: a campaign's pairs, its images and their names."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from annotation.models import Campaign, QuestionKind
from catalog.models import Image, SourceFile
from evaluation.below_pool.pairs import drawn_beside_pool
from evaluation.results.inputs import ImageTable
from lookalike.core.arrays import Ints
from lookalike.images.paths import UnsafePathError, clean_path
from lookalike.io.errors import InputError
from lookalike.io.named_images import UnknownImageError, images_of_id
from lookalike.io.tables import Qrels
from pooling.models import Pool
from pooling.pools.queries import pool_of

_TWO_IMAGES = ""


@dataclass(frozen=True)
class Target:
    """A campaign as a run sees it.

    Attributes:
        campaign: it.
        pool: the pool that it judges, None for a campaign without one.
        images: of the catalogs of queries and candidates.
        query_ids, candidate_ids: shape (n_pairs,), image ids of every pair put to the judges but
            those drawn below the pool.
    """

    campaign: Campaign
    pool: Pool | None
    images: ImageTable
    query_ids: Ints
    candidate_ids: Ints

    @classmethod
    def of(cls, campaign: Campaign) -> Target:
        """Read a campaign's pairs and catalogs.

        Raises:
            InputError: it has no pairs.
        """
        pool = pool_of(campaign)
        rows = campaign.questions.filter(kind=QuestionKind.PAIR).order_by("query", "candidate")
        below = drawn_beside_pool(campaign)
        asked = [p for p in rows.values_list("query_id", "candidate_id") if p not in below]
        pairs = np.array(asked, np.int64)
        if not pairs.size:
            raise InputError(f"“{campaign}” has no pairs to score")
        used = np.unique(pairs).tolist()
        catalogs = set(Image.objects.filter(pk__in=used).values_list("catalog_id", flat=True))
        if pool is not None:
            catalogs |= {pool.catalog_id, pool.asking.pk}
        return cls(campaign, pool, ImageTable.of(catalogs), pairs[:, 0], pairs[:, 1])

    def pairs(self) -> Qrels:
        """Return every pair as if it were labelled, to match a run against."""
        named = map(self.images.named, (self.query_ids, self.candidate_ids))
        return Qrels.of((q, c, 0) for q, c in zip(*named, strict=True))

    @property
    def products(self) -> dict[str, str] | None:
        """Product of each image, or None where the pool admits the query's own product."""
        return self.images.products_apart(self.pool)


class Namer:
    """Finds the image that a run's name stands for.

    That is a SHA-256, a uid, a path of an import, or an image_id of a release.
    """

    def __init__(self, target: Target) -> None:
        name_of = dict(zip(target.images.ids.tolist(), target.images.names, strict=True))
        self._known: dict[str, str] = {}
        held = Image.objects.filter(pk__in=target.images.ids.tolist())
        catalogs = set(held.values_list("catalog_id", flat=True))
        files = SourceFile.objects.filter(catalog_id__in=catalogs).values_list("path", "image_id")
        for path, image_id in files.iterator(chunk_size=5000):
            image = name_of[image_id]
            if self._known.setdefault(path, image) != image:
                self._known[path] = _TWO_IMAGES
        rows = Image.objects.filter(catalog_id__in=catalogs).values_list("uid", "sha256")
        for uid, sha256 in rows.iterator(chunk_size=5000):
            self._known[str(uid)] = self._known[sha256] = sha256
        self._hashes = sorted(set(self._known.values()) - {_TWO_IMAGES})

    def image(self, name: str) -> str:
        """Return the SHA-256 of an image.

        Raises:
            UnknownImageError: saying what the name is not.
        """
        sha256 = self._known.get(name)
        if sha256 is None:
            try:
                sha256 = self._known.get(clean_path(name))
            except UnsafePathError:
                sha256 = None
        if sha256 is None and (found := images_of_id(name, self._hashes)):
            sha256 = found[0] if len(found) == 1 else _TWO_IMAGES
        if sha256 is None:
            raise UnknownImageError(
                f"{name!r} is no image of the campaign’s catalogs (by SHA-256, image_id of a "
                "release, uid or path)"
            )
        if sha256 == _TWO_IMAGES:
            raise UnknownImageError(f"{name!r} stands for two images; name it by SHA-256 or uid")
        return sha256
