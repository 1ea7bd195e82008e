"""Make, fill and delete catalogs: the only writers beside the import itself."""

from __future__ import annotations

from dataclasses import asdict, replace
from functools import partial
from typing import Any

from django.core.exceptions import ValidationError
from django.core.validators import validate_slug
from django.db import IntegrityError, connection, models, transaction
from django.utils.text import slugify

from accounts.models import User
from audit.actions import Action
from audit.services import record
from catalog.images.blobs import remove_unused_blobs
from catalog.importing.batches import import_source
from catalog.importing.descriptions import describe_images
from catalog.importing.origins import ACCEPT, Origin
from catalog.importing.uploads import drop_upload
from catalog.models import (
    Catalog,
    EmbeddingSet,
    EmbeddingShard,
    Image,
    NearDuplicate,
    Omission,
    ProductMerge,
    SourceFile,
)
from catalog.queries import IMPORT_TASK
from catalog.short_names import NameCheck, check_name
from catalog.vectors.embeddings import remove_unused_vectors
from jobs.models import OPEN_STATES, Job, JobState
from jobs.services import JobConflictError, JobError, JobProgress, cancel_job, enqueue
from lookalike.core.errors import Refused
from lookalike.images.metadata import MetadataError
from lookalike.images.sources import SourceError
from lookalike.io.errors import InputError

RESERVED_SLUGS = {"new"}
MAX_OPEN_IMPORTS = 3  # of one person, so that nobody fills the queue


def check_slug(slug: str) -> None:
    """Check the short name of a new catalog.

    Raises:
        Refused: it cannot stand in an address, or is one of our own pages.
    """
    try:
        validate_slug(slug)
    except ValidationError:
        raise Refused("", f"“{slug}” is no short name: use letters, digits, - and _.") from None
    if slug in RESERVED_SLUGS:
        raise Refused("", f"“{slug}” is the address of a page. Choose another short name.")
    if len(slug) > 80:
        raise Refused("", "The short name has more than 80 characters.")


def catalog_name(name: str) -> NameCheck:
    """Return whether a new catalog may have a short name, and else one like it that is free."""
    check = check_name(name, Catalog.objects.all(), what="catalog", reserved=RESERVED_SLUGS)
    return replace(check, free=slugify(check.free))


def create_catalog(*, slug: str, name: str, description: str = "") -> Catalog:
    """Make an empty catalog.

    Raises:
        Refused: the short name is taken or cannot be used.
    """
    check_slug(slug)
    try:
        with transaction.atomic():
            catalog = Catalog.objects.create(slug=slug, name=name, description=description)
            record(None, Action.CATALOG_MADE, catalog, slug=slug)
            return catalog
    except IntegrityError:
        raise Refused("", f"There is a catalog “{slug}” already. Choose another name.") from None


def start_import(*, catalog: Catalog, origin: Origin, owner: User) -> Job:
    """Queue an import.

    Raises:
        JobConflictError: an import into this catalog is queued or running, or the person has
            MAX_OPEN_IMPORTS of them.
    """
    mine = Job.objects.filter(task=IMPORT_TASK, owner=owner, state__in=OPEN_STATES)
    if mine.count() >= MAX_OPEN_IMPORTS:
        raise JobConflictError(
            f"You have {MAX_OPEN_IMPORTS} imports queued or running. Wait for one to end."
        )
    with transaction.atomic():
        record(owner, Action.CATALOG_IMPORT, catalog, source=origin.source_name)
        return enqueue(**import_job(catalog, origin), owner=owner)


def import_job(catalog: Catalog, origin: Origin) -> dict[str, Any]:
    """Return what names an import: the same for a worker and for a command."""
    return {
        "task": IMPORT_TASK,
        "subject": f"catalog:{catalog.pk}",
        "title": f"Import {origin.source_name} into {catalog.name}",
        "arguments": {"catalog": catalog.pk, "origin": asdict(origin)},
    }


