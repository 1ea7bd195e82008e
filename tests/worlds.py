"""Judged campaigns: small worlds to evaluate, to freeze and to ask for over the API."""

from __future__ import annotations

import csv
import hashlib
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
from django.utils import timezone

from accounts.models import Role, User
from annotation.answering.submissions import RejectedError, Submission
from annotation.models import Campaign
from annotation.queries.judges import find_judge
from annotation.queries.next_questions import next_questions
from annotation.services import close_campaign, record_answers
from catalog.models import Catalog, EmbeddingSet, EmbeddingShard, Image, SourceFile
from catalog.vectors.embeddings import write_shard
from evaluation.results.assessment import assess
from evaluation.results.evaluate_job import evaluate_campaign
from evaluation.results.services import store_result
from jobs.services import run_here
from lookalike.agreement.grades import Scale
from lookalike.core.progress import SILENT
from lookalike.pooling.candidate_rule import CandidateRule
from lookalike.pooling.query_rule import QueryRule
from pooling.campaign.services import open_pool_campaign
from pooling.models import Pool
from pooling.new_pool.requests import PoolRequest
from pooling.pools.services import create_pool
from pooling.pools.statistics import update_stats
from pooling.sources.fill import store_proposals
from pooling.sources.nearest import nearest_candidates
from pooling.sources.proposers import Answer
from releases.freeze.freeze import build
from releases.freeze.requests import FreezeRequest, parse_version
from releases.models import Release
from releases.services import freeze, freeze_job

SPECS = ("descriptor:colour-histogram", "descriptor:hog-shape")
ALL_CANDIDATES = CandidateRule()
Truth = Callable[[Image, Image], bool | str]  # similar or not, or an answer


@dataclass
class World:
    """What the fixtures made."""

    catalog: Catalog
    images: list[Image]
    vectors: dict[str, np.ndarray]
    pool: Pool
    campaign: Campaign
    judges: list[User]


def embed(catalog: Catalog, spec: str, vectors: np.ndarray) -> EmbeddingSet:
    """Store vectors of all images of a catalog, in the order of their ids."""
    made = EmbeddingSet.objects.create(
        catalog=catalog,
        spec=spec,
        fingerprint=hashlib.sha256(spec.encode()).hexdigest(),
        dim=vectors.shape[1],
        is_complete=True,
    )
    EmbeddingShard.objects.create(
        embedding_set=made,
        position=0,
        image_ids=list(catalog.images.order_by("id").values_list("id", flat=True)),
        sha256=write_shard(vectors.astype(np.float32)),
        dtype="float32",
    )
    return made


def answer_all(campaign: Campaign, judge: User, truth: Truth) -> None:
    """Answer every open question of a judge."""
    by_id = {image.pk: image for image in Image.objects.all()}
    while asked := next_questions(find_judge(campaign.uid, judge.pk), after=0, n=100):
        now = timezone.now()
        batch = [
            Submission(
                uuid=uuid.uuid4(),
                question=question.uid,
                answer=_said(truth(by_id[question.query.id], by_id[question.candidate.id])),
                reason="",
                mode="pair",
                device="keyboard",
                guideline_version=1,
                shown_at=now - timedelta(seconds=3),
                decided_at=now,
                visible_ms=3000,
                load_ms=0,
                undoes=None,
            )
            for question in asked
        ]
        receipt = record_answers(
            campaign_uid=campaign.uid,
            annotator_id=judge.pk,
            submissions=[(one.uuid, one) for one in batch],
        )
        assert not [r for r in receipt.results if isinstance(r, RejectedError)]


def _said(found: bool | str) -> str:
    return found if isinstance(found, str) else "similar" if found else "different"


