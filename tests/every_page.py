"""One of everything on a site, and every address that can be made of it.

The addresses are those of the URL configuration: a page that is new has none before what stands in
it is made here, and the tests that open every page say so.
"""

from __future__ import annotations

import itertools
import uuid
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP, generate_totp_secret
from django.urls import NoReverseMatch, reverse

from accounts.models import Scope, User
from accounts.tokens.services import create_token
from annotation.models import Campaign, Comment
from annotation.services import create_campaign
from catalog.maps.services import MAP_TASK, draw_map, map_subject
from catalog.models import CatalogMap, EmbeddingSet
from conditional.campaigns.services import ask_panel
from conditional.models import RetrievalTemplate, TripletQuestion, TripletSet
from evaluation.plan.services import PLAN_TASK
from evaluation.results.leaderboard import model_key
from evaluation.tasks import plan as make_plan
from jobs.models import Job
from jobs.services import enqueue, run_here
from releases.models import Submission
from tests.catalogs import embedding_set_of, pool_over
from tests.clients import Browser, signed_in
from tests.conditional.cases import built_set, make_catalog
from tests.evaluation.rounds.cases import RULES, judged, looked, opened, world_of_rounds
from tests.learning.spaces import stored_embedding, stored_space
from tests.worlds import SPECS, close_world, evaluated_world, freeze_now, request_for

NOT_OURS = ("admin:", "api:", "openid_", "socialaccount_", "allauth", "usersessions_", "headless")
ELSEWHERE = {  # name: why no page of it opens here
    **dict.fromkeys(("metrics", "security_txt"), "for programs, where the settings say so"),
    **dict.fromkeys(("words", "conditional:matrix"), "a file"),
    **dict.fromkeys(
        (
            "annotation:image",
            "annotation:choice_image",
            "conditional:crop",
            "releases:picture",
            "learning:notion_picture",
        ),
        "a picture",
    ),
    "accounts:first_admin": "only while there is no admin: tests/e2e/test_account_pages.py",
    "account_confirm_email": "addresses are not confirmed here",
    "account_reset_password_from_key": "behind a key that was mailed: `mailed_link`",
}
QUERIES = {
    "evaluation:compare": f"?a={model_key(SPECS[0])}&b={model_key(SPECS[1])}",
    "catalog:product": "?id=p1",
    "learning:compare": "?run=shop&run=own",
}
A_PAGE = 3  # so many addresses of one route are looked at, such as campaigns of several kinds
Values = dict[str, dict[str, list[Any]]]  # by app and part of an address


def _comment(judge: Browser) -> None:
    [first, *_] = judge.uids(judge.next())
    Comment.objects.create(
        uuid=uuid.uuid4(), member=judge.campaign.panel.get(annotator=judge.person),
        question=judge.campaign.questions.get(uid=first), text="Does a hood count?",
        guideline_version=1, made_at="2026-01-01T00:00:00Z",
    )  # fmt: skip


def _kinds(judge: User) -> list[Campaign]:
    """Campaigns of templates and of triplets."""
    catalog = make_catalog()
    triplets = TripletSet.objects.create(slug="triplets", name="Triplets", catalog=catalog)
    anchor, *images = catalog.images.order_by("pk")[:4]
    TripletQuestion.objects.bulk_create(
        TripletQuestion(triplet_set=triplets, position=at, anchor=anchor, first=one, second=other)
        for at, (one, other) in enumerate(itertools.pairwise(images))
    )
    asked: list[Any] = [built_set(catalog, n_templates=3), triplets]
    return [ask_panel(asked_set=one, name=f"Kind {one.slug}", panel=[judge]) for one in asked]


def _plan(admin: User) -> Job:
    """A plan of a campaign that a worker has made."""
    asked = {
        "queries": "20", "depths": "3", "judges": "1, 3", "shares": "100", "measure": "AP'",
        "seconds": "18", "closeness": "distant", "n_models": "3", "positives": "10",
        "misses": "8", "false_alarms": "4",
    }  # fmt: skip
    signed_in(admin).post(reverse("evaluation:plan"), asked)
    job = Job.objects.get(task=PLAN_TASK)
    make_plan(str(job.uid))
    return job


