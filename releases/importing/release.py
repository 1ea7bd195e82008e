"""Take a release back as a campaign with its judgements, so that it can be continued here."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.db import transaction

from annotation.models import Campaign
from catalog.models import Catalog
from conditional.models import TripletSet
from lookalike.core.progress import SILENT, Progress
from lookalike.io.errors import InputError
from lookalike.io.labels import read_qrels
from lookalike.io.pair_answers import PairAnswers
from lookalike.io.read_pair_answers import read_pair_answers
from lookalike.io.tables import Qrels
from lookalike.io.vote_options import VoteOptions
from lookalike.io.vsd_task import read_vsd_task
from lookalike.release.errors import ReleaseError
from lookalike.release.format.archive import is_release, unpacked
from lookalike.release.format.folder import Folder
from lookalike.release.format.layout import MANIFEST, has_sets
from lookalike.release.rounds import judged_share
from lookalike.release.verify import verify_unpacked
from pooling.models import PoolCampaign
from releases.importing.answers import import_answers
from releases.importing.campaign import (
    make_campaign,
    make_judges,
    store_judgements,
    store_rulings,
)
from releases.importing.conditional import import_sets
from releases.importing.images import ImageIds, listed
from releases.importing.labels import import_labels
from releases.importing.pool import make_pools

LABELS = (".json", ".txt", ".qrels", ".csv", ".parquet")


@dataclass(frozen=True)
class Imported:
    """What an import made."""

    campaigns: list[Campaign]
    n_judgements: int = 0
    template_campaigns: list[Campaign] = field(default_factory=list)
    triplet_sets: list[TripletSet] = field(default_factory=list)


def import_any(
    *,
    source: Path,
    slug: str,
    catalog: Catalog,
    query_catalog: Catalog | None = None,
    name: str = "",
    min_rel: int | None = None,
    options: VoteOptions | None = None,
    progress: Progress = SILENT,
    mark: Callable[[Imported], None] = lambda made: None,
) -> Imported:
    """Import a release, a VSD task or labels, whichever `source` is: all that it holds, or nothing.

    Of a release the judges become accounts that nobody can sign in to, named after their
    pseudonyms; templates come back as a closed campaign, triplets as a set.

    Args:
        source: folder or zip of a release, of which every hash and number is checked first; or of
            a task of the VSD benchmark; or a file of labels.
        slug: of the new campaign and pool; of several, and of sets of templates and triplets, the
            first part of each slug.
        catalog: holds the candidates; those of a release are told by SHA-256.
        query_catalog: holds the queries, if they are not in the same catalog.
        name: of the campaign, for labels and tasks.
        min_rel: the least grade that counts as similar, for labels with grades; they become a
            campaign that asks for grades.
        options: how to read votes; receives notes on what is left out.
        progress: told what is done now.
        mark: given what was made, before it is committed: what it stores is stored with it.

    Raises:
        InputError: it cannot be imported; the message lists why: a release that is damaged or
            keeps labels back, or images that the catalogs lack.
        CampaignError: the slug is taken.
    """
    options = options or VoteOptions()
    common: dict[str, Any] = {
        "source_name": source.name,
        "slug": slug,
        "name": name or slug,
        "catalog": catalog,
        "query_catalog": query_catalog,
    }
    labels = _labels(source, min_rel, options, progress)
    if labels is not None:
        with transaction.atomic():
            if isinstance(labels, Qrels):
                campaign, n = import_labels(labels=labels, similar_from=min_rel, **common)
            else:
                campaign, n = import_answers(answers=labels, **common)
            made = Imported([campaign], n)
            mark(made)
        return made
    progress.note("Unpacking")
    with unpacked(source) as release:
        verdict = verify_unpacked(release, progress)
        if not verdict.is_right:
            findings = [str(finding) for finding in verdict.findings]
            raise ReleaseError(listed("The release is damaged:", findings))
        folder = Folder(release.path)
        if folder.info["hidden_percent"]:
            raise ReleaseError(
                "The release keeps labels back, so it cannot be continued elsewhere."
            )
        if judged_share(folder) < 1:
            raise ReleaseError(
                "Rounds have judged a part of the release’s pool, so it cannot be continued "
                "elsewhere: further rounds would need the site that drew them."
            )
        with transaction.atomic():
            made = _import(folder, slug, catalog, query_catalog, progress)
            mark(made)
        return made


def _labels(
    source: Path, min_rel: int | None, options: VoteOptions, progress: Progress
) -> Qrels | PairAnswers | None:
    """Return the answers or labels of a file or VSD task; None where `source` must be a release.

    Raises:
        FormatError: they cannot be read.
        ReleaseError: a zip that is neither a release nor a task, or grades of no file of labels.
    """
    is_file = source.is_file() and source.suffix.lower() in LABELS
    if min_rel is not None and not is_file:
        raise ReleaseError(f"{source.name}: a least grade that is similar is for files of labels.")
    is_packed = source.is_dir() or zipfile.is_zipfile(source)
    if is_packed and not is_release(source):
        progress.note("Reading a VSD task")
        try:
            return read_vsd_task(source).qrels()
        except InputError as problem:
            raise ReleaseError(
                f"{source} holds no {MANIFEST}: it is no release, or is incomplete; nor is it a "
                f"task of the VSD benchmark: {problem}"
            ) from problem
    if is_file:
        progress.note("Reading labels")
        answers = read_pair_answers(source, options) if min_rel is None else None
        if answers is not None:
            options.notes.extend(note for note in answers.notes if note not in options.notes)
            return answers
        return read_qrels(source, min_rel=min_rel, options=options)
    return None


def _import(
    folder: Folder, slug: str, catalog: Catalog, query_catalog: Catalog | None, progress: Progress
) -> Imported:
    progress.note("Looking up images")
    images = ImageIds.of(folder, catalog, query_catalog)
    judges = make_judges(folder, slug)
    entries = folder.info["campaigns"]
    progress.note("Storing the pools")
    pools = make_pools(folder, slug, images, catalog, query_catalog)
    made, n_judgements = [], 0
    for entry in entries:
        name = slug if len(entries) == 1 else f"{slug}-{entry['slug']}"[:80]
        progress.note(f"Storing pairs of {entry['name']}")
        campaign = make_campaign(folder, entry, name, images, judges)
        progress.note(f"Storing judgements of {entry['name']}")
        n_judgements += store_judgements(folder, entry, campaign, images, judges)
        if pool := pools.get(entry["slug"]):
            PoolCampaign.objects.create(pool=pool, campaign=campaign)
        made.append(campaign)
    store_rulings(folder, made, images)
    if has_sets(folder.info):
        progress.note("Storing templates and triplets")
    of_templates, triplet_sets = import_sets(folder, slug, images, judges, catalog)
    return Imported(made, n_judgements, of_templates, triplet_sets)
