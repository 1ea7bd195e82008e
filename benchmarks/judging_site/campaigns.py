"""Make the campaigns of benchmarks/judging.py, fill them up, and check them afterwards."""

from __future__ import annotations

import uuid
from typing import Any

from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore
from django.core.management import call_command
from django.db import connection

from accounts.models import Role, User
from annotation.models import Campaign, EntryState, Judgement, Serving
from annotation.services import create_campaign, import_judgements, open_campaign, reconcile
from benchmarks.judging_site.views import TABLE
from catalog.models import Catalog, Image

N_QUERIES, N_CANDIDATES, K, N_JUDGES = 2000, 5000, 3, 32
LEFT_AT_THE_END = 4000  # pairs


def prepare(n_pairs: int, n_judges: int = N_JUDGES) -> dict[str, Any]:
    """Make images, judges and campaigns; return what the clients need to know."""
    call_command("migrate", verbosity=0)
    with connection.cursor() as cursor:
        cursor.execute(TABLE)
    pairs = make_pairs(n_pairs)
    people = [User.objects.create_user(f"judge-{i}", role=Role.ANNOTATOR) for i in range(n_judges)]
    uids = {}
    for serving in (Serving.EVERYONE, Serving.K_OF_N):
        campaign = create_campaign(
            name=serving, slug=serving.replace("_", "-"), pairs=pairs, panel=people,
            serving=serving, k=K,
        )  # fmt: skip
        open_campaign(campaign=campaign)
        uids[campaign.slug] = str(campaign.uid)
    tidy()
    return {"campaigns": uids, "sessions": [session_of(person) for person in people]}


def make_pairs(n_pairs: int) -> list[tuple[int, int]]:
    """Return pairs of images that are made for them."""
    catalog = Catalog.objects.create(slug="bench", name="bench")
    images = Image.objects.bulk_create(
        [
            Image(catalog=catalog, sha256=uuid.uuid4().hex * 2, width=800, height=1000,
                  image_format="JPEG", n_bytes=1, perceptual_hash="0" * 16)
            for _ in range(N_QUERIES + N_CANDIDATES)
        ],
        batch_size=2000,
    )  # fmt: skip
    ids = [image.pk for image in images]
    per_query = -(-n_pairs // N_QUERIES)
    return [
        (ids[q], ids[N_QUERIES + (q * 7 + c) % N_CANDIDATES])
        for q in range(N_QUERIES)
        for c in range(per_query)
    ][:n_pairs]


def session_of(person: User) -> str:
    """Sign somebody in; return the session's key."""
    session = SessionStore()
    session[SESSION_KEY] = str(person.pk)
    session[BACKEND_SESSION_KEY] = "django.contrib.auth.backends.ModelBackend"
    session[HASH_SESSION_KEY] = person.get_session_auth_hash()
    session.create()
    return str(session.session_key)


def fill_up() -> None:
    """Give three answers to all but the last pairs of both campaigns, through the import."""
    for campaign in Campaign.objects.all():
        if campaign.serving == Serving.EVERYONE:
            _fill_queues(campaign)
        else:
            _fill_questions(campaign)
    tidy()


def tidy() -> None:
    """Do at once what autovacuum and the checkpointer would do while the answers are timed."""
    with connection.cursor() as cursor:
        cursor.execute("vacuum analyze")
        cursor.execute("checkpoint")  # or it would write what 25 seconds have made, all the while


def _fill_queues(campaign: Campaign) -> None:
    for member in campaign.panel.order_by("number")[:K]:
        entries = member.queue.filter(state=EntryState.OPEN).order_by("place")
        asked = list(entries.values_list("question__query_id", "question__candidate_id"))
        rows = [(q, c, member.annotator_id, "similar") for q, c in asked[:-LEFT_AT_THE_END]]
        import_judgements(campaign=campaign, rows=rows)


def _fill_questions(campaign: Campaign) -> None:
    people = list(campaign.panel.values_list("annotator_id", flat=True))
    given: dict[int, set[int]] = {}
    judged = Judgement.objects.filter(question__campaign=campaign)
    for question, person in judged.values_list("question_id", "member__annotator_id"):
        given.setdefault(question, set()).add(person)
    rows = []
    asked = campaign.questions.order_by("position").values_list("pk", "query_id", "candidate_id")
    for place, (pk, query, candidate) in enumerate(list(asked)[:-LEFT_AT_THE_END]):
        done = given.get(pk, set())
        fresh = [people[(place + i) % len(people)] for i in range(2 * K)]
        wanted = [person for person in fresh if person not in done][: K - len(done)]
        rows += [(query, candidate, person, "similar") for person in wanted]
    import_judgements(campaign=campaign, rows=rows)


def differences() -> dict[str, int]:
    """Return by how many counters each campaign differs from a recount."""
    return {c.slug: len(reconcile(campaign=c)) for c in Campaign.objects.all()}
