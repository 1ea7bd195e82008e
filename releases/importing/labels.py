"""Take labels in another format as a campaign: VSD JSON, TREC qrels, CSV or parquet."""

from __future__ import annotations

from pathlib import Path

from django.db import transaction

from annotation.models import Campaign
from annotation.services import create_campaign, open_campaign
from annotation.services.imports import ImportedJudgement, import_judgements
from catalog.models import Catalog, Image, SourceFile
from lookalike.io.labels import read_qrels
from lookalike.release.errors import ReleaseError
from releases.importing.campaign import make_account
from releases.importing.images import listed

SHORTEST = 16


@transaction.atomic
def import_labels(*, source: Path, slug: str, name: str, catalog: Catalog) -> tuple[Campaign, int]:
    """Make a campaign from a VSD JSON, TREC qrels, CSV or parquet file of labels.

    Each label becomes the judgement of one judge, so the labels are the same again.

    Returns:
        The campaign, and how many judgements it holds.

    Raises:
        FormatError: the file cannot be read.
        ReleaseError: it names images that the catalog lacks.
        CampaignError: the slug is taken.
    """
    labels = list(read_qrels(source))
    names = {name for query, candidate, _ in labels for name in (query, candidate)}
    image_ids = _image_ids(catalog, names)
    missing = sorted(names - image_ids.keys())
    if missing:
        raise ReleaseError(
            listed(
                f"{len(missing):,} images of {source.name} are not in the catalog “{catalog}” by "
                f"path, SHA-256 or the first {SHORTEST} characters of it:",
                missing,
            )
        )
    judge = make_account(f"{slug}-labels")
    pairs = [(image_ids[query], image_ids[candidate]) for query, candidate, _ in labels]
    campaign = create_campaign(
        name=name,
        slug=slug,
        pairs=pairs,
        panel=[judge],
        guidelines=f"Labels of {source.name}.",
    )
    campaign = open_campaign(campaign=campaign)
    counts = import_judgements(
        campaign=campaign,
        rows=[
            ImportedJudgement(
                image_ids[query],
                image_ids[candidate],
                judge.pk,
                "similar" if label else "different",
            )
            for query, candidate, label in labels
        ],
    )
    return campaign, counts.n_imported


def _image_ids(catalog: Catalog, names: set[str]) -> dict[str, int]:
    """Return the images that names stand for: path, SHA-256, or the beginning of it."""
    files = SourceFile.objects.filter(catalog=catalog).values_list("path", "image_id")
    image_ids = {path: pk for path, pk in files.iterator() if path in names}
    lengths = {len(name) for name in names - image_ids.keys() if len(name) >= SHORTEST}
    images = Image.objects.filter(catalog=catalog).values_list("sha256", "pk")
    for sha256, pk in images.iterator():
        for length in lengths:
            if sha256[:length] in names:
                image_ids.setdefault(sha256[:length], pk)
    return image_ids