def one_of_everything(people: dict[str, User], make_campaign: Callable[..., Campaign]) -> Values:
    """Make a site with one of everything; return what stands in the addresses of its pages.

    Args:
        people: by role.
        make_campaign: opens a campaign over pictures that have files, for a panel.
    """
    admin, judge = people["admin"], people["annotator"]
    world = close_world(evaluated_world())
    release = freeze_now(request_for(world, is_public=True))
    Submission.objects.create(release=release, owner=admin, name="Mine", is_published=True)
    parent = EmbeddingSet.objects.filter(catalog=world.catalog).first()
    assert parent is not None
    space = stored_space(world.catalog, parent)
    stored_embedding(world.catalog, parent)
    TOTP.activate(people["researcher"], generate_totp_secret())
    RecoveryCodes.activate(people["researcher"])
    create_token(owner=admin, name="Laptop", scopes=[Scope.READ], days=9)
    job = enqueue(task="t", subject="s", title="Something long", arguments={}, owner=admin)
    kinds = _kinds(judge)
    asked = make_campaign(judge, n_queries=2, n_candidates=5)
    _comment(Browser(asked, judge))
    shop = asked.questions.all()[0].query.catalog
    vectors = np.random.default_rng(1).normal(size=(shop.images.count(), 2)).astype(np.float32)
    embedded = embedding_set_of(shop, vectors)
    run_here(
        task=MAP_TASK, subject=map_subject(embedded), title="Map", arguments={},
        work=lambda progress: draw_map(set_id=embedded.pk, progress=progress),
    )  # fmt: skip
    pool = pool_over(shop, [{0: {1: 0.9, 2: 0.5}}, {0: {3: 0.7}}])
    first, second, *_ = shop.images.order_by("pk")
    pairs = [(first.pk, second.pk)]
    draft = create_campaign(name="Draft", slug="draft", pairs=pairs, panel=[judge])
    campaigns: list[Campaign] = [asked, draft, world.campaign, *kinds]
    question = asked.questions.all()[0]
    planned = _plan(admin)
    of_rounds = world_of_rounds()
    in_rounds = judged(of_rounds, opened(of_rounds, replace(RULES, width=0.05)))
    looked(in_rounds)
    return {
        "annotation": {
            "slug": [one.slug for one in campaigns],
            "campaign_uid": [one.uid for one in campaigns],
            "uid": [question.uid], "question_uid": [question.uid], "number": [1],
            "comment": [Comment.objects.get().uuid], "slot": [1, 2], "size": ["thumb"],
            "verb": ["pause"], "key": ["x"],
        },
        "catalog": {
            "slug": [world.catalog.slug, shop.slug], "pk": [1], "size": ["thumb"],
            "uid": [world.images[0].uid, first.uid], "other": [second.uid],
            "set_id": [embedded.pk, parent.pk],
        },
        "pooling": {
            "slug": [world.pool.slug, pool.slug, world.catalog.slug, shop.slug],
            "pool": [pool.slug], "uid": [job.uid], "position": [0], "set_id": [embedded.pk],
            "pk": [CatalogMap.objects.get(embedding_set=embedded).pk],
        },
        "conditional": {
            "slug": ["other-colours", "triplets", *(one.slug for one in kinds)],
            "template_uid": [RetrievalTemplate.objects.all()[0].uid], "slot": ["reference"],
            "size": ["thumb"], "uid": [uuid.uuid4()], "part": ["x"],
        },
        "learning": {
            "slug": [space.slug, "own", world.catalog.slug], "head": [space.notions.all()[0].slug],
        },
        "evaluation": {
            "slug": [world.campaign.slug, world.catalog.slug, asked.slug, in_rounds.slug,
                     of_rounds.pool.slug],
            "number": [1],
            "key": [model_key(SPECS[0])], "name": ["csv"], "ending": ["csv"],
            "uid": [planned.uid],
        },
        "releases": {
            "slug": [release.slug], "version": [release.version], "path": ["MANIFEST.json"],
            "sha256": ["x"], "uid": [Submission.objects.get().uid], "ending": ["csv"],
        },
        "accounts": {"pk": [judge.pk], "uid": [uuid.uuid4()]},
        "jobs": {"uid": [job.uid]},
        "notices": {"pk": [1]},
    }  # fmt: skip


def addresses(name: str, parts: dict[str, Any], values: Values) -> Iterator[str]:
    """Every address of a route that can be made of what there is."""
    known = values.get(name.partition(":")[0], {})
    for chosen in itertools.product(*(known.get(part, []) for part in parts)):
        try:
            address = reverse(name, kwargs=dict(zip(parts, chosen, strict=True)))
        except NoReverseMatch:
            return
        yield address + QUERIES.get(name, "")


def is_page(reply: Any) -> bool:
    kind = reply.get("Content-Type", "")
    return reply.status_code == 200 and kind.startswith("text/html") and b"<html" in reply.content


def is_refused(reply: Any) -> bool:
    to_sign_in = reply.get("Location", "").startswith("/accounts/login/")
    return reply.status_code in {403, 404} or to_sign_in
