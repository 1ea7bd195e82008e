"""The shared nouns: catalogs, their images, and sets of embeddings."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.utils import timezone


class Catalog(models.Model):
    """A named set of images."""

    slug = models.SlugField(max_length=80, unique=True)
    name = models.CharField(max_length=200)
    description = models.TextField(blank=True)
    is_rendered = models.BooleanField(
        default=False, help_text="Its images are drawn by the demo's generator, not photographed."
    )
    created_at = models.DateTimeField(default=timezone.now)
    changed_at = models.DateTimeField(
        default=timezone.now, help_text="When an import last wrote an image of it."
    )

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class Image(models.Model):
    """One picture of a catalog, identified by the SHA-256 of its bytes.

    `uid` is random and is all that a URL ever shows: it tells neither file name, nor product,
    nor the order of import.
    """

    catalog = models.ForeignKey(Catalog, on_delete=models.CASCADE, related_name="images")
    uid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    sha256 = models.CharField(max_length=64, help_text="Of the file's bytes, hexadecimal.")
    product_id = models.CharField(
        max_length=200, blank=True, db_index=True, help_text="Empty when not known."
    )
    attributes = models.JSONField(default=dict, help_text="Attribute name to text.")
    width = models.PositiveIntegerField(help_text="Pixels, after EXIF orientation.")
    height = models.PositiveIntegerField(help_text="Pixels, after EXIF orientation.")
    image_format = models.CharField(max_length=8, help_text="JPEG, PNG, TIFF, HEIF and so on.")
    conversions = models.CharField(
        max_length=200,
        blank=True,
        default="",
        db_default="",
        help_text="What its rendering did beyond decoding, such as “TIFF, CMYK”.",
    )
    n_bytes = models.PositiveBigIntegerField()
    perceptual_hash = models.CharField(max_length=16, help_text="64-bit pHash, hexadecimal.")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["catalog", "sha256"], name="one_image_per_content")
        ]
        indexes = [
            models.Index(fields=["catalog", "product_id"]),
            models.Index(fields=["catalog", "perceptual_hash"]),
            GinIndex(fields=["attributes"], name="image_attributes_gin"),
        ]

    def __str__(self) -> str:
        return str(self.uid)


class SourceFile(models.Model):
    """A path under which an image was imported; an exact duplicate is an image with several."""

    catalog = models.ForeignKey(Catalog, on_delete=models.CASCADE, related_name="source_files")
    image = models.ForeignKey(Image, on_delete=models.CASCADE, related_name="source_files")
    path = models.CharField(max_length=1000, help_text="Relative, with forward slashes.")
    url = models.CharField(
        max_length=2000,
        blank=True,
        default="",
        db_default="",
        help_text="Where the original stays, for one of a manifest; the site keeps no copy.",
    )

    class Meta:
        ordering = ["path"]
        constraints = [
            models.UniqueConstraint(fields=["catalog", "path"], name="one_image_per_path")
        ]

    def __str__(self) -> str:
        return self.path


class NearDuplicate(models.Model):
    """Two images of one catalog whose perceptual hashes differ little; first.id < second.id."""

    catalog = models.ForeignKey(Catalog, on_delete=models.CASCADE, related_name="near_duplicates")
    first = models.ForeignKey(Image, on_delete=models.CASCADE, related_name="+")
    second = models.ForeignKey(Image, on_delete=models.CASCADE, related_name="+")
    n_bits = models.PositiveSmallIntegerField(help_text="Hamming distance of the 64-bit pHashes.")

    class Meta:
        ordering = ["n_bits", "id"]
        constraints = [
            models.UniqueConstraint(fields=["first", "second"], name="one_row_per_near_duplicate")
        ]


class Omission(models.Model):
    """An image left out of the pools that are made while this stands; undone, it stays a fact."""

    image = models.ForeignKey(Image, on_delete=models.CASCADE, related_name="omissions")
    reason = models.CharField(max_length=500)
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    made_at = models.DateTimeField(default=timezone.now)
    undone_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["image"],
                condition=models.Q(undone_at=None),
                name="one_open_omission_per_image",
            )
        ]


class ProductMerge(models.Model):
    """What an admin said: two images show one product; keeps what to give back when undone."""

    catalog = models.ForeignKey(Catalog, on_delete=models.CASCADE, related_name="+")
    first = models.ForeignKey(Image, on_delete=models.CASCADE, related_name="+")
    second = models.ForeignKey(Image, on_delete=models.CASCADE, related_name="+")
    product_id = models.CharField(max_length=200, help_text="That all have now.")
    before = models.JSONField(help_text="Image id to the product that it had.")
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    made_at = models.DateTimeField(default=timezone.now)
    undone_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["id"]


class EmbeddingSet(models.Model):
    """The vectors of one catalog by one backbone, fixed by the backbone's fingerprint."""

    catalog = models.ForeignKey(Catalog, on_delete=models.CASCADE, related_name="embedding_sets")
    spec = models.CharField(max_length=300, help_text="As the admin wrote it, e.g. timm:resnet18.")
    fingerprint = models.CharField(
        max_length=64, help_text="Of weights, library version, transform, pooling and precision."
    )
    card = models.JSONField(default=dict, help_text="Model card: what the fingerprint covers.")
    dim = models.PositiveIntegerField()
    is_complete = models.BooleanField(
        default=False, help_text="Every image of the catalog has a vector."
    )
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["spec", "id"]
        constraints = [
            models.UniqueConstraint(
                fields=["catalog", "fingerprint"], name="one_set_per_fingerprint"
            )
        ]

    def __str__(self) -> str:
        return f"{self.spec} on {self.catalog}"


