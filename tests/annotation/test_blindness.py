"""Everything that a judge can reach, byte by byte: no model, rank, score or others' answers."""

from __future__ import annotations

import html
import itertools
import json
import re
import uuid
from typing import Any

import numpy as np
import pytest
from django.db import connection
from django.db.models import F
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse
from django.urls.exceptions import NoReverseMatch

from accounts.models import Role, User
from annotation.models import Campaign, QuestionKind
from annotation.services import (
    add_gold,
    add_questions,
    create_campaign,
    import_judgements,
    open_campaign,
)
from annotation.services.gold import GoldPair
from catalog.images.blobs import blob_path
from catalog.models import EmbeddingSet, Image, SourceFile
from conditional.models import TripletQuestion, TripletSet, TripletSource, Verification
from conditional.verification.answers import read_answers
from conditional.verification.queries import find_verifier, next_questions
from conditional.verification.services import open_verification, record_verdicts
from jobs.models import Job
from pooling.models import Pool, PoolSource, Proposal
from tests.clients import Browser, answer_to
from tests.worlds import rows_of

pytestmark = pytest.mark.django_db

FIRST_ID = 7_777_000_000  # database ids are recognisable, wherever they would turn up
SEQUENCES = [
    "catalog_image", "annotation_question", "annotation_judgementevent", "annotation_judgement",
    "annotation_queueentry", "pooling_proposal", "pooling_poolsource", "annotation_campaign",
    "annotation_panelmember", "conditional_tripletset", "conditional_tripletquestion",
    "conditional_verification", "conditional_verifier", "conditional_verifieranswer",
]  # fmt: skip
WORDS_OF_OTHERS = [
    "secretmodel", "secret-pool", "secret-product", "secret-file", "secret-colour", "other-judge",
    "0.987654", "77770",
]  # fmt: skip
KEYS_OF_OTHERS = {
    "rank", "score", "model", "models", "proposal", "proposals", "pool", "source", "product",
    "product_id", "attributes", "path", "file", "gold", "repeat", "mirror", "original",
    "is_surplus", "surplus", "n_similar", "n_different", "votes", "label", "annotator", "member",
    "id", "pk", "sha256", "answers_of_others",
}  # fmt: skip
OPEN_TO_JUDGES = {
    "home", "annotation:home", "annotation:judge", "annotation:next", "annotation:recent",
    "annotation:guidelines", "annotation:image", "accounts:profile", "api:openapi-json",
    "releases:home",  # the list of public releases, none of a campaign that is still judged
}  # fmt: skip


@pytest.fixture
def world(pairs, people):
    """A pool in rank order, proposed by a model, judged by three, with every kind of control."""
    with connection.cursor() as cursor:
        for table in SEQUENCES:
            cursor.execute("select setval(pg_get_serial_sequence(%s, 'id'), %s)", [table, FIRST_ID])
    given = pairs(4, 12)
    [judge] = people(1)
    others = [User.objects.create_user(f"other-judge-{i}", role=Role.ANNOTATOR) for i in (1, 2)]
    campaign = create_campaign(
        name="Coats",
        slug="coats",
        pairs=given,
        panel=[judge, *others],
        guidelines="# Rules",
        seed=5,
    )
    campaign.repeat_percent = campaign.mirror_percent = 10
    campaign.save()
    for purpose in ("gold", "example"):
        gold = [GoldPair(q, c, "similar", "Same cut") for q, c in pairs(1, 3)]
        add_gold(campaign=campaign, purpose=purpose, pairs=gold)
    campaign = open_campaign(campaign=campaign)
    images = Image.objects.filter(pk__in=itertools.chain(*given))
    for number, image in enumerate(images):
        SourceFile.objects.create(
            catalog=image.catalog, image=image, path=f"secret-file-{number}.jpg"
        )
    images.update(attributes={"colour": "secret-colour"})
    pool_of(given, campaign)
    triplets_of(given, [judge, *others])
    import_judgements(campaign=campaign, rows=rows_of(campaign, ".sd " * 48))
    files = [blob_path(i.sha256, size) for i in Image.objects.all() for size in ("view", "thumb")]
    for file in files:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(b"RIFF\x00\x00\x00\x00WEBP")
    yield Browser(campaign, judge)
    for file in files:
        file.unlink()


