"""Bring the pictures of a source into a catalog, in batches that may be cut short anywhere.

Every file is dealt with on its own: its bytes are hashed; unknown ones are checked and stored
by content hash; then the rows of a batch are written in one transaction. A second run finds
what the first has done and does the rest, so that killed and undisturbed runs end alike. Of a
picture that stays elsewhere the previews alone are stored, and it is read once.
"""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from django.db import transaction
from django.utils import timezone

from catalog.images.blobs import PREVIEWS, blobs_in_use, has_blobs, store_blobs
from catalog.models import Catalog, Image, NearDuplicate, SourceFile
from jobs.services import JobError, JobProgress
from lookalike.images.decode import (
    Picture,
    PictureError,
    hard_to_compare,
    picture_format,
)
from lookalike.images.manifest import RemoteSource
from lookalike.images.metadata import Metadata, Row
from lookalike.images.near_duplicates import near_pairs
from lookalike.images.pairing import Pairing, pair
from lookalike.images.picture_processes import PictureProcesses, TooManyOverrunsError
from lookalike.images.pixels import has_other_name
from lookalike.images.problems import Problem
from lookalike.images.sources import Source, UnreadableFileError

BATCH = 32
OTHER_NAME = "named as another format"
N_THREADS = min(8, (os.cpu_count() or 1) + 1)


@dataclass(frozen=True)
class _Prepared:
    """One file after reading: new (with its picture), known (without), or refused."""

    path: str
    sha256: str = ""
    n_bytes: int = 0
    picture: Picture | None = None
    problem: str = ""


def import_source(
    *, catalog: Catalog, source: Source, metadata: Metadata | None, progress: JobProgress
) -> dict[str, Any]:
    """Import all pictures of a source and return the report that the job keeps.

    Returns:
        `images` (different pictures of this source), `products` (those named by them),
        `table` (how the metadata were read, see `Metadata.report`),
        `duplicates` (files with the bytes of another), `near_duplicates` (pairs, in the whole
        catalog), `files`, `skipped` (left behind by systems), `metadata` (the name of what
        describes them, or ""), `others` (no pictures),
        `converted` (files by what their rendering did), `broken`, `warnings` and `unusual`, which
        people can hardly compare (each a list of file and reason).

    Raises:
        JobError: the catalog was deleted meanwhile.
        JobLostError: the job was cancelled or taken over; all whole batches stay.
    """
    refused = [problem.file for problem in source.problems]
    run = _Import(catalog, source, pair(metadata, source.paths, refused), progress)
    with blobs_in_use(), run.processes, ThreadPoolExecutor(N_THREADS) as threads:
        run.go(threads)
    n_near = record_near_duplicates(catalog=catalog, progress=progress)
    broken = [*source.problems, *run.problems, *run.pairing.problems]
    name = metadata.name if metadata is not None else ""
    if metadata is not None:
        broken += metadata.problems
        run.warnings += metadata.notes
    run.warnings += source.notes
    return {
        "images": len(run.images),
        "products": _n_products(catalog, run.images),
        "broken": [asdict(problem) for problem in sorted(set(broken))],
        "duplicates": run.n_stored - len(run.images),
        "near_duplicates": n_near,
        "files": len(run.paths),
        "skipped": source.n_junk,
        "metadata": name,
        "table": metadata.report(len(run.pairing.rows)) if metadata is not None else {},
        "converted": dict(sorted((+run.conversions).items())),
        "unusual": [asdict(problem) for problem in sorted(run.unusual)],
        "others": [other for other in sorted(source.others) if other != name][:100],
        "warnings": [asdict(problem) for problem in sorted(run.all_warnings())],
    }


