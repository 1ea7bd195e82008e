"""Everything that a judge can reach, byte by byte: no model, rank, score or others' answers."""

from __future__ import annotations

import base64
import itertools
import json
import re
import uuid
from typing import Any

import numpy as np
import pytest
from django.db.models import F
from django.test import Client
from django.urls import get_resolver, reverse
from django.urls.exceptions import NoReverseMatch

from accounts.models import User
from annotation.models import Campaign, QuestionKind, QueueEntry
from annotation.services import (
    add_questions,
    create_campaign,
    open_campaign,
)
from catalog.models import EmbeddingSet, Image, SourceFile
from conditional.models import TripletQuestion, TripletSet
from jobs.models import Job
from pooling.models import Pool, PoolSource, Proposal
from tests.annotation.blind_world import (
    KEYS_OF_OTHERS,
    WORDS_OF_OTHERS,
    answer_triplets,
    crawl,
    differences,
    files_of_pictures,
    make_world,
    speaking_jpeg,
)
from tests.clients import Browser, answer_to, uid_of
from tests.routes import routes

pytestmark = pytest.mark.django_db

OPEN_TO_JUDGES = {
    "home", "annotation:home", "annotation:judge", "annotation:next", "annotation:recent",
    "annotation:guidelines", "annotation:image", "annotation:choice_image", "annotation:inbox",
    "annotation:replies", "accounts:profile", "accounts:sessions", "api:openapi-json",
    "releases:home",  # the list of public releases, none of a campaign that is still judged
}  # fmt: skip


@pytest.fixture
def world(pairs, people):
    made = make_world(pairs, people)
    with files_of_pictures():
        yield made


def keys_of(value: Any) -> set[str]:
    if isinstance(value, dict):
        return set(value).union(*map(keys_of, value.values()))
    if isinstance(value, list):
        return set().union(*map(keys_of, value))
    return set()


def pictures_of(found: dict[str, bytes]) -> list[str]:
    """The addresses of pictures among what was found, each with its content."""
    return [
        address for address in found if re.search("/(images|choices)/.+/(thumb|view)$", address)
    ]


def test_no_byte_that_a_judge_can_reach_names_what_must_stay_hidden(world):
    world.judge("similar", 10)
    found = crawl(world)
    pictures = [found[address] for address in pictures_of(found)]
    assert len(pictures) > 20
    assert all(content.startswith(b"200") for content in pictures)
    assert {world.url("judge"), world.url("next"), reverse("annotation:home")} < set(found)
    uid = Campaign.objects.get(task_kind="triplet").uid
    assert sum(f"{uid}/choices/" in address for address in pictures_of(found)) == 4 * 3 * 2
    for address, content in found.items():
        for word in WORDS_OF_OTHERS:
            assert word not in address
            assert word.encode() not in content, (word, address)


def prefixes_of(value: bytes) -> dict[str, bytes]:
    """Six hexadecimal digits of a hash, and what says as much of it in other forms."""
    text = value.hex().encode()
    return {
        "hex": text[:6],
        "HEX": text[:6].upper(),
        "bytes": value[:4],
        "base64": base64.b64encode(value)[:5],
        "base64url": base64.urlsafe_b64encode(value)[:5],
        "base32": base64.b32encode(value)[:6],
        "base64 of hex": base64.b64encode(text)[:8],
        "decimal": str(int.from_bytes(value[:8])).encode()[:8],
    }


def told(found: dict[str, bytes]) -> set[tuple[str, int, str]]:
    """In which replies how much of which image's hashes can be read: (address, image, form)."""
    everything = b"\n".join((*found.values(), *(address.encode() for address in found)))
    hits = set()
    for image in Image.objects.all():
        hashes = {
            "sha256": bytes.fromhex(image.sha256),
            "uid": image.uid.bytes,
            "pHash": bytes.fromhex(image.perceptual_hash),
        }
        for name, value in hashes.items():
            for form, prefix in prefixes_of(value).items():
                if prefix in everything:
                    hits |= {
                        (address, image.pk, f"{name} {form}")
                        for address, content in found.items()
                        if prefix in content or prefix in address.encode()
                    }
    return hits


def rename_files() -> None:
    """Give every image the hashes and the uid of another file; pixels stay as they are."""
    for image in Image.objects.all():
        image.sha256, image.uid = uuid.uuid4().hex * 2, uuid.uuid4()
        image.perceptual_hash = uuid.uuid4().hex[:16]
        image.save()


def test_nothing_a_judge_receives_follows_from_the_file_alone(pairs, people):
    """Two worlds that differ in the hashes alone look the same, byte by byte.

    Where random bytes look like a hash it is by chance, and not at the same place in both.
    """
    world = make_world(pairs, people)
    world.judge("similar", 5)
    seen = []
    for _ in range(2):
        rename_files()
        with files_of_pictures():
            found = crawl(world)
        seen.append((found, told(found)))
    assert len([address for address in found if "/images/" in address]) > 40
    assert seen[0][1] & seen[1][1] == set()
    assert differences(seen[0][0], seen[1][0]) == []


def test_a_picture_has_another_address_and_tag_in_each_campaign(world):
    [judge] = [world.person]
    asked = world.campaign.questions.filter(kind="pair").values_list("query_id", "candidate_id")
    other = create_campaign(name="Again", slug="again", pairs=list(asked), panel=[judge], seed=5)
    browsers = [world, Browser(open_campaign(campaign=other), judge)]
    marks = []
    for browser in browsers:
        shown = {
            picture["url"] for q in browser.next(20) for picture in (q["query"], q["candidate"])
        }
        tags = {browser.client.get(url)["ETag"] for url in shown}
        assert len(tags) == len(shown)
        marks.append((tags, {url.split("/images/")[1] for url in shown}))
    assert marks[0][0].isdisjoint(marks[1][0])
    assert marks[0][1].isdisjoint(marks[1][1])