def pool_of(given: list[tuple[int, int]], campaign: Campaign) -> Pool:
    catalog = Image.objects.get(pk=given[0][0]).catalog
    pool = Pool.objects.create(
        slug="secret-pool", name="secret-pool", catalog=catalog, k=12, query_rule={}
    )
    embedding_set = EmbeddingSet.objects.create(
        catalog=catalog, spec="timm:secretmodel", fingerprint="f", dim=2
    )
    job = Job.objects.create(task="t", subject="s", title="secretmodel")
    source = PoolSource.objects.create(
        pool=pool, position=0, spec="timm:secretmodel", k=12, embedding_set=embedding_set, job=job
    )
    Proposal.objects.bulk_create(
        Proposal(
            pool=pool, source=source, query_id=query, candidate_id=candidate, rank=place % 12,
            score=0.987654321 - place / 1000,
        )
        for place, (query, candidate) in enumerate(given)
    )  # fmt: skip
    return pool


def triplets_of(given: list[tuple[int, int]], panel: list[User]) -> Verification:
    """Triplets that secret models disagree about, put to the same panel; one other has answered."""
    catalog = Image.objects.get(pk=given[0][0]).catalog
    suggested = TripletSet.objects.create(
        slug="secret-triplets", name="secret-pool", catalog=catalog,
        source=TripletSource.SUGGESTED, recipe={"pool": "secret-pool"},
        figures={"n_questions": 4},
    )  # fmt: skip
    for position, (one, other) in enumerate(itertools.islice(itertools.pairwise(given), 4)):
        TripletQuestion.objects.create(
            triplet_set=suggested, position=position, condition="colour", anchor_id=one[0],
            first_id=min(one[1], other[1]), second_id=max(one[1], other[1]),
            facts={"disagreement": 0.987654, "margins": {"timm:secretmodel": 0.987654}},
        )  # fmt: skip
    found = open_verification(asked_set=suggested, name="Which is closer", panel=panel)
    answer_triplets(found, panel[1], "cant_tell")
    return found


def answer_triplets(found: Verification, judge: User, choice: str) -> None:
    """Answer all triplets that are left to a judge with the same."""
    verifier = find_verifier(found.uid, judge.pk)
    time = "2026-03-01T10:00:00Z"
    answers = [
        {"uuid": str(uuid.uuid4()), "question": str(question.uid), "choice": choice,
         "device": "mouse", "shown_at": time, "decided_at": time}
        | ({"place": 0} if choice == "pick" else {})
        for question in next_questions(verifier, 100)
    ]  # fmt: skip
    record_verdicts(
        verification_uid=found.uid,
        annotator_id=judge.pk,
        batch=read_answers({"answers": answers}),
    )


def addresses_in(text: str) -> set[str]:
    """Every address of this site that a page or JSON names, in whatever attribute."""
    found = re.findall(r"""["'](/[^"'\s<>]*)["']""", html.unescape(text))
    return {address.split("#")[0] for address in found if not address.startswith("//")}


def crawl(judge: Browser) -> dict[str, bytes]:
    """Follow every address from the front door on; return status, headers and body of each."""
    seen: dict[str, bytes] = {}
    waiting = {"/", reverse("annotation:home"), judge.url("judge")}
    waiting |= {judge.url(name) for name in ("next", "recent", "guidelines")}
    waiting |= {f"{judge.url('next')}?after={n}&n=200" for n in (0, 3)}
    while waiting:
        address = waiting.pop()
        if address in seen or address.startswith("/static/"):
            continue
        reply = judge.client.get(address)
        body = b"".join(reply.streaming_content) if reply.streaming else reply.content  # type: ignore[attr-defined]
        headers = "\n".join(f"{name}: {value}" for name, value in sorted(reply.items()))
        if "Location" in reply:
            waiting.add(reply["Location"])
        seen[address] = f"{reply.status_code}\n{headers}\n\n".encode() + body
        if "text" in reply["Content-Type"] or "json" in reply["Content-Type"]:
            waiting |= addresses_in(body.decode())
    return {address: settled(content) for address, content in seen.items()}


SECRET_KEY_PAGE = "/accounts/2fa/totp/activate/"  # draws a new secret at each look