class EmbeddingShard(models.Model):
    """A stored block of vectors: one row of the array for each image id, in that order.

    The array is a .npy file named by the SHA-256 of its bytes; the row is written only after
    the file lies whole on disk, so a shard that exists can be trusted.
    """

    embedding_set = models.ForeignKey(EmbeddingSet, on_delete=models.CASCADE, related_name="shards")
    position = models.PositiveIntegerField()
    image_ids = ArrayField(models.BigIntegerField())
    sha256 = models.CharField(max_length=64)
    dtype = models.CharField(max_length=10)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["embedding_set", "position"]
        constraints = [
            models.UniqueConstraint(
                fields=["embedding_set", "position"], name="one_shard_per_position"
            )
        ]


class CatalogMap(models.Model):
    """A catalog's images laid out in the plane by the vectors of one embedding set.

    It stands for exactly these vectors: when the set grows or changes, it is drawn again, as a
    new row. Pages and filters name a map by its id, so an area never means another map's.
    """

    embedding_set = models.OneToOneField(EmbeddingSet, on_delete=models.CASCADE, related_name="map")
    vectors_sha256 = models.CharField(max_length=64, help_text="Of the set's shards, in order.")
    card = models.JSONField(default=dict, help_text="All that decides the layout.")
    image_ids = ArrayField(models.BigIntegerField())
    points = models.BinaryField(help_text="x and y of each image, little-endian uint16.")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["embedding_set"]


class Projection(models.Model):
    """A learned map from one backbone's vectors to others: a model that needs no picture.

    What it maps from, and every number of it, are fixed. Its file is named by the SHA-256 of its
    bytes and lies on disk before the row is written.
    """

    slug = models.SlugField(max_length=80)
    head = models.SlugField(max_length=80, blank=True, help_text="One of several on one slug.")
    name = models.CharField(max_length=200)
    parent_spec = models.CharField(max_length=300, help_text="The backbone whose vectors it maps.")
    parent_fingerprint = models.CharField(max_length=64)
    fingerprint = models.CharField(max_length=64, help_text="Of its numbers and its card.")
    sha256 = models.CharField(max_length=64)
    card = models.JSONField(default=dict, help_text="What it was learned from.")
    dim = models.PositiveIntegerField()
    seen_image_ids = ArrayField(
        models.BigIntegerField(),
        default=list,
        help_text="Images whose labels or captions it was learned from.",
    )
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["slug", "head"]
        constraints = [
            models.UniqueConstraint(fields=["slug", "head"], name="one_projection_per_head")
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def spec(self) -> str:
        """The text that names it among models."""
        return f"learned:{self.slug}#{self.head}" if self.head else f"learned:{self.slug}"
