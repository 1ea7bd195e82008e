"""Leave images out of pools, say that two products are one, and take either back."""

from __future__ import annotations

import uuid
from datetime import datetime

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from accounts.models import User
from audit.actions import Action
from audit.services import record
from catalog.models import Catalog, Image, Omission, ProductMerge
from lookalike.core.errors import Refused

LONGEST_REASON = 500


@transaction.atomic
def leave_out(*, image: Image, reason: str, by: User | None) -> Omission:
    """Keep an image out of pools made from now on; pools that exist stay what they are.

    Raises:
        Refused: it is left out already, or no reason is given.
    """
    image = Image.objects.select_for_update().get(pk=image.pk)
    if not reason.strip():
        raise Refused("reason", "Say why: the reason is kept with the image.")
    if Omission.objects.filter(image=image, undone_at=None).exists():
        raise Refused("image", "This image is left out already.")
    omission = Omission.objects.create(
        image=image, reason=reason.strip()[:LONGEST_REASON], made_by=by
    )
    record(by, Action.IMAGE_LEFT_OUT, image, reason=omission.reason)
    return omission


@transaction.atomic
def take_back(*, image: Image, by: User | None) -> None:
    """Let an image into pools again.

    Raises:
        Refused: it is not left out.
    """
    if not Omission.objects.filter(image=image, undone_at=None).update(undone_at=timezone.now()):
        raise Refused("image", "This image is not left out.")
    record(by, Action.IMAGE_TAKEN_BACK, image)


def omitted_ids(catalog: Catalog, at: datetime | None = None) -> set[int]:
    """Return the ids of a catalog's images that are left out: now, or of a pool made `at`."""
    omissions = Omission.objects.filter(image__catalog=catalog)
    if at is None:
        omissions = omissions.filter(undone_at=None)
    else:
        omissions = omissions.filter(Q(undone_at=None) | Q(undone_at__gt=at), made_at__lte=at)
    return set(omissions.values_list("image_id", flat=True))


@transaction.atomic
def join_products(*, first: Image, second: Image, by: User | None) -> ProductMerge:
    """Give the images of two products one product id: the first's, where both have one.

    Where neither has one, the images get one of their own.

    Raises:
        Refused: they are of one product already, or of two catalogs.
    """
    catalog = Catalog.objects.select_for_update().get(pk=first.catalog_id)
    first, second = (Image.objects.get(pk=image.pk) for image in (first, second))
    if first.catalog_id != second.catalog_id:
        raise Refused("image", "They are of two catalogs, whose products have nothing in common.")
    if first.product_id and first.product_id == second.product_id:
        raise Refused("image", f"Both are of product {first.product_id} already.")
    kept = first.product_id or second.product_id or f"same-{uuid.uuid4().hex[:12]}"
    gone = {image.product_id for image in (first, second)} - {kept, ""}
    changed = Q(pk__in=[first.pk, second.pk]) | Q(product_id__in=gone)
    images = catalog.images.filter(changed).exclude(product_id=kept)
    before = dict(images.values_list("pk", "product_id"))
    merge = ProductMerge.objects.create(
        catalog=catalog, product_id=kept, before=before, made_by=by, first=first, second=second
    )
    images.update(product_id=kept)
    _touch(catalog)
    record(by, Action.PRODUCTS_JOINED, catalog, kept=kept, joined=sorted(gone), n=len(before))
    return merge


@transaction.atomic
def part_products(*, merge: ProductMerge, by: User | None) -> int:
    """Take back that two products are one; return how many images have their own again.

    An image whose product has been changed since, by an import or another such act, keeps it.

    Raises:
        Refused: it is taken back already.
    """
    catalog = Catalog.objects.select_for_update().get(pk=merge.catalog_id)
    merge = ProductMerge.objects.select_for_update().get(pk=merge.pk)
    if merge.undone_at is not None:
        raise Refused("merge", "This is taken back already.")
    images = list(catalog.images.filter(pk__in=merge.before, product_id=merge.product_id))
    for image in images:
        image.product_id = merge.before[str(image.pk)]
    Image.objects.bulk_update(images, ["product_id"], batch_size=1000)
    merge.undone_at = timezone.now()
    merge.save(update_fields=["undone_at"])
    _touch(catalog)
    record(by, Action.PRODUCTS_PARTED, catalog, kept=merge.product_id, n=len(images))
    return len(images)


def _touch(catalog: Catalog) -> None:
    Catalog.objects.filter(pk=catalog.pk).update(changed_at=timezone.now())
