"""A judged site and judges at work, for benchmarks.backup; imported where Django is set up."""

from __future__ import annotations

import hashlib
import threading
import uuid
from itertools import islice, permutations

from django.db import connection, connections
from django.utils import timezone

from accounts.models import Role, User
from annotation.answering.submissions import Submission
from annotation.bulk import refresh_statistics
from annotation.models import Campaign, Judgement, JudgementEvent, Question
from annotation.queries.judges import find_judge
from annotation.queries.next_questions import next_questions
from annotation.services import create_campaign, open_campaign, record_answers
from benchmarks.made_votes import judge_all
from catalog.images.blobs import store_blobs
from catalog.models import Catalog, Image
from lookalike.images.decode import read_picture
from tests.pictures import jpeg

__all__ = ["build", "connections", "judge"]
N_JUDGES, N_AT_WORK = 3, 4


def build(n_judgements: int, n_pictures: int):
    """Make the judged campaign and one that is being judged; return the latter."""

    catalog = Catalog.objects.create(slug="backup", name="Backup")
    images = []
    for seed in range(n_pictures):
        content = jpeg(seed=seed)
        picture = read_picture(content, f"{seed}.jpg")
        sha256 = hashlib.sha256(content).hexdigest()
        store_blobs(sha256, content, picture)
        images.append(
            Image(catalog=catalog, sha256=sha256, width=picture.width, height=picture.height,
                  image_format="JPEG", n_bytes=len(content),
                  perceptual_hash=picture.perceptual_hash)
        )  # fmt: skip
    ids = [image.pk for image in Image.objects.bulk_create(images)]
    pairs = list(islice(permutations(ids, 2), n_judgements // N_JUDGES + 1))
    judged = Campaign.objects.create(slug="judged", name="Judged", state="open")
    Question.objects.bulk_create(
        [
            Question(campaign=judged, query_id=query, candidate_id=candidate, position=0)
            for query, candidate in pairs
        ],
        batch_size=5000,
    )
    people = [
        User.objects.create_user(f"judge-{n}", role=Role.ANNOTATOR)
        for n in range(N_JUDGES + N_AT_WORK)
    ]
    for number, person in enumerate(people[:N_JUDGES], 1):
        judged.panel.create(annotator=person, number=number)
    judge_all(judged.pk, percent_similar=60)
    at_work = people[N_JUDGES:]
    live = create_campaign(name="Live", slug="live", pairs=pairs[:5000], panel=at_work)
    open_campaign(campaign=live)
    refresh_statistics(Question, Judgement, JudgementEvent, Image)
    return live, at_work


def judge(campaign, person, acknowledged: list[str], stop: threading.Event) -> None:
    """Answer one question after another until told to stop."""

    while not stop.is_set():
        [question] = next_questions(find_judge(campaign.uid, person.pk), after=0, n=1)
        now = timezone.now()
        answer = Submission(
            uuid=uuid.uuid4(), question=question.uid, answer="similar", reason="", mode="pair",
            device="keyboard", guideline_version=1, shown_at=now, decided_at=now, visible_ms=900,
            load_ms=0, undoes=None,
        )  # fmt: skip
        record_answers(
            campaign_uid=campaign.uid,
            annotator_id=person.pk,
            submissions=[(answer.uuid, answer)],
        )
        acknowledged.append(str(answer.uuid))
    connection.close()