def test_judges_who_compare_what_they_are_sent_have_no_name_in_common(world):
    """Nor may one use another's: a pair that comes again has two names, whoever is asked."""
    colleague = Browser(world.campaign, User.objects.get(username="other-judge-1"))
    triplets = Campaign.objects.get(task_kind="triplet")
    seen = []
    for judge in (world, colleague):
        texts = [judge.client.get(judge.url(name)).content for name in ("recent", "next")]
        picks = Browser(triplets, judge.person).next() if judge is world else []
        seen.append((names_in(texts), {key for one in picks for key in one["images"]}))
    assert len(seen[0][0]) >= 20
    assert len(seen[1][0]) >= 20
    assert seen[0][0].isdisjoint(seen[1][0])
    [own, *_], theirs = world.next(), colleague.get("recent")["answers"][0]["question"]["uid"]
    status, reply = world.send(answer_to(theirs))
    assert (status, reply["results"][0]["code"]) == (422, "not_served")
    assert world.send(answer_to(own["uid"]))[0] == 200


def names_in(texts: list[bytes]) -> set[bytes]:
    """What JSON calls questions."""
    return {name for text in texts for name in re.findall(rb'"uid": "([^"]+)"', text)}


def test_a_browser_keeps_a_picture_and_is_told_that_it_has_not_changed(world):
    [question] = world.next(1)
    url = question["query"]["url"]
    assert url == world.next(1)[0]["query"]["url"]
    first = world.client.get(url)
    again = world.client.get(url, headers={"If-None-Match": first["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert again["ETag"] == first["ETag"]


def test_the_bytes_of_a_picture_hold_pixels_and_nothing_else(world):
    """The original has a description, a comment and XMP; what judges get has none of it."""
    assert b"secret-file" in speaking_jpeg()
    for address, reply in crawl(world).items():
        if "/images/" in address:
            content = reply[reply.index(b"RIFF") :]
            assert chunks_of(content) <= {b"VP8 ", b"VP8L"}, address


def chunks_of(webp: bytes) -> set[bytes]:
    """The names of a WebP file's chunks."""
    names, at = set(), 12
    while at < len(webp):
        names.add(webp[at : at + 4])
        size = int.from_bytes(webp[at + 4 : at + 8], "little")
        at += 8 + size + size % 2
    return names


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
    answer_triplets(Campaign.objects.get(task_kind="triplet"), other.person, "pick")
    assert differences(before, crawl(world)) == []


def test_another_judges_answers_change_nothing_when_they_withdraw_them_all(world):
    before = crawl(world)
    other = Browser(world.campaign, User.objects.get(username="other-judge-1"))
    for answer in other.get("recent", n=200)["answers"]:
        other.send(
            answer_to(answer["question"]["uid"], "withdrawn", at=10**9, undoes=answer["uuid"])
        )
    assert differences(before, crawl(world)) == []


def shape_of(question: dict[str, Any]) -> str:
    """What a question looks like with its place, its name and the keys of its pictures left out."""
    plain = re.sub(r"[\w-]{43}(?=\")|[\w-]{32}(?=/)", "name", json.dumps(question))
    return re.sub(r'"position": \d+', "", plain)


def test_controls_cannot_be_told_from_pairs(world):
    questions = world.walk()
    kinds = dict(world.campaign.questions.values_list("uid", "kind"))
    shapes: dict[str, set[str]] = {}
    for question in questions:
        kind = kinds[uuid.UUID(uid_of(world.campaign, question["uid"]))]
        shape = shape_of(question)
        shapes.setdefault(kind, set()).add(shape)
    assert set(shapes) == {QuestionKind.PAIR, QuestionKind.GOLD, QuestionKind.REPEAT}
    assert len(set().union(*shapes.values())) == 1


def test_pairs_of_a_top_up_cannot_be_told_from_the_others(world, pairs):
    world.judge("similar", 10)
    known = set(world.campaign.questions.values_list("uid", flat=True))
    query = world.campaign.questions.order_by("pk").last().query_id
    fresh = [(query, candidate) for _, candidate in pairs(1, 6)]
    add_questions(campaign=world.campaign, pairs=[*fresh, *pairs(2, 4)])
    questions = world.walk()
    is_new = [uuid.UUID(uid) not in known for uid in world.uids(questions)]
    assert sum(is_new) == 14
    assert not all(is_new[-14:])
    assert len(set(map(shape_of, questions))) == 1
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
        entries = QueueEntry.objects.filter(member__annotator=person).order_by("place")
        uids = [str(uid) for uid in entries.values_list("question__uid", flat=True)]
        ranks = [rank_of[pair_of[uid]] for uid in uids]
        place_in_block = np.tile(np.arange(25), 60)
        place_by_uid = np.argsort(np.argsort(uids))
        for order in (place_in_block, np.arange(1500), place_by_uid):
            assert abs(np.corrcoef(ranks, order)[0, 1]) < 6 / len(ranks) ** 0.5


# ---- every address of the site ----
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
    for name, converters in routes(get_resolver()):
        if (
            name.startswith(
                (
                    "account_",
                    "mfa_",
                    "admin:",
                    "allauth",
                    "openid_",
                    "usersessions_",
                    "socialaccount_",
                )
            )
            or name in OPEN_TO_JUDGES
        ):
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