def differences(before: dict[str, bytes], after: dict[str, bytes]) -> list[object]:
    """Addresses that have come, gone or changed, with the first byte that differs."""
    found: list[object] = [*set(before) ^ set(after)]
    for address in set(before) & set(after) - {SECRET_KEY_PAGE}:
        one, other = before[address], after[address]
        if one != other:
            at = next(i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
            found.append((address, one[at - 40 : at + 60], other[at - 40 : at + 60]))
    return found


def settled(content: bytes) -> bytes:
    """Leave out what is random in each reply."""
    content = re.sub(rb'("X-CSRFToken": "|csrfmiddlewaretoken" value=")\w+', rb"\1", content)
    return re.sub(rb"(?m)^(Date|Content-Length|Expires|X-Request-ID): .*$", b"", content)


def keys_of(value: Any) -> set[str]:
    if isinstance(value, dict):
        return set(value).union(*map(keys_of, value.values()))
    if isinstance(value, list):
        return set().union(*map(keys_of, value))
    return set()


def pictures_of(found: dict[str, bytes]) -> list[str]:
    """The addresses of pictures among what was found, each with its content."""
    return [address for address in found if "/images/" in address]


def test_no_byte_that_a_judge_can_reach_names_what_must_stay_hidden(world):
    world.judge("similar", 10)
    found = crawl(world)
    pictures = [content for address, content in found.items() if "/images/" in address]
    assert len(pictures) > 20
    assert all(content.startswith(b"200") for content in pictures)
    assert {world.url("judge"), world.url("next"), reverse("annotation:home")} < set(found)
    uid = Verification.objects.get().uid
    for name in ("judge", "next"):
        assert reverse(f"conditional:{name}", args=[uid]) in found
    assert sum(f"{uid}/images/" in address for address in pictures_of(found)) == 4 * 3 * 2
    for address, content in found.items():
        for word in WORDS_OF_OTHERS:
            assert word not in address
            assert word.encode() not in content, (word, address)


def test_no_json_has_a_key_for_what_must_stay_hidden(world):
    [question] = world.next(1)
    _, reply = world.send(answer_to(question["uid"]), next={"after": 0, "n": 50})
    for name in ("next", "recent", "guidelines"):
        assert not keys_of(world.get(name)) & KEYS_OF_OTHERS
    assert not keys_of(reply) & KEYS_OF_OTHERS


def test_what_a_judge_sees_does_not_depend_on_what_is_hidden(world):
    """Change every hidden fact: models, ranks, scores, names of things, others' answers."""
    world.judge("similar", 10)
    before = crawl(world)
    Proposal.objects.update(rank=F("rank") + 100, score=-0.5)
    PoolSource.objects.update(spec="open_clip:other")
    EmbeddingSet.objects.update(spec="open_clip:other")
    Pool.objects.update(name="Another", slug="another", k=3)
    Image.objects.update(product_id="x", attributes={"a": "b"})
    SourceFile.objects.all().delete()
    User.objects.filter(username="other-judge-1").update(username="zed", is_active=False)
    other = Browser(world.campaign, User.objects.get(username="other-judge-2"))
    for question in other.next(20):  # silent gold, repeats and mirrored pairs
        other.send(answer_to(question["uid"], "cant_tell", at=5))
    for answer in other.get("recent", n=200)["answers"]:
        other.send(answer_to(answer["question"]["uid"], "similar", at=10**9))
    TripletSet.objects.update(name="Another", slug="another", recipe={}, seed=7)
    TripletQuestion.objects.update(facts={"margins": {"timm:other": -1.0}})
    answer_triplets(Verification.objects.get(), other.person, "pick")
    assert differences(before, crawl(world)) == []


def test_another_judges_answers_change_nothing_when_they_withdraw_them_all(world):
    before = crawl(world)
    other = Browser(world.campaign, User.objects.get(username="other-judge-1"))
    for answer in other.get("recent", n=200)["answers"]:
        other.send(
            answer_to(answer["question"]["uid"], "withdrawn", at=10**9, undoes=answer["uuid"])
        )
    assert differences(before, crawl(world)) == []


def test_controls_cannot_be_told_from_pairs(world):
    questions = world.next(200)
    kinds = dict(world.campaign.questions.values_list("uid", "kind"))
    shapes: dict[str, set[str]] = {}
    for question in questions:
        kind = kinds[uuid.UUID(question["uid"])]
        shape = re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}", "uid", json.dumps(question))
        shapes.setdefault(kind, set()).add(re.sub(r'"position": \d+', "", shape))
    assert set(shapes) == {
        QuestionKind.PAIR, QuestionKind.GOLD, QuestionKind.REPEAT, QuestionKind.MIRROR
    }  # fmt: skip
    assert len(set().union(*shapes.values())) == 1


