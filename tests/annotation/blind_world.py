"""A campaign with every kind of secret around it, and all that one of its judges can reach."""

from __future__ import annotations

import html
import itertools
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from django.db import connection
from django.urls import reverse
from PIL import Image as Pillow

from accounts.models import Role, User
from annotation.models import Campaign
from annotation.services import (
    add_gold,
    create_campaign,
    import_judgements,
    open_campaign,
)
from annotation.services.gold import GoldPair
from catalog.images.blobs import SIZES, blob_path, store_blobs
from catalog.models import EmbeddingSet, Image, SourceFile
from conditional.campaigns.services import ask_panel
from conditional.models import TripletQuestion, TripletSet, TripletSource
from jobs.models import Job
from lookalike.images.decode import read_picture
from pooling.models import Pool, PoolSource, Proposal
from tests.clients import Browser, answer_to
from tests.pictures import encoded, picture
from tests.worlds import rows_of

FIRST_ID = 7_777_000_000  # database ids are recognisable, wherever they would turn up
SEQUENCES = [
    "catalog_image", "annotation_question", "annotation_judgementevent",
    "pooling_proposal", "pooling_poolsource", "annotation_campaign",
    "annotation_panelmember", "conditional_tripletset", "conditional_tripletquestion",
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
SECRET_KEY_PAGE = "/accounts/2fa/totp/activate/"  # draws a new secret at each look


def make_world(
    pairs: Callable[[int, int], list[tuple[int, int]]], people: Callable[[int], list[User]]
) -> Browser:
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
    return Browser(campaign, judge)


def speaking_jpeg() -> bytes:
    """A picture whose notes say what no judge may read."""
    exif = Pillow.Exif()
    exif[0x010E] = "secret-file by secretmodel"  # description
    xmp = b"<x:xmpmeta xmlns:x='adobe:ns:meta/'>secret-product</x:xmpmeta>"
    return encoded(picture(1, (60, 40)), "JPEG", exif=exif, xmp=xmp, comment=b"secret-colour")


@contextmanager
def files_of_pictures() -> Iterator[None]:
    """Store a picture with telling notes as the file of every image."""
    content = speaking_jpeg()
    decoded = read_picture(content, "secret-file.jpg")
    hashes = list(Image.objects.values_list("sha256", flat=True))
    for sha256 in hashes:
        store_blobs(sha256, content, decoded)
    try:
        yield
    finally:
        for sha256, size in itertools.product(hashes, SIZES):
            blob_path(sha256, size).unlink()


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


def triplets_of(given: list[tuple[int, int]], panel: list[User]) -> Campaign:
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
    found = ask_panel(asked_set=suggested, name="Which is closer", panel=panel)
    answer_triplets(found, panel[1], "cant_tell")
    return found


def ask_triplets(
    pairs: Callable[[int, int], list[tuple[int, int]]], people: Callable[[int], list[User]]
) -> tuple[Campaign, User]:
    """A campaign of triplets, one of whose judges has answered; return it and the other."""
    judge, other = people(2)
    return triplets_of(pairs(4, 12), [judge, other]), judge


def answer_triplets(found: Campaign, judge: User, what: str) -> None:
    """Answer all triplets that are left to a judge with the same; "pick" picks the left one."""
    browser = Browser(found, judge)
    for question in browser.next(100):
        said = f"pick:{question['images'][0]}" if what == "pick" else what
        status, _ = browser.send(answer_to(question["uid"], said, mode="choice"))
        assert status == 200


def addresses_in(text: str) -> set[str]:
    """Every address of this site that a page or JSON names, in whatever attribute."""
    found = re.findall(r"""["'](/[^"'\s<>]*)["']""", html.unescape(text))
    return {address.split("#")[0] for address in found if not address.startswith("//")}


def pictures_to_pick_from(judge: Browser) -> set[str]:
    """The addresses that the page makes of the keys of triplets' pictures."""
    uid = Campaign.objects.get(task_kind="triplet").uid
    page, questions = (reverse(f"annotation:{name}", args=[uid]) for name in ("judge", "next"))
    return {
        f"{page}choices/{question['uid']}/{key}/{size}"
        for question in judge.client.get(questions).json()["questions"]
        for key in (question["reference"], *question["images"])
        for size in ("view", "thumb")
    } | {questions}


def crawl(judge: Browser) -> dict[str, bytes]:
    """Follow every address from the front door on; return status, headers and body of each."""
    seen: dict[str, bytes] = {}
    waiting = {"/", reverse("annotation:home"), judge.url("judge")}
    waiting |= {judge.url(name) for name in ("next", "recent", "guidelines")}
    waiting |= pictures_to_pick_from(judge)
    waiting |= {f"{judge.url('next')}?after={n}&n=20" for n in (0, 3)}
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
    content = re.sub(rb'("challenge": ")[\w-]+', rb"\1", content)  # of a passkey, drawn anew
    content = re.sub(rb"(?s)(<time[^>]*>).*?</time>", rb"\1", content)  # "2 seconds ago"
    return re.sub(rb"(?m)^(Date|Content-Length|Expires|X-Request-ID): .*$", b"", content)
