"""The API's routes about catalogs and their images."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import get_object_or_404
from ninja import Field, Query, Router, Schema
from pydantic import StringConstraints

from api.access import reads
from api.errors import errors
from api.paging import Page, PageQuery, Part, Text, read_part
from audit.services import record_part
from catalog.browsing.facets import Attribute, list_attributes
from catalog.browsing.filters import ImageFilter
from catalog.images.serving import image_response
from catalog.models import Catalog, Image
from catalog.queries import CatalogCounts, catalog_counts, filtered_images

router = Router(tags=["Catalogs"], auth=reads)
PICTURES = {
    200: {
        "description": "The picture.",
        "content": {
            kind: {"schema": {"type": "string", "format": "binary"}}
            for kind in ("image/jpeg", "image/png", "image/webp")
        },
    }
}


@dataclass(frozen=True)
class CatalogRow:
    """A catalog and how much there is in it."""

    catalog: Catalog
    counts: CatalogCounts

    @classmethod
    def of(cls, catalog: Catalog) -> CatalogRow:
        """Count a catalog."""
        return cls(catalog, catalog_counts(catalog))


class CatalogOut(Schema):
    """A named set of images."""

    slug: str = Field(validation_alias="catalog.slug")
    name: str = Field(validation_alias="catalog.name")
    description: str = Field(validation_alias="catalog.description")
    is_rendered: bool = Field(
        validation_alias="catalog.is_rendered",
        description="Drawn by the demo's generator, not photographed.",
    )
    n_images: int = Field(validation_alias="counts.n_images")
    n_products: int = Field(validation_alias="counts.n_products")
    n_without_product: int = Field(validation_alias="counts.n_without_product")
    created_at: datetime = Field(validation_alias="catalog.created_at")
    changed_at: datetime = Field(validation_alias="catalog.changed_at")


class AttributeOut(Schema):
    """An attribute of a catalog's images."""

    name: str
    n_values: int
    n_images: int = Field(description="Images of which it is known.")


class CatalogWhole(CatalogOut):
    """A catalog with the attributes of its images."""

    attributes: list[AttributeOut]

    @staticmethod
    def resolve_attributes(row: CatalogRow) -> list[Attribute]:
        return list_attributes(row.catalog)


class ImageOut(Schema):
    """An image with all that is known about it."""

    uid: uuid.UUID
    sha256: str = Field(description="Of the file's bytes; releases name images by it.")
    product_id: str = Field(description="Empty when not known.")
    attributes: dict[str, str]
    paths: list[str] = Field(description="Under which it was imported; several are duplicates.")
    width: int
    height: int
    format: str = Field(validation_alias="image_format")
    n_bytes: int

    @staticmethod
    def resolve_paths(image: Image) -> list[str]:
        return [file.path for file in image.source_files.all()]


class ImageQuery(Schema):
    """Which images are wanted; all conditions hold."""

    product: Text = Field("", max_length=200, description="The whole product.")
    search: Text = Field("", max_length=200, description="Part of the product, in any case.")
    attribute: list[
        Annotated[str, StringConstraints(max_length=300, pattern=r"^[^\x00=]+=[^\x00]*$")]
    ] = Field([], max_length=20, description="name=value; of one name any value may hold.")

    def as_filter(self) -> ImageFilter:
        """Return the conditions as pages use them."""
        values: dict[str, list[str]] = {}
        for text in self.attribute:
            name, _, value = text.partition("=")
            values.setdefault(name, []).append(value)
        attributes = tuple((name, tuple(texts)) for name, texts in sorted(values.items()))
        return ImageFilter(search=self.search, product=self.product, attributes=attributes)


@router.get("/catalogs", response={200: Page[CatalogOut], **errors(422)}, summary="List catalogs")
def catalogs(request: HttpRequest, page: Query[PageQuery]) -> Part[CatalogRow]:
    """Return the catalogs, oldest first."""
    part = read_part(Catalog.objects.all(), page)
    return Part([CatalogRow.of(catalog) for catalog in part.items], part.next)


@router.get(
    "/catalogs/{slug:slug}", response={200: CatalogWhole, **errors(404)}, summary="One catalog"
)
def catalog(request: HttpRequest, slug: str) -> CatalogRow:
    """Return a catalog with the attributes of its images."""
    return CatalogRow.of(get_object_or_404(Catalog, slug=slug))


@router.get(
    "/catalogs/{slug:slug}/images",
    response={200: Page[ImageOut], **errors(404, 422)},
    summary="Images of a catalog",
)
def images(
    request: HttpRequest, slug: str, wanted: Query[ImageQuery], page: Query[PageQuery]
) -> Part[Image]:
    """Return images with their metadata, in the order of import."""
    catalog = get_object_or_404(Catalog, slug=slug)
    images = filtered_images(catalog, wanted.as_filter())
    record_part(request, catalog, what="images", is_first=not page.after)
    return read_part(images.prefetch_related("source_files"), page)


@router.get("/images/{uuid:uid}", response={200: ImageOut, **errors(404)}, summary="One image")
def image(request: HttpRequest, uid: uuid.UUID) -> Image:
    """Return one image with its metadata."""
    return get_object_or_404(Image, uid=uid)


@router.get(
    "/images/{uuid:uid}/{size}",
    response=errors(404),
    openapi_extra={"responses": PICTURES},
    summary="A picture",
)
def picture(request: HttpRequest, uid: uuid.UUID, size: str) -> HttpResponseBase:
    """Return the bytes of a picture: `thumb` or `view` (WebP), or the `original`."""
    return image_response(request, get_object_or_404(Image, uid=uid), size)
