"""The labels of a campaign as a task of the VSD benchmark."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from django.db.models import QuerySet

from annotation.models import Campaign, QuestionKind
from catalog.models import Image, SourceFile
from lookalike.io.errors import InputError
from lookalike.io.vsd_task import RESERVED, VsdTask, make_vsd_task
from pooling.pools.products import product_keys
from pooling.pools.queries import pool_of


def campaign_as_vsd_task(campaign: Campaign, labels: Iterable[tuple[int, int, int]]) -> VsdTask:
    """Return labels with the images that are ranked, their products, and the queries.

    Queries from a catalog of their own are not ranked, as in the benchmark's wild task, and their
    products get another name unless the pool says that ids are shared. An image without a product
    is a product of its own; so is every image where the pool admits the query's own product.

    Args:
        campaign: whose labels they are.
        labels: query, candidate (image ids), and 0 or 1.

    Raises:
        InputError: two images have one path, by which tasks name them.
    """
    pool = pool_of(campaign)
    pairs = campaign.questions.filter(kind=QuestionKind.PAIR)
    queries = set(pairs.order_by().values_list("query_id", flat=True).distinct())
    catalogs = set(pairs.order_by().values_list("candidate__catalog_id", flat=True).distinct())
    catalogs |= {pool.catalog_id} if pool else set()
    ranked = Image.objects.filter(catalog_id__in=catalogs)
    asking = Image.objects.filter(pk__in=queries).exclude(catalog_id__in=catalogs)
    rows = [*_rows(ranked), *_rows(asking)]
    keys = product_keys(pool, [(catalog, product) for *_, catalog, product in rows])
    ids = _product_ids(keys, [product for *_, product in rows], n_ranked=ranked.count())
    path_of = _paths([pk for pk, *_ in rows])
    images = [
        {
            "id": product or sha256,
            "path": path_of[pk],
            "phase": "query" if pk in queries else "gallery",
        }
        | {key: value for key, value in attributes.items() if key not in RESERVED}
        for (pk, sha256, attributes, *_), product in zip(rows, ids, strict=True)
    ]
    return make_vsd_task(
        campaign.slug,
        images,
        [(path_of[query], path_of[candidate], label) for query, candidate, label in labels],
        seeds=[path_of[pk] for pk in sorted(queries)],
        manifest=[image["path"] for image in images],
        gallery_phases=["gallery"] if asking.exists() else None,
    )


def _product_ids(keys: Sequence[str], products: Sequence[str], *, n_ranked: int) -> list[str]:
    """Return ids that are equal where keys are: the plain ones, unless two products have one."""
    key_of: dict[str, str] = {}
    for key, product in [*zip(keys, products, strict=True)][:n_ranked]:
        key_of.setdefault(product, key)
    return [
        product if key and key_of.setdefault(product, key) == key else key
        for key, product in zip(keys, products, strict=True)
    ]


def _rows(images: QuerySet[Image]) -> Iterable[tuple[int, str, dict[str, str], str, str]]:
    columns = ("id", "sha256", "attributes", "catalog__slug", "product_id")
    return images.order_by("id").values_list(*columns)


def _paths(image_ids: list[int]) -> dict[int, str]:
    """Return the first path of each image."""
    paths: dict[int, str] = {}
    owner: dict[str, int] = {}
    files = SourceFile.objects.filter(image_id__in=image_ids).order_by("image_id", "path")
    for image_id, path in files.values_list("image_id", "path").iterator(chunk_size=5000):
        if image_id not in paths and owner.setdefault(path, image_id) != image_id:
            raise InputError(f"two images have the path {path!r}, by which a task names them")
        paths.setdefault(image_id, path)
    return paths
