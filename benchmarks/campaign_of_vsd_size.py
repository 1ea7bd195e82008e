"""Make a judged campaign of VSD's size; imported where Django is set up."""

from __future__ import annotations

import hashlib

import numpy as np
from django.db import transaction
from django.utils import timezone

from accounts.models import Role, User
from annotation.models import Campaign, Judgement, Question
from benchmarks.made_votes import judge_all
from catalog.models import Catalog, EmbeddingSet, EmbeddingShard, Image
from catalog.vectors.embeddings import write_shard
from lookalike.core.unit_vectors import unit_rows
from lookalike.search.exact import top_k
from lookalike.search.filters import Filters
from pooling.models import Pool, PoolCampaign, PoolQuery, PoolSource, Proposal

SLUG = "vsd-size"
N_QUERIES, N_PAIRS, N_MODELS, N_POOLED, N_JUDGES = 2_000, 54_170, 14, 6, 3


@transaction.atomic
def build(n_images: int, dim: int, n_pairs: int = N_PAIRS) -> None:
    """Make the campaign unless this data folder holds it."""
    if Campaign.objects.filter(slug=SLUG).exists():
        return
    rng = np.random.default_rng(0)
    catalog = Catalog.objects.create(slug=SLUG, name="VSD size")
    Image.objects.bulk_create(
        [
            Image(catalog=catalog, sha256=hashlib.sha256(str(row).encode()).hexdigest(),
                  product_id=f"p{row // 2}", attributes={"colour": f"c{row % 9}"}, width=8,
                  height=8, image_format="PNG", n_bytes=1, perceptual_hash="0" * 16)
            for row in range(n_images)
        ],
        batch_size=2000,
    )  # fmt: skip
    ids = np.array(catalog.images.order_by("id").values_list("id", flat=True))
    truth = rng.normal(size=(n_images, dim))
    pool = Pool.objects.create(slug=SLUG, name="VSD size", catalog=catalog, k=9, seed=0)
    asked = np.sort(rng.choice(n_images, N_QUERIES, replace=False))
    PoolQuery.objects.bulk_create(
        PoolQuery(pool=pool, image_id=int(ids[row]), position=at) for at, row in enumerate(asked)
    )
    found: dict[tuple[int, int], None] = {}
    for m in range(N_MODELS):
        vectors = unit_rows(truth + (0.5 + 0.1 * m) * rng.normal(size=truth.shape))
        spec = f"descriptor:model-{m:02d}"
        stored = EmbeddingSet.objects.create(
            catalog=catalog, spec=spec, fingerprint=f"{m:064d}", dim=dim, is_complete=True
        )
        EmbeddingShard.objects.create(
            embedding_set=stored, position=0, image_ids=ids.tolist(),
            sha256=write_shard(vectors), dtype="float32",
        )  # fmt: skip
        if m >= N_POOLED:
            continue
        source = PoolSource.objects.create(
            pool=pool, position=m, spec=spec, k=9, embedding_set=stored, done_at=timezone.now()
        )
        lists = top_k(vectors[asked], vectors, 9, filters=Filters(own=asked)).indices
        Proposal.objects.bulk_create(
            (
                Proposal(pool=pool, source=source, query_id=int(ids[asked[q]]),
                         candidate_id=int(ids[c]), rank=rank, score=1.0 - rank / 100)
                for q, row in enumerate(lists)
                for rank, c in enumerate(row)
            ),
            batch_size=5000,
        )  # fmt: skip
        found |= {(q, int(c)): None for q, row in enumerate(lists) for c in row}
    pairs = list(found)[:n_pairs]
    campaign = Campaign.objects.create(slug=SLUG, name="VSD size", state="open",
                                       n_questions=len(pairs))  # fmt: skip
    PoolCampaign.objects.create(pool=pool, campaign=campaign)
    Question.objects.bulk_create(
        (
            Question(
                campaign=campaign,
                query_id=int(ids[asked[q]]),
                candidate_id=int(ids[c]),
                position=at,
            )
            for at, (q, c) in enumerate(pairs, 1)
        ),
        batch_size=5000,
    )
    for n in range(1, N_JUDGES + 1):
        person = User.objects.create_user(f"{SLUG}-{n}", role=Role.ANNOTATOR)
        campaign.panel.create(annotator=person, number=n)
    judge_all(campaign.pk, percent_similar=85)  # and 8 % of the answers turned
    print(f"{len(pairs):,} pairs, {Judgement.objects.count():,} answers")