def test_pairs_of_a_top_up_cannot_be_told_from_the_others(world, pairs):
    world.judge("similar", 10)
    known = set(world.campaign.questions.values_list("uid", flat=True))
    query = world.campaign.questions.order_by("pk").last().query_id
    fresh = [(query, candidate) for _, candidate in pairs(1, 6)]
    add_questions(campaign=world.campaign, pairs=[*fresh, *pairs(2, 4)])
    questions = world.next(200)
    is_new = [uuid.UUID(question["uid"]) not in known for question in questions]
    assert sum(is_new) == 14
    assert not all(is_new[-14:])
    shapes = [
        re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}", "uid", json.dumps(question)) for question in questions
    ]
    assert len({re.sub(r'"position": \d+', "", shape) for shape in shapes}) == 1
    places = [question["position"] for question in questions]
    assert places == list(range(places[0], places[0] + len(places)))


def test_ids_and_order_do_not_follow_the_rank(pairs, people):
    given = pairs(60, 25)
    panel = people(3)
    campaign = create_campaign(name="x", slug="x", pairs=given, panel=panel, seed=11)
    open_campaign(campaign=campaign)
    rank_of = {pair: place % 25 for place, pair in enumerate(given)}
    pair_of = {str(q.uid): (q.query_id, q.candidate_id) for q in campaign.questions.all()}
    for person in panel:
        browser = Browser(campaign, person)
        uids: list[str] = []
        position = 0
        while served := browser.next(200, after=position):
            uids += [question["uid"] for question in served]
            position = served[-1]["position"]
        ranks = [rank_of[pair_of[uid]] for uid in uids]
        place_in_block = np.tile(np.arange(25), 60)
        place_by_uid = np.argsort(np.argsort(uids))
        for order in (place_in_block, np.arange(1500), place_by_uid):
            assert abs(np.corrcoef(ranks, order)[0, 1]) < 6 / len(ranks) ** 0.5


# ---- every address of the site ----
def patterns(resolver: URLResolver, namespace: str = "") -> list[tuple[str, dict[str, Any]]]:
    """Every named address, with the converters of its parts."""
    found: list[tuple[str, dict[str, Any]]] = []
    for entry in resolver.url_patterns:
        if isinstance(entry, URLResolver):
            inner = ":".join(filter(None, (namespace, entry.namespace or "")))
            found += patterns(entry, inner)
        elif isinstance(entry, URLPattern) and entry.name:
            name = f"{namespace}:{entry.name}" if namespace else entry.name
            found.append((name, dict(entry.pattern.converters)))
    return found


def values_for(world: Browser, converter: str) -> list[object]:
    """Real things to put into an address, so that a page that leaks would be found."""
    catalog = Image.objects.all()[0].catalog
    question = world.campaign.questions.all()[0]
    uids: list[object] = [
        world.campaign.uid, question.query.uid, question.uid, Job.objects.all()[0].uid,
    ]  # fmt: skip
    values: dict[str, list[object]] = {
        "SlugConverter": [world.campaign.slug, "secret-pool", catalog.slug],
        "UUIDConverter": uids,
        "UUIDStrConverter": uids,  # of the API
        "IntConverter": [1, EmbeddingSet.objects.all()[0].pk, world.person.pk + 1],
        "StringConverter": ["view", "thumb", "original", "open", "csv", "timm:secretmodel"],
        "PathConverter": ["x"],
    }  # fmt: skip
    return values[converter]


def test_no_other_page_of_the_site_opens_for_a_judge(world):
    asked = set()
    for name, converters in patterns(get_resolver()):
        if name.startswith(("account_", "mfa_", "admin:", "allauth")) or name in OPEN_TO_JUDGES:
            continue
        choices = [values_for(world, type(c).__name__) for c in converters.values()]
        for values in itertools.product(*choices):
            try:
                address = reverse(name, kwargs=dict(zip(converters, values, strict=True)))
            except NoReverseMatch:
                continue
            reply = world.client.get(address)
            asked.add(name)
            is_shut = reply.status_code in {403, 404, 405}
            is_elsewhere = reply.status_code == 302 and reply["Location"].startswith("/accounts/")
            assert is_shut or is_elsewhere, (name, address, reply.status_code)
    assert {"catalog:picture", "annotation:campaign", "pooling:pool", "jobs:job"} <= asked


def test_the_back_office_is_shut_for_a_judge(world):
    reply = world.client.get("/admin/annotation/")
    assert reply.status_code in {302, 404}
    assert Client().get(world.url("next")).status_code == 302
