"""Take labels in another format as a campaign: VSD JSON or a task, TREC qrels, CSV, parquet."""

from __future__ import annotations

from collections.abc import Collection

from django.db import transaction

from annotation.models import Campaign
from annotation.services import create_campaign, open_campaign
from annotation.services.imports import ImportedJudgement, import_judgements
from catalog.image_names import names_of_images
from catalog.models import Catalog
from lookalike.agreement.grades import MOST_GRADES, Scale
from lookalike.io.tables import Qrels
from lookalike.release.errors import ReleaseError
from releases.importing.campaign import make_account
from releases.importing.images import listed


@transaction.atomic
def import_labels(
    *,
    labels: Qrels,
    source_name: str,
    slug: str,
    name: str,
    catalog: Catalog,
    query_catalog: Catalog | None = None,
    similar_from: int | None = None,
) -> tuple[Campaign, int]:
    """Make a campaign from labels that name images by path, SHA-256 or the beginning of it.

    Each label becomes the judgement of one judge, so the labels are the same again. Grades become
    those of a campaign that asks for grades.

    Args:
        labels: as `read_qrels` or `read_vsd_task` give them.
        source_name: where they are from, for people.
        slug: of the campaign.
        name: of the campaign.
        catalog: holds the candidates.
        query_catalog: holds the queries, if they are not in the same catalog.
        similar_from: the least grade that counts as similar, for labels with grades.

    Returns:
        The campaign, and how many judgements it holds.

    Raises:
        ReleaseError: a catalog lacks images, or there are more grades than a scale has.
        CampaignError: the slug is taken.
    """
    scale, answers = _answers(labels, similar_from, source_name)
    candidate_ids = images_named(labels.candidate_ids, catalog, source_name)
    query_ids = images_named(labels.query_ids, query_catalog or catalog, source_name)
    pairs = [(query_ids[query], candidate_ids[image]) for query, image, _ in labels]
    judge = make_account(f"{slug}-labels")
    campaign = create_campaign(
        name=name,
        slug=slug,
        pairs=pairs,
        panel=[judge],
        scale=scale,
        guidelines=f"Labels of {source_name}.",
    )
    campaign = open_campaign(campaign=campaign)
    counts = import_judgements(
        campaign=campaign,
        rows=[
            ImportedJudgement(*pair, judge.pk, answer)
            for pair, answer in zip(pairs, answers, strict=True)
        ],
    )
    return campaign, counts.n_imported


def _answers(
    labels: Qrels, similar_from: int | None, source_name: str
) -> tuple[Scale | None, list[str]]:
    """Return the scale of labels with grades, and the answer of each label.

    Raises:
        ReleaseError: more grades than a scale has.
    """
    if labels.grades is None or similar_from is None:
        return None, ["similar" if label else "different" for _, _, label in labels]
    most = max(int(labels.grades.max()), similar_from)
    if most >= MOST_GRADES:
        raise ReleaseError(
            f"{source_name}: grade {most}; a campaign asks for grades from 0 to {MOST_GRADES - 1}"
        )
    scale = Scale(tuple(f"Grade {grade}" for grade in range(most + 1)), similar_from)
    return scale, [scale.answer(grade) for grade in labels.grades.tolist()]


def images_named(names: Collection[str], catalog: Catalog, source_name: str) -> dict[str, int]:
    """Return the images of a catalog that names stand for.

    Raises:
        ReleaseError: some stand for none; the message lists them.
    """
    names_here = names_of_images(catalog.images.all(), f"the catalog “{catalog}”")
    image_ids, reasons = names_here.find_all(sorted(set(names)))
    if reasons:
        raise ReleaseError(
            listed(
                f"{len(reasons):,} images of {source_name} are not in the catalog “{catalog}”:",
                list(reasons.values()),
            )
        )
    return image_ids