def build_world(
    scale: Scale | None = None,
    n_queries: int = 8,
    *,
    has_unit_vectors: bool = False,
    candidates: CandidateRule = ALL_CANDIDATES,
) -> World:
    """Make thirty images of ten products, two pooled models, one outsider, and a campaign.

    The first world of a database is the same in every run, down to the images' hashes.
    """
    rng = np.random.default_rng(5)
    number = hashlib.sha256(f"world {Catalog.objects.count()}".encode()).hexdigest()
    catalog = Catalog.objects.create(slug=f"c-{number[:8]}", name="Small")
    images = Image.objects.bulk_create(
        Image(
            catalog=catalog,
            sha256=hashlib.sha256(f"{catalog.slug} {row}".encode()).hexdigest(),
            product_id=f"p{row // 3}",
            attributes={"colour": ["red", "blue"][row % 2], "kind": "abc"[row % 3]},
            width=8,
            height=8,
            image_format="PNG",
            n_bytes=1,
            perceptual_hash="0" * 16,
        )
        for row in range(30)
    )
    SourceFile.objects.bulk_create(
        SourceFile(catalog=catalog, image=image, path=f"views of/{row}.png")
        for row, image in enumerate(images)
    )
    vectors = {spec: rng.normal(size=(30, 6)) for spec in (*SPECS, "descriptor:lbp-texture")}
    if has_unit_vectors:  # as models' are: pool and ranking agree on which pictures are near
        vectors = {
            spec: array / np.linalg.norm(array, axis=1, keepdims=True)
            for spec, array in vectors.items()
        }
    sets = {spec: embed(catalog, spec, array) for spec, array in vectors.items()}
    pool = create_pool(
        request=PoolRequest(
            name=f"Pool {catalog.slug}",
            catalog=catalog,
            specs=SPECS,
            k=4,
            rule=QueryRule(n=n_queries),
            candidates=candidates,
        ),
        created_by=None,
    )
    for source in pool.sources.all():
        used = sets[source.spec]
        found = nearest_candidates(pool, source.k, used, used)
        store_proposals(source=source, answer=Answer(found, used, used))
    update_stats(pool=pool)
    judges = [
        User.objects.create_user(f"judge-{number[8 * place : 8 * place + 6]}", role=Role.ANNOTATOR)
        for place in range(1, 4)
    ]
    campaign = open_pool_campaign(
        pool=pool, name=f"Campaign {catalog.slug}", panel=judges, scale=scale
    )
    return World(catalog, images, vectors, pool, campaign, judges)


def build_wild_world(
    n_queries: int = 8, *, n_images: int = 30, n_twins: int = 0, **rules: Any
) -> World:
    """Make images, three of each product, and queries of another catalog with the same ids.

    `images` holds the candidates, then the queries; the first `n_twins` queries are files of the
    first catalog, where they show other products. `rules` go to the request for the pool.
    """
    rng = np.random.default_rng(6)
    shop, wild = (Catalog.objects.create(slug=slug, name=slug) for slug in ("shop", "wild"))
    images = [*_photos(shop, n_images), *_photos(wild, n_queries, every=1, n_twins=n_twins)]
    vectors = {spec: rng.normal(size=(len(images), 6)) for spec in SPECS}
    sets = {
        spec: (embed(shop, spec, array[:n_images]), embed(wild, spec, array[n_images:]))
        for spec, array in vectors.items()
    }
    request = PoolRequest(
        name="Wild", catalog=shop, query_catalog=wild, specs=SPECS, k=4,
        rule=QueryRule(n=n_queries), **rules,
    )  # fmt: skip
    pool = create_pool(request=request, created_by=None)
    for source in pool.sources.all():
        of_images, of_queries = sets[source.spec]
        found = nearest_candidates(pool, source.k, of_images, of_queries)
        store_proposals(source=source, answer=Answer(found, of_images, of_queries))
    update_stats(pool=pool)
    judges = [User.objects.create_user(f"w-{n}", role=Role.ANNOTATOR) for n in range(3)]
    campaign = open_pool_campaign(pool=pool, name="Campaign wild", panel=judges)
    return World(shop, images, vectors, pool, campaign, judges)


def _photos(catalog: Catalog, n: int, every: int = 3, n_twins: int = 0) -> list[Image]:
    """Store images of a catalog, `every` of them of one product, ids from p0 on."""
    shop = [hashlib.sha256(f"shop {29 - row}".encode()).hexdigest() for row in range(n_twins)]
    own = [hashlib.sha256(f"{catalog.slug} {row}".encode()).hexdigest() for row in range(n)]
    images = Image.objects.bulk_create(
        Image(
            catalog=catalog,
            sha256=sha256,
            product_id=f"p{row // every}",
            attributes={"colour": ["red", "blue"][row % 2]},
            width=8,
            height=8,
            image_format="PNG",
            n_bytes=1,
            perceptual_hash="0" * 16,
        )
        for row, sha256 in enumerate([*shop, *own[n_twins:]])
    )
    SourceFile.objects.bulk_create(
        SourceFile(catalog=catalog, image=image, path=f"{catalog.slug}/{row}.png")
        for row, image in enumerate(images)
    )
    return images


