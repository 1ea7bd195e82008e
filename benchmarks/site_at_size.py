"""A site of a given size, with one of everything beside it; imported where Django is set up."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from django.conf import settings
from django.db import connection, transaction
from django.utils import timezone

from accounts.models import Role, User
from annotation.bulk import copy_rows, refresh_statistics
from annotation.models import Campaign, Gold, Judgement, JudgementEvent, Question, QueueEntry
from annotation.services import create_campaign, import_judgements, open_campaign
from benchmarks.made_votes import JUDGEMENTS
from catalog.models import Catalog, CatalogMap, EmbeddingSet, EmbeddingShard, Image, SourceFile
from catalog.vectors.embeddings import write_shard
from evaluation.models import Result, Run
from evaluation.results.evaluate_job import evaluate_campaign
from evaluation.results.leaderboard import model_key
from evaluation.runs.stored_runs import store_run
from jobs.services import run_here
from lookalike.io.tables import Run as Scores
from pooling.models import Pool, PoolCampaign, PoolQuery, PoolSource, Proposal
from pooling.pools.statistics import update_stats
from releases.freeze.requests import FreezeRequest
from tests.e2e.pictures import make_images
from tests.every_page import Values, one_of_everything
from tests.worlds import SPECS, freeze_now

OPEN_SHARE = 1000  # of so many pairs the first judge has one yet to answer, but at least 5
KEPT = "site_at_size.json"
MODELS = (
    *SPECS,
    "descriptor:colour-layout",
    "descriptor:lbp-texture",
    "timm:tf_efficientnet_lite0",
)
N_CHECKS = 40  # half of them silent gold, half repeats
N_SMALL = 30  # pairs of each of the other campaigns
ENTRIES = """
insert into annotation_queueentry (member_id, question_id, position, place, stage, state,
    last_uuid, decided_at)
select member_id, question_id, place, place, 'judging',
    case when is_done then 'done' else 'open' end,
    case when is_done then gen_random_uuid() end, case when is_done then at end
from (
    select m.id as member_id, q.id as question_id,
        row_number() over (partition by m.id order by q.position, q.id) as place,
        q.kind <> 'example' and not (m.number = 1 and q.position < %(open)s) as is_done,
        now() - interval '30 days' + q.id %% 1000000 * interval '2 s' as at
    from annotation_question q join annotation_panelmember m using (campaign_id)
    where q.campaign_id = %(campaign)s
) asked
"""
EVENTS = """
insert into annotation_judgementevent (uuid, question_id, member_id, answer, reason, mode, device,
    guideline_version, shown_at, decided_at, received_at, visible_ms, load_ms)
select e.last_uuid, q.id, m.id,
    case when abs(hashtext(q.id::text || '/' || m.number)) %% 500 = 0 then 'cant_tell'
         when (abs(hashtext(q.id::text)) %% 100 < 60)
           <> (abs(hashtext(q.id::text || '-' || m.number)) %% 100 < 8) then 'similar'
         else 'different' end,
    '', case when q.id %% 9 = 0 then 'sheet' else 'pair' end, 'keyboard', 1,
    e.decided_at - interval '2 s', e.decided_at, e.decided_at,
    400 + abs(hashtext(q.id::text || m.number)) %% 4000, q.id %% 90
from annotation_question q join annotation_panelmember m using (campaign_id)
join annotation_queueentry e on e.question_id = q.id and e.member_id = m.id
where q.campaign_id = %(campaign)s and e.state = 'done'
"""
MEMBERS = """
update annotation_panelmember m set n_total = x.n, n_done = x.n_done, last_place = x.n
from (select member_id, count(*) as n, count(*) filter (where state = 'done') as n_done
      from annotation_queueentry group by 1) x
