"""Catalogs of photos or of names alone, and pools over them."""

from __future__ import annotations

import hashlib
from functools import partial

import numpy as np
from django.utils import timezone
from PIL import Image as PilImage

from catalog.images.blobs import blob_path
from catalog.models import Catalog, EmbeddingSet, EmbeddingShard, Image, SourceFile
from catalog.vectors.embeddings import write_shard
from jobs.services import JobProgress, run_here
from lookalike.images.decode import read_picture
from pooling.models import Pool, PoolQuery, PoolSource, Proposal
from pooling.sources.fill import run_source
from tests.pictures import encoded, jpeg

MODELS = ["descriptor:colour-histogram", "descriptor:colour-layout"]
COLOURS = ("red", "green", "blue")


def catalog_of_photos(n: int, slug: str = "shoes", first_seed: int = 0) -> Catalog:
    """Make a catalog of so many small photos: two of each product, colours in turn."""
    catalog = Catalog.objects.create(slug=slug, name=slug.title())
    for number in range(n):
        add_photo(catalog, number, jpeg(seed=first_seed + number))
    return catalog


def catalog_of_paints(n: int = 72, slug: str = "paints") -> Catalog:
    """Make a catalog of photos that show what their attribute says: red, green and blue in turn."""
    catalog = Catalog.objects.create(slug=slug, name=slug.title())
    rng = np.random.default_rng(n)
    for number in range(n):
        paint = rng.integers(0, 80, 3)
        paint[number % 3] += 170
        noise = rng.integers(0, 6, (24, 32, 3))
        picture = PilImage.fromarray((paint + noise).astype(np.uint8))
        add_photo(catalog, number, encoded(picture, "PNG"))
    return catalog


def add_photo(catalog: Catalog, number: int, content: bytes) -> Image:
    """Put one photo into a catalog, as an import does."""
    path = blob_path(hashlib.sha256(content).hexdigest(), "original")
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return add_row(catalog, number, content)


def add_row(catalog: Catalog, number: int, content: bytes) -> Image:
    """Store what an import knows of a photo, but for the photo itself."""
    ending = "png" if content.startswith(b"\x89PNG") else "jpg"
    name = f"photos/{number:03d}.{ending}"
    picture = read_picture(content, name)
    sha256 = hashlib.sha256(content).hexdigest()
    image = Image.objects.create(
        catalog=catalog,
        sha256=sha256,
        product_id=f"product-{number // 2}",
        attributes={"colour": COLOURS[number % len(COLOURS)], "view": str(number % 2)},
        width=picture.width,
        height=picture.height,
        image_format=picture.image_format,
        n_bytes=len(content),
        perceptual_hash=picture.perceptual_hash,
    )
    SourceFile.objects.create(catalog=catalog, image=image, path=name)
    return image


def catalog_of(names, slug="eggs"):
    catalog = Catalog.objects.create(slug=slug, name=slug.title())
    add_images(catalog, names)
    return catalog


def add_images(catalog, names):
    """Put images without files into a catalog."""
    made = []
    for number, name in enumerate(names, start=catalog.images.count()):
        image = Image.objects.create(
            catalog=catalog, sha256=f"{number:064x}", width=9, height=9, image_format="PNG",
            n_bytes=1, perceptual_hash="0" * 16,
        )  # fmt: skip
        SourceFile.objects.create(catalog=catalog, image=image, path=f"{name}.png")
        made.append(image)
    return made


def embedding_set_of(catalog, vectors, spec="timm:made"):
    images = list(catalog.images.order_by("pk").values_list("pk", flat=True))
    found = EmbeddingSet.objects.create(
        catalog=catalog, spec=spec, fingerprint=spec, dim=vectors.shape[1], is_complete=True
    )
    EmbeddingShard.objects.create(
        embedding_set=found, position=0, image_ids=images, sha256=write_shard(vectors),
        dtype="float32",
    )  # fmt: skip
    return found


def pool_over(catalog, scores, *, slug="mine", specs=("timm:a", "timm:b"), is_done=True):
    """A pool: {spec place: {query place: {candidate place: score}}}; images by their place."""
    images = list(catalog.images.order_by("pk"))
    pool = Pool.objects.create(slug=slug, name=slug.title(), catalog=catalog, k=5)
    done_at = timezone.now() if is_done else None
    queries = sorted({query for by_query in scores for query in by_query})
    for position, query in enumerate(queries):
        PoolQuery.objects.create(pool=pool, image=images[query], position=position)
    for position, (spec, by_query) in enumerate(zip(specs, scores, strict=True)):
        source = PoolSource.objects.create(
            pool=pool,
            position=position,
            spec=spec,
            k=5,
            done_at=done_at,
        )
        for query, found in by_query.items():
            ordered = sorted(found.items(), key=lambda pair: -pair[1])
            Proposal.objects.bulk_create(
                Proposal(
                    pool=pool,
                    source=source,
                    query=images[query],
                    candidate=images[candidate],
                    rank=rank,
                    score=score,
                )
                for rank, (candidate, score) in enumerate(ordered)
            )
    return pool


# model a: 1 is nearer to 0 than 2, and 4 than 5 to 3; model b the other way round
SPLIT = [{0: {1: 0.9, 2: 0.1}, 3: {4: 0.9, 5: 0.1}}, {0: {1: 2.0, 2: 6.0}, 3: {4: 2.0, 5: 6.0}}]


def _run(source_id: int, progress: JobProgress) -> dict[str, object]:
    return run_source(source_id=source_id, progress=progress)


def filled(pool: Pool) -> Pool:
    """Let every source of a pool propose, in this process."""
    for source in pool.sources.all():
        job = run_here(
            task="t",
            subject=f"source {source.pk}",
            title="t",
            arguments={},
            work=partial(_run, source.pk),
        )
        assert job.state == "succeeded", job.error
    pool.refresh_from_db()
    return pool