class _Import:
    """The state of one run: what is known, and what was met so far."""

    def __init__(
        self, catalog: Catalog, source: Source, pairing: Pairing, progress: JobProgress
    ) -> None:
        self.catalog = catalog
        self.source = source
        self.pairing = pairing
        self.progress = progress
        self.paths = source.paths if pairing.takes_others else list(pairing.rows)
        self.known = set(catalog.images.values_list("sha256", flat=True))
        self.images: dict[str, int] = {}  # sha256 -> Image.pk, of this source
        self.described: dict[str, str] = {}  # sha256 -> the path whose row is used
        self.without_row: dict[str, str] = {}  # path -> sha256
        self.processes = PictureProcesses()
        self.n_stored = 0
        self.conversions: Counter[str] = Counter()  # of files, by what was done
        self.unusual: list[Problem] = []
        self.remote = source if isinstance(source, RemoteSource) else None
        self.fetched = self._fetched() if self.remote else {}
        self.problems: list[Problem] = []
        self.warnings: list[Problem] = []

    def go(self, threads: ThreadPoolExecutor) -> None:
        paths = self.paths
        for start in range(0, len(paths), BATCH):
            self.progress.update(start, len(paths), f"Reading {self.source.name}")
            try:
                prepared = list(threads.map(self._prepare, paths[start : start + BATCH]))
            except TooManyOverrunsError as problem:
                raise JobError(str(problem)) from problem
            self.progress.check()
            self._store([item for item in prepared if not item.problem])
            self.problems += [Problem(i.path, i.problem) for i in prepared if i.problem]
        self.progress.update(len(paths), len(paths), "Comparing pictures", is_long=True)

    def _fetched(self) -> dict[tuple[str, str], tuple[str, int]]:
        """Return hash and length of the originals that were read before, by path and address."""
        rows = SourceFile.objects.filter(catalog=self.catalog).exclude(url="")
        values = rows.values_list("path", "url", "image__sha256", "image__n_bytes")
        return {(path, url): (sha256, n) for path, url, sha256, n in values.iterator()}

    def _prepare(self, path: str) -> _Prepared:
        """Read, check and store one file; runs in a thread and touches no database."""
        try:
            if self.remote:
                return self._prepare_remote(self.remote, path)
            content = self.source.read(path)
            picture_format(content, path)
            sha256 = hashlib.sha256(content).hexdigest()
            if sha256 in self.known and has_blobs(sha256):
                return _Prepared(path, sha256, len(content))
            picture = self.processes.read(content, path)
            store_blobs(sha256, content, picture)
        except (PictureError, UnreadableFileError) as problem:
            return _Prepared(path, problem=str(problem))
        return _Prepared(path, sha256, len(content), picture)

    def _prepare_remote(self, source: RemoteSource, path: str) -> _Prepared:
        stated = source.sha256_of.get(path)
        sha256, n_bytes = self.fetched.get((path, source.urls[path]), ("", 0))
        if sha256 and stated in {None, sha256} and has_blobs(sha256, PREVIEWS):
            return _Prepared(path, sha256, n_bytes)
        content = source.read(path)
        sha256 = hashlib.sha256(content).hexdigest()
        if stated not in {None, sha256}:
            reason = f"{source.place(path)}: its bytes have the sha256 {sha256}, not {stated}"
            raise UnreadableFileError(f"{reason}: the picture was changed.")
        try:
            picture = self.processes.read(content)
        except PictureError as problem:
            raise PictureError(f"{source.place(path)}: {problem}") from problem
        store_blobs(sha256, content, picture, PREVIEWS)
        return _Prepared(path, sha256, len(content), picture)

    def _store(self, prepared: list[_Prepared]) -> None:
        with transaction.atomic():
            if not Catalog.objects.select_for_update().filter(pk=self.catalog.pk).exists():
                raise JobError(f"The catalog “{self.catalog}” was deleted during the import.")
            Image.objects.bulk_create(
                [
                    Image(
                        catalog=self.catalog,
                        sha256=item.sha256,
                        width=item.picture.width,
                        height=item.picture.height,
                        image_format=item.picture.image_format,
                        n_bytes=item.n_bytes,
                        perceptual_hash=item.picture.perceptual_hash,
                        conversions=", ".join(item.picture.conversions),
                    )
                    for item in prepared
                    if item.picture
                ],
                ignore_conflicts=True,
            )
            hashes = {item.sha256 for item in prepared}
            found = {i.sha256: i for i in self.catalog.images.filter(sha256__in=hashes)}
            SourceFile.objects.bulk_create(
                [
                    SourceFile(
                        catalog=self.catalog,
                        image=found[item.sha256],
                        path=item.path,
                        url=self.remote.urls[item.path] if self.remote else "",
                    )
                    for item in prepared
                ],
                update_conflicts=True,
                unique_fields=["catalog", "path"],
                update_fields=["image", "url"],
            )
            self._describe(prepared, found)
            Catalog.objects.filter(pk=self.catalog.pk).update(changed_at=timezone.now())
        for item in prepared:
            self._note_rendering(item.path, found[item.sha256])
        self.images |= {sha256: image.pk for sha256, image in found.items()}
        self.known |= hashes
        self.n_stored += len(prepared)

    def _note_rendering(self, path: str, image: Image) -> None:
        self.conversions.update(filter(None, image.conversions.split(", ")))
        self.conversions[OTHER_NAME] += has_other_name(image.image_format, path)
        if reason := hard_to_compare(image.width, image.height):
            self.unusual.append(Problem(path, f"{reason}."))

    def _describe(self, prepared: list[_Prepared], found: dict[str, Image]) -> None:
        """Give images the product and attributes of their row: the first one in path order."""
        changed = []
        for item in prepared:
            row = self.pairing.rows.get(item.path)
            if row is None:
                self.without_row[item.path] = item.sha256
                continue
            first = self.described.setdefault(item.sha256, item.path)
            if first != item.path:
                self._warn_if_contrary(row, item.path, first)
                continue
            image = found[item.sha256]
            if (image.product_id, image.attributes) != (row.product_id, row.attributes):
                image.product_id, image.attributes = row.product_id, row.attributes
                changed.append(image)
        Image.objects.bulk_update(changed, ["product_id", "attributes"])

    def _warn_if_contrary(self, row: Row, path: str, first: str) -> None:
        used = self.pairing.rows[first]
        if (row.product_id, row.attributes) != (used.product_id, used.attributes):
            reason = f"It has the same bytes as {first}, but another row; that of {first} is used."
            self.warnings.append(Problem(path, reason))

    def all_warnings(self) -> list[Problem]:
        """Return the remarks on files that went in; one without a row may share another's."""
        sheet = self.pairing.metadata
        if sheet is None:
            return self.warnings
        reason = f"No row of {sheet} describes it; it went in all the same."
        missed = [path for path, sha in self.without_row.items() if sha not in self.described]
        return self.warnings + [Problem(path, reason) for path in missed]


def record_near_duplicates(*, catalog: Catalog, progress: JobProgress) -> int:
    """Compare all images of a catalog and store which look alike; returns the number of pairs."""
    rows = list(catalog.images.order_by("id").values_list("id", "perceptual_hash"))
    ids = np.array([row[0] for row in rows], np.int64)
    pairs = near_pairs(np.array([int(row[1], 16) for row in rows], np.uint64))
    progress.check()
    with transaction.atomic():
        NearDuplicate.objects.filter(catalog=catalog).delete()
        NearDuplicate.objects.bulk_create(
            (
                NearDuplicate(
                    catalog=catalog, first_id=int(ids[a]), second_id=int(ids[b]), n_bits=int(bits)
                )
                for a, b, bits in pairs
            ),
            batch_size=5000,
        )
        Catalog.objects.filter(pk=catalog.pk).update(changed_at=timezone.now())
    return len(pairs)


def _n_products(catalog: Catalog, images: dict[str, int]) -> int:
    ids = set(images.values())
    named = catalog.images.exclude(product_id="").values_list("id", "product_id")
    return len({product_id for image_id, product_id in named.iterator() if image_id in ids})