where x.member_id = m.id and m.campaign_id = %(campaign)s
"""


@dataclass(frozen=True)
class Size:
    """How much of everything there is; the defaults are what the benchmark is about."""

    n_images: int = 50_000
    n_queries: int = 1_000
    n_shown: int = 110
    n_judges: int = 3
    n_campaigns: int = 20
    n_releases: int = 10
    depth: int = 40
    dim: int = 64
    n_bootstraps: int = 200


def build(size: Size) -> None:
    """Make the site unless this data folder holds it, and keep what stands in its addresses."""
    kept = settings.DATA_DIR / KEPT
    settings.ALLOWED_HOSTS.append("testserver")
    if not kept.exists():
        people = make_people()
        part = build_part("size", size, people["annotator"])
        values = join(part, one_of_everything(people, ask))
        with connection.cursor() as cursor:
            cursor.execute("alter system set autovacuum = off")  # it would be taken for a visit
            cursor.execute("select pg_reload_conf()")
            cursor.execute("vacuum analyze")
        kept.write_text(json.dumps({"size": asdict(size), "values": values}, default=str))
    if json.loads(kept.read_text())["size"] != asdict(size):
        raise SystemExit(f"{kept} is of another size; give LOOKALIKE_DATA a folder of its own")


def make_people() -> dict[str, User]:
    """Make somebody of each role."""
    return {
        "admin": User.objects.create_user("ada", role=Role.ADMIN, is_superuser=True),
        "annotator": User.objects.create_user("judith", role=Role.ANNOTATOR),
        "researcher": User.objects.create_user("rita", role=Role.RESEARCHER),
    }


def ask(*panel: User, n_queries: int, n_candidates: int) -> Campaign:
    """Open a campaign over a few pictures that have files."""
    images = make_images(n_queries * (1 + n_candidates))
    pairs = [(query.pk, other.pk) for query in images[:n_queries] for other in images[n_queries:]]
    campaign = create_campaign(
        name="Files", slug="files", pairs=pairs, panel=panel, guidelines="The same kind of thing."
    )
    campaign.panel.update(read_version=1)
    return open_campaign(campaign=campaign)


def join(first: Values, second: Values) -> Values:
    """Return the values of both, those of the first before."""
    return {
        app: {
            part: [*first.get(app, {}).get(part, []), *second.get(app, {}).get(part, [])]
            for part in {**first.get(app, {}), **second.get(app, {})}
        }
        for app in {**first, **second}
    }


def build_part(slug: str, size: Size, judge: User) -> Values:
    """Make catalog, pool, campaigns, results and releases; return what stands in addresses."""
    rng = np.random.default_rng(0)
    with transaction.atomic():
        catalog = make_catalog(slug, size)
        ids = np.array(catalog.images.order_by("id").values_list("id", flat=True))
        sets = [embed(catalog, ids, spec, size.dim, rng) for spec in MODELS]
        drawn = rng.permutation(np.arange(0, size.n_images, 2))[: size.n_queries]
        shown = np.stack([others(rng, int(query), size) for query in drawn])
        pool = make_pool(catalog, ids, sets, (drawn, shown), size)
        campaign = make_campaign(pool, ids[drawn], ids[shown], size, judge)
        small = [make_small(pool, campaign, number) for number in range(1, size.n_campaigns)]
    tables = (Image, Proposal, PoolQuery, Question, QueueEntry, JudgementEvent, Judgement)
    refresh_statistics(*tables)
    update_stats(pool=pool)
    upload_run(campaign, ids, drawn, shown)
    run_here(
        task="test", subject=slug, title="Evaluate", arguments={},
        work=lambda progress: evaluate_campaign(
            campaign, progress, n_bootstraps=size.n_bootstraps
        ),
    )  # fmt: skip
    for number in range(size.n_releases):
        subject = campaign if number < 2 else small[number % len(small)]
        freeze_now(FreezeRequest(
            slug=slug, title="At size", version=f"1.{number}.0", campaigns=(subject.slug,),
            date="2026-11-21", is_public=number % 2 == 0,
        ))  # fmt: skip
    return values_of(campaign, catalog, sets)


def make_catalog(slug: str, size: Size) -> Catalog:
    """Make a catalog of pictures that have no files, three of each product."""
    catalog = Catalog.objects.create(slug=slug, name="At size")
    images = (
        Image(
            catalog=catalog, sha256=hashlib.sha256(f"{slug} {row}".encode()).hexdigest(),
            product_id=f"p{row // 3}", attributes={"colour": f"c{row % 9}", "kind": f"k{row % 40}"},
            width=640, height=480, image_format="JPEG", n_bytes=40_000,
            perceptual_hash=f"{row * 7919:016x}",
        )
        for row in range(size.n_images)
    )  # fmt: skip
    Image.objects.bulk_create(images, batch_size=2000)
    ids = catalog.images.order_by("id").values_list("id", flat=True)
    rows = ((catalog.pk, pk, f"views/{at:06d}.jpg") for at, pk in enumerate(ids))
    copy_rows(SourceFile, ("catalog_id", "image_id", "path"), rows)
    return catalog


def embed(
    catalog: Catalog, ids: Any, spec: str, dim: int, rng: np.random.Generator
) -> EmbeddingSet:
    """Store random vectors, and a map of them."""
    found = EmbeddingSet.objects.create(
        catalog=catalog, spec=spec, dim=dim, is_complete=True,
        fingerprint=hashlib.sha256(spec.encode()).hexdigest(),
    )  # fmt: skip
    for position, start in enumerate(range(0, len(ids), 4096)):
        rows = ids[start : start + 4096].tolist()
        EmbeddingShard.objects.create(
            embedding_set=found, position=position, image_ids=rows, dtype="float32",
            sha256=write_shard(rng.standard_normal((len(rows), dim), np.float32)),
        )  # fmt: skip
    points = rng.integers(0, 2**16, (len(ids), 2)).astype("<u2").tobytes()
    CatalogMap.objects.create(
        embedding_set=found, vectors_sha256="0" * 64, image_ids=ids.tolist(), points=points
    )
    return found


def others(rng: np.random.Generator, query: int, size: Size) -> Any:
    """Draw rows of images that a query is shown with."""
    drawn = rng.choice(size.n_images - 1, size.n_shown, replace=False)
    return np.where(drawn >= query, drawn + 1, drawn)


def make_pool(
    catalog: Catalog, ids: Any, sets: list[EmbeddingSet], pairs: tuple[Any, Any], size: Size
) -> Pool:
    """Make a pool whose sources have proposed, each for every query among what is shown."""
    drawn, shown = pairs
    rng = np.random.default_rng(1)
    pool = Pool.objects.create(slug=catalog.slug, name="At size", catalog=catalog, k=size.depth)
    queries = enumerate(ids[drawn].tolist())
    PoolQuery.objects.bulk_create(
        PoolQuery(pool=pool, image_id=pk, position=at) for at, pk in queries
    )
    for position, found in enumerate(sets):
        source = PoolSource.objects.create(
            pool=pool, position=position, spec=found.spec, k=size.depth, embedding_set=found,
            done_at=timezone.now(), n_proposals=size.depth * len(drawn),
        )  # fmt: skip
        rows = (
            (pool.pk, source.pk, query, candidate, rank, 1 - rank / 100)
            for query, row in zip(ids[drawn].tolist(), ids[shown], strict=True)
            for rank, candidate in enumerate(rng.permutation(row)[: size.depth].tolist())
        )
        columns = ("pool_id", "source_id", "query_id", "candidate_id", "rank", "score")
        copy_rows(Proposal, columns, rows)
    return pool


def make_campaign(pool: Pool, queries: Any, shown: Any, size: Size, judge: User) -> Campaign:
    """Make a campaign that nearly everybody has judged nearly all of, with checks."""
    campaign = Campaign.objects.create(
        slug=pool.slug, name="At size", state="open", n_questions=shown.size, repeat_percent=1
    )
    campaign.guidelines.create(version=1, text="Would a customer take one for the other?")
    PoolCampaign.objects.create(pool=pool, campaign=campaign)
    Question.objects.bulk_create(pairs_of(campaign, queries, shown), batch_size=5000)
    rest = range(2, size.n_judges + 1)
    panel = [User.objects.create_user(f"{pool.slug}-{n}", role=Role.ANNOTATOR) for n in rest]
    for number, person in enumerate([judge, *panel], 1):
        campaign.panel.create(annotator=person, number=number, read_version=1)
    add_checks(campaign)
    with transaction.atomic(), connection.cursor() as cursor:
        n_open = max(5, shown.size // OPEN_SHARE)
        for statement in (ENTRIES, EVENTS, MEMBERS):
            cursor.execute(statement, {"campaign": campaign.pk, "open": n_open})
        cursor.execute(JUDGEMENTS, [campaign.pk])
    return campaign


def pairs_of(campaign: Campaign, queries: Any, shown: Any) -> Iterator[Question]:
    """Yield the questions of a pool's pairs."""
    position = 0
    for query, row in zip(queries.tolist(), shown.tolist(), strict=True):
        for candidate in row:
            yield Question(
                campaign=campaign, query_id=query, candidate_id=candidate, position=position
            )
            position += 1