def import_work(progress: JobProgress) -> dict[str, Any]:
    """Do what an import job's arguments say; may be cut short and called again.

    Raises:
        JobError: the catalog, the source or the metadata cannot be used.
    """
    arguments = progress.job.arguments
    origin = Origin(**arguments["origin"])
    catalog = Catalog.objects.filter(pk=arguments["catalog"]).first()
    if catalog is None:
        raise JobError("The catalog was deleted.")
    try:
        if origin.only_describes:
            return _describe(catalog, origin, progress)
        with origin.open_source() as source:
            metadata = origin.read_metadata(source)
            return import_source(
                catalog=catalog, source=source, metadata=metadata, progress=progress
            )
    except (SourceError, MetadataError, InputError) as problem:
        raise JobError(str(problem)) from problem


def _describe(catalog: Catalog, origin: Origin, progress: JobProgress) -> dict[str, Any]:
    metadata = origin.read_table()
    if metadata is None:
        raise JobError("Neither pictures nor metadata were given.")
    metadata.require_yes(origin.accept_findings, ACCEPT)
    if origin.where:
        metadata = metadata.where(origin.where)
    return describe_images(catalog=catalog, metadata=metadata, progress=progress)


def drop_uploads_of(job: Job) -> None:
    """Drop what was uploaded for an import, once it has succeeded."""
    if job.state == JobState.SUCCEEDED:
        _drop_uploads(job)


def _drop_uploads(job: Job) -> None:
    origin = Origin(**job.arguments["origin"])
    for name in (origin.upload, origin.metadata_upload):
        if name:
            drop_upload(name)


def delete_catalog(*, catalog: Catalog) -> None:
    """Delete a catalog, its images and vectors, and the files that no other catalog needs.

    Raises:
        Refused: pools, questions or other work of people depend on it.
    """
    with transaction.atomic():
        Catalog.objects.select_for_update().get(pk=catalog.pk)
        users = dependents(catalog)
        if users:
            raise Refused("", f"“{catalog}” is used by {', '.join(users)}. Delete those first.")
        for job in Job.objects.filter(task=IMPORT_TASK, subject=f"catalog:{catalog.pk}"):
            cancel_job(job=job)
            transaction.on_commit(partial(_drop_uploads, job))
        NearDuplicate.objects.filter(catalog=catalog).delete()
        Omission.objects.filter(image__catalog=catalog).delete()
        ProductMerge.objects.filter(catalog=catalog).delete()
        SourceFile.objects.filter(catalog=catalog).delete()
        EmbeddingShard.objects.filter(embedding_set__catalog=catalog).delete()
        EmbeddingSet.objects.filter(catalog=catalog).delete()
        with connection.cursor() as cursor:  # nothing refers to them: no need to collect rows
            cursor.execute("delete from catalog_image where catalog_id = %s", [catalog.pk])
        record(None, Action.CATALOG_DELETED, catalog, slug=catalog.slug)
        catalog.delete()
    remove_unused_blobs()
    remove_unused_vectors()


def dependents(catalog: Catalog) -> list[str]:
    """Return what other apps have built on a catalog, such as “2 pools”; empty if nothing.

    Found from the models themselves: this app knows none of those above it.
    """
    links: dict[type[models.Model], models.Q] = {}
    for model, link in ((Catalog, ""), (Image, "__catalog")):
        for relation in model._meta.related_objects:
            other = relation.related_model
            if isinstance(other, str) or other._meta.app_label == "catalog":
                continue
            condition = models.Q(**{relation.field.name + link: catalog})
            links[other] = links[other] | condition if other in links else condition
    found = []
    for other, condition in links.items():
        n = other._default_manager.filter(condition).count()
        if n:
            label = other._meta.verbose_name if n == 1 else other._meta.verbose_name_plural
            found.append(f"{n:,} {label}")
    return found
