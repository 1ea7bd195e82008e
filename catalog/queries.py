"""Reads of catalogs and their images, named by what they return."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db import connection
from django.db.models import (
    Count,
    Exists,
    F,
    Func,
    IntegerField,
    OuterRef,
    Q,
    QuerySet,
    TextField,
    Value,
)
from django.db.models.expressions import RawSQL
from django.db.models.functions import Cast

from catalog.browsing.filters import ImageFilter
from catalog.cache import remembered
from catalog.maps.queries import find_map, images_in
from catalog.models import Catalog, EmbeddingSet, Image, NearDuplicate, SourceFile
from catalog.vectors.embeddings import nearest
from jobs.models import OPEN_STATES, Job, JobState

IMPORT_TASK = "catalog.tasks.import_catalog"
COVERS = 5
MAX_OF_PRODUCT = 500
MAX_WORDS = 8


def catalogs_with_images() -> QuerySet[Catalog]:
    """Return the catalogs that something can be asked of."""
    return Catalog.objects.filter(Exists(Image.objects.filter(catalog=OuterRef("pk"))))


def chosen_catalog(pk: object) -> Catalog | None:
    """Return the catalog that a form or an address names by its number, if there is one."""
    text = str(pk or "")
    is_number = text.isascii() and text.isdecimal() and len(text) < 19
    return Catalog.objects.filter(pk=text).first() if is_number else None


@dataclass(frozen=True)
class CatalogCounts:
    """How much there is in one catalog."""

    n_images: int
    n_products: int
    n_without_product: int
    n_exact: int
    n_near: int

    @property
    def n_duplicates(self) -> int:
        """Findings on the page of duplicates."""
        return self.n_exact + self.n_near


def catalog_counts(catalog: Catalog) -> CatalogCounts:
    """Return the counts that the head of a catalog's pages shows."""
    images = Image.objects.filter(catalog=catalog).order_by()

    def count() -> CatalogCounts:
        n_products = images.exclude(product_id="").aggregate(n=Count("product_id", distinct=True))
        return CatalogCounts(
            n_images=images.count(),
            n_products=n_products["n"],
            n_without_product=images.filter(product_id="").count(),
            n_exact=exact_duplicates(catalog).count(),
            n_near=NearDuplicate.objects.filter(catalog=catalog).count(),
        )

    return remembered(catalog, "counts", make=count)


@dataclass
class CatalogCard:
    """A catalog as the list of catalogs shows it."""

    catalog: Catalog
    counts: CatalogCounts
    covers: list[Image]
    is_importing: bool


def catalog_cards() -> list[CatalogCard]:
    """Return all catalogs with their counts and a few pictures, by name."""
    importing = set(
        Job.objects.filter(task=IMPORT_TASK, state__in=OPEN_STATES).values_list(
            "subject", flat=True
        )
    )
    covers = _covers()
    return [
        CatalogCard(
            catalog=catalog,
            counts=catalog_counts(catalog),
            covers=covers.get(catalog.pk, []),
            is_importing=f"catalog:{catalog.pk}" in importing,
        )
        for catalog in Catalog.objects.order_by("name")
    ]


def _covers() -> dict[int, list[Image]]:
    """Return a few pictures of each catalog, by its id: a mixture, always the same."""
    with connection.cursor() as cursor:
        cursor.execute(
            "select i.id from catalog_catalog c cross join lateral ("
            "select id from catalog_image where catalog_id = c.id order by sha256 limit %s) i",
            [COVERS],
        )
        ids = [pk for (pk,) in cursor.fetchall()]
    covers: dict[int, list[Image]] = {}
    for image in Image.objects.filter(pk__in=ids).order_by("catalog", "sha256"):
        covers.setdefault(image.catalog_id, []).append(image)
    return covers


def filtered_images(catalog: Catalog, asked: ImageFilter) -> QuerySet[Image]:
    """Return the images of a catalog that a filter lets through, in order of import."""
    images = Image.objects.filter(catalog=catalog).order_by("id")
    if asked.search:
        values = Func(F("attributes"), Value("$.*"), function="jsonb_path_query_array")
        images = images.alias(values=Cast(values, TextField()))
    for word in asked.search.split(maxsplit=MAX_WORDS - 1):  # what is left counts as one
        images = images.filter(_has_word(catalog, word))
    if asked.product:
        images = images.filter(product_id=asked.product)
    if asked.area:
        drawn = find_map(catalog, asked.area.map_id)
        ids = images_in(drawn, asked.area) if drawn else []
        images = images.filter(pk__in=RawSQL("select unnest(%s::bigint[])", [ids]))
    return with_attributes(images, dict(asked.attributes))


