"""A release of two campaigns comes back: each campaign with its own pool and panel."""

from __future__ import annotations

import json

import pyarrow.parquet as pq
import pytest

from annotation.models import Campaign
from lookalike.release.errors import ReleaseError
from lookalike.release.format.archive import opened
from lookalike.release.verify import verify
from pooling.models import Pool, PoolCampaign
from releases.importing.release import import_any
from releases.storage import archive_path, files_folder
from tests.paths import GOLDEN_RELEASES
from tests.releases.cases import rows_of
from tests.releases.two_campaigns import add_campaign, draw_below, freeze_both, strata
from tests.worlds import World


def test_two_campaigns_come_back_with_their_pools_panels_and_samples(world: World) -> None:
    other = add_campaign(world)
    draw_below(other, 25)
    before = freeze_both(world)
    made = import_any(source=archive_path(before), slug="again", catalog=world.catalog)
    n_pools = Pool.objects.filter(slug__startswith="again-").count()
    assert len(made.campaigns) == n_pools == 2
    links = {
        link.campaign.slug: link.pool.slug
        for link in PoolCampaign.objects.filter(campaign__in=made.campaigns)
    }
    assert links == {
        f"again-{one.slug}": f"again-{pool.slug}"
        for one in (world.campaign, other)
        for pool in [PoolCampaign.objects.get(campaign=one).pool]
    }
    sizes = {one.slug: one.panel.count() for one in made.campaigns}
    assert sizes == {f"again-{world.campaign.slug}": 3, "again-another-campaign": 2}
    slugs = tuple(one.slug for one in made.campaigns)
    after = freeze_both(world, slug="again", campaigns=slugs)
    old, new = files_folder(before), files_folder(after)
    for name, changing in {
        "images": (), "queries": (), "rulings": (), "excluded": (), "negatives": (), "qrels": (),
        "results": (), "pairs": ("campaign",), "pool": ("pool",), "labels": ("p_dawid_skene",),
    }.items():  # fmt: skip
        assert rows_of(old, name, changing) == rows_of(new, name, changing), name
    changing = ("campaign", "mode", "annotator")
    assert sorted(map(str, rows_of(old, "judgements", changing))) == sorted(
        map(str, rows_of(new, "judgements", changing))
    )
    assert [row[1:] for row in strata(old)] == [row[1:] for row in strata(new)]
    pools = [json.loads((one / "release.json").read_text())["pools"] for one in (old, new)]
    for one, again in zip(*pools, strict=True):
        assert {**one, "slug": f"again-{one['slug']}"} == again
    assert verify(new).findings == ()


def test_a_campaign_without_a_pool_comes_back_without_one(world: World) -> None:
    other = add_campaign(world)
    PoolCampaign.objects.filter(campaign=other).delete()
    release = freeze_both(world)
    info = json.loads((files_folder(release) / "release.json").read_text())
    assert [one["pool"] for one in info["campaigns"]] == ["", world.pool.slug]
    made = import_any(source=archive_path(release), slug="again", catalog=world.catalog)
    links = PoolCampaign.objects.filter(campaign__in=made.campaigns)
    assert [link.campaign.slug for link in links] == [f"again-{world.campaign.slug}"]


def test_an_older_release_of_several_pools_is_refused_and_nothing_stays(world: World) -> None:
    """Its images are put into the catalog, so that nothing but the pools is missing."""
    with pytest.raises(ReleaseError, match="does not say which campaign judges which"):
        _import_old(world)
    assert not Campaign.objects.filter(slug__startswith="again").exists()
    assert not Pool.objects.filter(slug__startswith="again").exists()


def _import_old(world: World) -> None:
    with opened(GOLDEN_RELEASES / "small-2.0.0.zip") as folder:
        rows = pq.read_table(folder / "data/images.parquet").to_pylist()
    for image, row in zip(world.images, rows, strict=True):
        image.sha256 = row["sha256"]
        image.save()
    import_any(source=GOLDEN_RELEASES / "small-2.0.0.zip", slug="again", catalog=world.catalog)
