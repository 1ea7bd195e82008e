"""The pictures of a notion: drawn by a worker, kept with it, and gone with it."""

from __future__ import annotations

import io
from functools import partial
from typing import Any

import pytest
from django.core.files.storage import default_storage
from django.test import Client
from django.urls import reverse
from PIL import Image as Pillow

from accounts.models import Role, User
from catalog.images.blobs import SIZES, blob_name
from catalog.models import EmbeddingSet
from jobs.job_task import serve
from jobs.models import Job, JobState
from jobs.services import JobError, run_here
from learning.models import Notion, NotionPicture
from learning.notions.services import PICTURES_TASK, delete_notion, pictures_subject
from tests.clients import signed_in

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


def drawn(notion: Notion, **options: Any) -> dict[str, Any]:
    job = run_here(
        task=PICTURES_TASK, subject=pictures_subject(notion), title="Draw",
        arguments={"notion_id": notion.pk}, **options,
        work=partial(serve, "learning.notions.pictures.draw_notion"),
    )  # fmt: skip
    found: dict[str, Any] = job.result
    return found


def test_a_notion_is_drawn_once_shown_to_readers_and_goes_with_its_pictures(notion_of):
    notion = notion_of()
    assert drawn(notion)["pictures"] == ["map"], "a histogram looks at no place of a picture"
    kept = NotionPicture.objects.get()
    assert kept.card["n_images"] == notion.space.catalog.images.count()
    with Pillow.open(io.BytesIO(kept.content)) as sheet:
        assert (sheet.format, sheet.size) == ("JPEG", (2_040, 1_000))
        assert len(sheet.getcolors(1 << 24) or []) > 3
    drawn(notion)
    assert NotionPicture.objects.get().created_at == kept.created_at

    reader = signed_in(User.objects.create_user("rita", password="x", role=Role.RESEARCHER))
    address = reverse("learning:notion_picture", args=["paints", "colour", "map"])
    answer = reader.get(address)
    assert answer.content == kept.content
    assert answer["Content-Disposition"] == 'inline; filename="paints-colour-map.jpg"'
    assert address in reader.get(reverse("learning:notion", args=["paints", "colour"])).text
    assert reader.get(address.replace("map.jpg", "saliency.jpg")).status_code == 404
    draw = reverse("learning:draw_notion", args=["paints", "colour"])
    assert reader.post(draw).status_code == 403
    assert Client().get(address).status_code == 302
    judge = signed_in(User.objects.create_user("jo", password="x", role=Role.ANNOTATOR))
    assert judge.get(address).status_code == 403

    delete_notion(notion=notion)
    assert not NotionPicture.objects.exists()


def test_an_admin_has_it_drawn_and_a_second_click_says_that_it_is(notion_of, admin):
    notion, chief = notion_of(), signed_in(admin)
    draw = reverse("learning:draw_notion", args=["paints", "colour"])
    first = chief.post(draw, follow=True)
    assert "Waiting for a worker" in first.text
    again = chief.post(draw, follow=True)
    assert "is already queued or running" in again.text
    assert Job.objects.get(task=PICTURES_TASK).subject == pictures_subject(notion)


def test_a_drawing_without_vectors_says_so_and_one_that_is_cancelled_stores_nothing(notion_of):
    notion = notion_of()

    def cancel(job: Job) -> None:
        Job.objects.filter(pk=job.pk).update(state=JobState.CANCELLED)

    with pytest.raises(JobError):
        drawn(notion, on_change=cancel)
    image = notion.space.catalog.images.order_by("sha256").last()
    for size in SIZES:
        default_storage.delete(blob_name(image.sha256, size))
    with pytest.raises(JobError, match=f"A picture is missing or damaged: .*{image.sha256}"):
        drawn(notion)
    EmbeddingSet.objects.all().delete()
    with pytest.raises(JobError, match="have no vectors by descriptor:colour-histogram any more"):
        drawn(notion)
    assert not NotionPicture.objects.exists()