def _has_word(catalog: Catalog, word: str) -> Q:
    """Return whether a word stands in an image's product, in an attribute's value, or in a path."""
    paths = SourceFile.objects.filter(catalog=catalog, path__icontains=word)
    in_paths = Q(pk__in=paths.order_by().values("image"))
    return Q(product_id__icontains=word) | Q(values__icontains=word) | in_paths


def with_attributes(
    images: QuerySet[Image], wanted: Mapping[str, Sequence[str]]
) -> QuerySet[Image]:
    """Return those of some images that have one of the values of every attribute."""
    for name, values in wanted.items():
        one_of = Q()
        for value in values:
            one_of |= Q(attributes__contains={name: value})
        images = images.filter(one_of)
    return images


def near_duplicates(catalog: Catalog) -> QuerySet[NearDuplicate]:
    """Return the pairs of a catalog that look alike, the most alike first."""
    pairs = NearDuplicate.objects.filter(catalog=catalog).select_related("first", "second")
    return pairs.prefetch_related("first__source_files", "second__source_files").order_by(
        "n_bits", "id"
    )


def exact_duplicates(catalog: Catalog) -> QuerySet[Image]:
    """Return the images that were imported under several paths, with those paths."""
    counted = Image.objects.filter(catalog=catalog).annotate(n_paths=Count("source_files"))
    return counted.filter(n_paths__gt=1).order_by("id").prefetch_related("source_files")


def find_near_duplicates(image: Image) -> list[tuple[Image, int]]:
    """Return the images that look like one, with the bits that differ."""
    pairs = NearDuplicate.objects.filter(Q(first=image) | Q(second=image))
    ordered = pairs.select_related("first", "second").order_by("n_bits", "id")
    return [(p.second if p.first_id == image.pk else p.first, p.n_bits) for p in ordered]


def find_siblings(image: Image, limit: int = 60) -> list[Image]:
    """Return the other images of an image's product; none when the product is not known."""
    if not image.product_id:
        return []
    same = Image.objects.filter(catalog_id=image.catalog_id, product_id=image.product_id)
    return list(same.exclude(pk=image.pk).order_by("id")[:limit])


@dataclass(frozen=True)
class ProductPage:
    """A product's images: what they share, and what each has of its own."""

    common: list[tuple[str, str]]
    images: list[tuple[Image, list[tuple[str, str]]]]


def product_page(catalog: Catalog, product_id: str) -> ProductPage | None:
    """Return a product's images with their attributes sorted apart; None if there is none."""
    if not product_id or "\0" in product_id:
        return None
    same = Image.objects.filter(catalog=catalog, product_id=product_id)
    images = list(same.order_by("id")[:MAX_OF_PRODUCT])
    if not images:
        return None
    common = set(images[0].attributes.items())
    for image in images[1:]:
        common &= set(image.attributes.items())
    own = [(image, sorted(set(image.attributes.items()) - common)) for image in images]
    return ProductPage(common=sorted(common), images=own)


def usable_embedding_sets(catalog: Catalog) -> QuerySet[EmbeddingSet]:
    """Return the sets of vectors that are complete, so that neighbours mean something."""
    return EmbeddingSet.objects.filter(catalog=catalog, is_complete=True).order_by("spec", "id")


def find_neighbours(image: Image, embedding_set: EmbeddingSet, n: int) -> list[tuple[Image, float]]:
    """Return the nearest images and their cosines.

    Raises:
        EmbeddingError: the vectors are missing or damaged.
    """
    return with_images(nearest(embedding_set, image, n))


def with_images(found: Sequence[tuple[int, float]]) -> list[tuple[Image, float]]:
    """Return images in place of their ids; those that are gone are left out."""
    images = Image.objects.in_bulk([image_id for image_id, _ in found])
    return [(images[image_id], score) for image_id, score in found if image_id in images]


def import_jobs(catalog: Catalog) -> QuerySet[Job]:
    """Return the imports into a catalog, the latest first."""
    return Job.objects.filter(task=IMPORT_TASK, subject=f"catalog:{catalog.pk}").order_by("-id")


def latest_report(catalog: Catalog) -> Job | None:
    """Return the last import that ended well; its result is the report."""
    return import_jobs(catalog).filter(state=JobState.SUCCEEDED).first()


def n_refused(catalog: Catalog) -> int:
    """Return how many files and rows the last import refused, without reading its report."""
    ended = import_jobs(catalog).filter(state=JobState.SUCCEEDED)
    length = Func(F("result__broken"), function="jsonb_array_length", output_field=IntegerField())
    return ended.annotate(n=length).values_list("n", flat=True).first() or 0