def add_checks(campaign: Campaign) -> None:
    """Ask some pairs again, and know the answers of some."""
    pairs = campaign.questions.order_by("pk")[:N_CHECKS]
    for at, pair in enumerate(pairs):
        is_gold = at % 2 == 0
        asked = Question.objects.create(
            campaign=campaign, query_id=pair.query_id, candidate_id=pair.candidate_id,
            kind="gold" if is_gold else "repeat", original=None if is_gold else pair,
            position=campaign.n_questions + at,
        )  # fmt: skip
        if is_gold:
            Gold.objects.create(question=asked, answer="similar")


def make_small(pool: Pool, of: Campaign, number: int) -> Campaign:
    """Make a campaign of few pairs, judged but for one."""
    pairs = list(of.questions.filter(kind="pair").order_by("pk")[number : number + N_SMALL])
    ids = [(pair.query_id, pair.candidate_id) for pair in pairs]
    panel = [member.annotator for member in of.panel.select_related("annotator")]
    campaign = open_campaign(
        campaign=create_campaign(
            name=f"Small {number}", slug=f"{of.slug}-{number}", pairs=ids, panel=panel,
            guidelines="The same kind of thing.",
        )
    )  # fmt: skip
    PoolCampaign.objects.create(pool=pool, campaign=campaign)
    answers = ("similar", "similar", "different")
    import_judgements(
        campaign=campaign,
        rows=[
            (*pair, person.pk, answers[(at + place) % 3])
            for at, pair in enumerate(ids[1:])
            for place, person in enumerate(panel)
        ],
    )
    return campaign