def same_colour(query: Image, candidate: Image) -> bool:
    """The judges' truth."""
    return bool(query.attributes["colour"] == candidate.attributes["colour"])


def judge_world(world: World) -> World:
    """Let all three judge every pair; the third always disagrees."""
    for judge in world.judges[:2]:
        answer_all(world.campaign, judge, same_colour)
    answer_all(world.campaign, world.judges[2], lambda q, c: not same_colour(q, c))
    return world


def grade_world(world: World) -> World:
    """Let all three judge every pair of a graded campaign; they differ by a grade here and there.

    A pair of one colour has one grade more, and one of a kind two.
    """
    scale = world.campaign.kind.scale
    assert scale is not None

    def judge(shift: int) -> Truth:
        def truth(query: Image, candidate: Image) -> str:
            a, b = query.attributes, candidate.attributes
            grade = (a["colour"] == b["colour"]) + 2 * (a["kind"] == b["kind"])
            off = shift if (query.pk * 7 + candidate.pk * 3) % 5 == 0 else 0
            return scale.answer(min(max(grade + off, 0), scale.n_grades - 1))

        return truth

    for person, shift in zip(world.judges, (0, 1, -2), strict=True):
        answer_all(world.campaign, person, judge(shift))
    return world


Name = Callable[[World, int], str]


def by_path(world: World, row: int) -> str:
    return f"views of/{row}.png"


def by_sha256(world: World, row: int) -> str:
    return world.images[row].sha256


def cosines(world: World, spec: str = SPECS[0]) -> np.ndarray:
    unit = world.vectors[spec].astype(np.float32)
    unit = unit / np.linalg.norm(unit, axis=1, keepdims=True)
    found: np.ndarray = unit @ unit.T
    return found


def scores_csv(world: World, path: Path, name: Name = by_path) -> Path:
    """Every pair of images by the first model's cosine."""
    scores = cosines(world)
    with path.open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["query", "candidate", "score"])
        for q in range(30):
            for c in range(30):
                if q != c:
                    out.writerow([name(world, q), name(world, c), repr(float(scores[q, c]))])
    return path


def evaluated_world() -> World:
    """Make a judged world with a result."""
    world = judge_world(build_world())
    run_here(
        task="test",
        subject=world.campaign.slug,
        title="test",
        arguments={},
        work=lambda progress: evaluate_campaign(world.campaign, progress, n_bootstraps=100),
    )
    return world


def request_for(world: World, version: str = "1.0.0", **changes: object) -> FreezeRequest:
    """Ask for a release of a world's campaign."""
    given: dict[str, object] = {
        "slug": "small",
        "title": "Small benchmark",
        "campaigns": (world.campaign.slug,),
        "date": "2026-11-21",
        "authors": ("The curators",),
        "description": "Thirty images, judged by three.",
        **changes,
    }
    return FreezeRequest(version=version, **given)  # type: ignore[arg-type]


def freeze_now(request: FreezeRequest) -> Release:
    """Freeze as the command does."""
    run_here(**freeze_job(request), work=lambda progress: freeze(request, progress))
    major, minor, patch = parse_version(request.version)
    return Release.objects.get(slug=request.slug, major=major, minor=minor, patch=patch)


def build_now(request: FreezeRequest, target: Path) -> Path:
    """Build without listing."""
    build(request, target, SILENT)
    return target / "files"


def close_world(made: World) -> World:
    """Evaluate and close a judged campaign."""
    found = assess(made.campaign, n_bootstraps=20)
    store_result(campaign=made.campaign, assessment=found, job=None)
    close_campaign(campaign=made.campaign, by=None, reason="All pairs are judged.")
    return made


def rows_of(campaign, answers: str) -> list[tuple[int, int, int, str]]:
    """One word for each pair, one letter for each judge: s, d, c, k, or . for none."""
    words = {"s": "similar", "d": "different", "c": "cant_tell", "k": "skip"}
    pairs = (
        campaign.questions.filter(kind="pair")
        .order_by("query_id", "candidate_id")
        .values_list("query_id", "candidate_id")
    )
    judges = list(campaign.panel.values_list("annotator_id", flat=True))
    return [
        (*pair, judge, words[letter])
        for pair, word in zip(pairs, answers.split(), strict=False)
        for judge, letter in zip(judges, word, strict=True)
        if letter != "."
    ]
