"""A small world: images without files, annotators, and campaigns over them."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence

import pytest

from accounts.models import Role, User
from annotation.models import Campaign
from annotation.services import create_campaign, open_campaign
from catalog.models import Catalog, Image

Pairs = list[tuple[int, int]]


@pytest.fixture
def images(db: None) -> Callable[[int], list[Image]]:
    """Make so many images of one new catalog; no file lies behind them."""

    def make(n: int) -> list[Image]:
        slug = uuid.uuid4().hex[:12]
        catalog = Catalog.objects.create(slug=slug, name=slug)
        return Image.objects.bulk_create(
            [
                Image(
                    catalog=catalog,
                    sha256=uuid.uuid4().hex * 2,
                    product_id=f"secret-product-{i}",
                    width=40,
                    height=60,
                    image_format="JPEG",
                    n_bytes=1,
                    perceptual_hash="0" * 16,
                )
                for i in range(n)
            ]
        )

    return make


@pytest.fixture
def people(db: None) -> Callable[..., list[User]]:
    """Make so many people of one role."""

    def make(n: int, role: Role = Role.ANNOTATOR, *, simulated: bool = False) -> list[User]:
        names = [f"{role}-{uuid.uuid4().hex[:8]}" for _ in range(n)]
        return [User.objects.create_user(name, role=role, is_simulated=simulated) for name in names]

    return make


@pytest.fixture
def pairs(images: Callable[[int], list[Image]]) -> Callable[..., Pairs]:
    """Make pairs: every query with every candidate, as image ids, in the pool's rank order."""

    def make(n_queries: int, n_candidates: int) -> Pairs:
        made = [image.pk for image in images(n_queries + n_candidates)]
        queries, candidates = made[:n_queries], made[n_queries:]
        return [(query, candidate) for query in queries for candidate in candidates]

    return make


@pytest.fixture
def campaign_of(
    pairs: Callable[..., Pairs], people: Callable[..., list[User]]
) -> Callable[..., Campaign]:
    """Open a campaign of so many queries x candidates for so many judges."""

    def make(
        n_queries: int = 2,
        n_candidates: int = 3,
        n_judges: int = 3,
        *,
        panel: Sequence[User] | None = None,
        is_open: bool = True,
        **rules: object,
    ) -> Campaign:
        slug = f"c-{uuid.uuid4().hex[:8]}"
        campaign = create_campaign(
            name=slug,
            slug=slug,
            pairs=pairs(n_queries, n_candidates),
            panel=panel or people(n_judges),
            **rules,  # type: ignore[arg-type]
        )
        return open_campaign(campaign=campaign) if is_open else campaign

    return make