def upload_run(campaign: Campaign, ids: Any, drawn: Any, shown: Any) -> None:
    """Store an uploaded run that scores every pair."""
    names = dict(Image.objects.filter(pk__in=ids.tolist()).values_list("pk", "sha256"))
    rng = np.random.default_rng(2)
    rows = (
        (names[query], names[candidate], float(score))
        for query, row in zip(ids[drawn].tolist(), ids[shown].tolist(), strict=True)
        for candidate, score in zip(row, rng.random(len(row)), strict=True)
    )
    run = Scores.of("uploaded", rows)
    Run.objects.create(
        campaign=campaign, name=run.name, sha256=store_run(run), missing="worst",
        coverage={
            "n_rows": shown.size, "n_scored": shown.size, "n_pairs": shown.size, "share": 1.0
        },
    )  # fmt: skip


def values_of(campaign: Campaign, catalog: Catalog, sets: list[EmbeddingSet]) -> Values:
    """Return what stands in the addresses of a part; most things have the name of the part."""
    slug = [catalog.slug]
    question = campaign.questions.select_related("query", "candidate").order_by("pk")[0]
    images = [question.query.uid, question.candidate.uid]
    maps = CatalogMap.objects.filter(embedding_set=sets[0])
    results = Result.objects.filter(campaign=campaign).values_list("uid", flat=True)
    runs = Run.objects.filter(campaign=campaign).values_list("uid", flat=True)
    return {
        "annotation": {
            "slug": slug, "campaign_uid": [campaign.uid], "uid": [question.uid],
            "question_uid": [question.uid], "number": [1],
        },
        "catalog": {"slug": slug, "uid": images[:1], "other": images[1:], "set_id": [sets[0].pk]},
        "pooling": {
            "slug": slug, "pool": slug, "set_id": [sets[0].pk], "position": [0],
            "pk": list(maps.values_list("pk", flat=True)),
        },
        "learning": {"slug": slug},
        "evaluation": {"slug": slug, "number": [1], "key": [model_key(SPECS[0])]},
        "releases": {"slug": slug, "version": ["1.0.0"]},
        "api": {
            "slug": slug, "version": ["1.0.0"], "uid": [*images[:1], *results, *runs],
            "number": [1], "size": ["thumb"], "path": ["MANIFEST.json"],
        },
    }  # fmt: skip
