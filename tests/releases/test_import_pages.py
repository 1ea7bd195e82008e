"""Importing in the browser: queued, done by a worker, its campaigns linked, its errors listed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from accounts.models import Role, User
from annotation.models import Campaign, Judgement
from annotation.services import create_campaign
from catalog.models import SourceFile
from evaluation.runs.upload_files import kept_path
from jobs.models import Job, JobState
from jobs.services import retry_job
from lookalike.release.errors import ReleaseError
from releases.models import Release
from releases.site.queries import IMPORT_TASK
from releases.storage import archive_path, files_folder
from releases.tasks import import_back
from tests.worlds import World, request_for

PAGE = "/releases/import/"


@pytest.fixture
def admin(transactional_db: None) -> Client:
    client = Client()
    client.force_login(User.objects.create_user("chief", role=Role.ADMIN))
    return client


def post(client: Client, world: World, path: Path, **given: str) -> str:
    """Send the form; return the page that follows it."""
    file = SimpleUploadedFile(path.name, path.read_bytes())
    sent = {"file": file, "catalog": world.catalog.slug, "slug": "again", **given}
    return client.post(PAGE, sent, follow=True).content.decode()


def done() -> Job:
    job = Job.objects.get(task=IMPORT_TASK)
    import_back(str(job.uid))
    job.refresh_from_db()
    return job


def test_a_release_is_imported_by_a_worker_and_linked(
    admin: Client, release: Release, world: World
) -> None:
    assert "is being imported" in post(admin, world, archive_path(release))
    job = done()
    assert (job.state, job.error) == (JobState.SUCCEEDED, "")
    n = Judgement.objects.filter(question__campaign__slug="again").count()
    assert job.result == {"campaigns": ["again"], "n_judgements": n, "notes": []}
    assert not kept_path(job.arguments["file"]).exists()
    page = admin.get(PAGE).content.decode()
    assert 'href="/campaigns/again/"' in page
    assert f"{n} judgements" in page


@pytest.mark.parametrize("name", ["vsd/annotations.json", "trec/qrels.txt"])
def test_labels_are_imported(admin: Client, release: Release, world: World, name: str) -> None:
    post(admin, world, files_folder(release) / name, name="From a file")
    assert done().result["campaigns"] == ["again"]
    assert Campaign.objects.get(slug="again").name == "From a file"


def test_votes_of_label_studio_are_imported_by_their_control_and_rule_for_repeats(
    admin: Client, world: World, tmp_path: Path
) -> None:
    def annotation(word: str) -> dict[str, object]:
        choices = {"similarity": word, "same_brand": "no"}
        result = [
            {"from_name": name, "to_name": "query", "value": {"choices": [choice]}}
            for name, choice in choices.items()
        ]
        return {"completed_by": 7, "result": result}

    path = tmp_path / "tasks.json"
    data = {"query": "views of/0.png", "candidate": "views of/1.png"}
    annotations = [annotation("similar"), annotation("different")]
    path.write_text(json.dumps([{"data": data, "annotations": annotations}]))
    post(admin, world, path)
    assert "--control" in done().error
    Job.objects.all().delete()
    post(admin, world, path, control="similarity", repeats="last")
    job = done()
    assert (job.error, job.result["campaigns"]) == ("", ["again"])
    assert len(job.result["notes"]) == 2
    held = Judgement.objects.filter(question__campaign__slug="again")
    assert list(held.values_list("member__annotator__username", "answer")) == [
        ("again-7", "different")
    ]


def test_what_is_wrong_is_listed_under_the_giver_s_name_of_the_file(
    admin: Client, release: Release, world: World
) -> None:
    gone = world.images[:25]
    world.catalog.images.filter(pk__in=[image.pk for image in gone]).update(product_id="x")
    for image in gone:
        image.sha256 = image.sha256[::-1]
        image.save()
    SourceFile.objects.filter(image__in=gone).delete()
    post(admin, world, archive_path(release))
    job = done()
    assert job.state == JobState.FAILED
    lines = job.error.splitlines()
    assert "of 30 images of the release are not in the catalog by SHA-256" in lines[0]
    assert "views of/0.png" in lines
    assert lines[-1].startswith("and ")
    assert not Campaign.objects.filter(slug="again").exists()
    page = admin.get(PAGE).content.decode()
    assert "views of/0.png" in page
    retry_job(job=job)  # once the images are there
    for image in gone:
        image.sha256 = image.sha256[::-1]
        image.save()
    assert done().state == JobState.SUCCEEDED


def test_labels_that_cannot_be_read_are_named_by_line(
    admin: Client, world: World, tmp_path: Path
) -> None:
    path = tmp_path / "mine.txt"
    path.write_text("q 0 c 1\nq 0 c\n")
    post(admin, world, path)
    assert done().error.startswith("mine.txt, line 2: ")


def test_a_job_that_died_after_storing_is_done_when_it_runs_again(
    admin: Client, release: Release, world: World
) -> None:
    post(admin, world, archive_path(release))
    job = done()
    Job.objects.filter(pk=job.pk).update(state=JobState.QUEUED, result={})
    again = done()
    assert (again.state, again.result) == (JobState.SUCCEEDED, job.result)
    assert Campaign.objects.filter(slug__startswith="again").count() == 1


def test_a_campaign_of_a_like_name_made_meanwhile_is_not_taken_for_the_import(
    admin: Client, release: Release, world: World
) -> None:
    post(admin, world, archive_path(release))
    question = world.campaign.questions.all()[0]
    create_campaign(
        name="Other", slug="again-too", pairs=[(question.query_id, question.candidate_id)],
        panel=world.judges, guidelines="x",
    )  # fmt: skip
    job = done()
    assert (job.state, job.result["campaigns"]) == (JobState.SUCCEEDED, ["again"])
    assert Campaign.objects.get(slug="again").n_questions == world.campaign.n_questions


def test_an_import_of_a_job_that_was_taken_over_stores_nothing(
    admin: Client, release: Release, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    post(admin, world, archive_path(release))

    def store_rulings(*given: object) -> None:
        Job.objects.filter(task=IMPORT_TASK).update(n_attempts=7)

    monkeypatch.setattr("releases.importing.release.store_rulings", store_rulings)
    job = done()
    assert job.state == JobState.RUNNING  # of the other worker
    assert "made" not in job.arguments
    assert kept_path(job.arguments["file"]).exists()
    assert not Campaign.objects.filter(slug="again").exists()


def test_the_form_says_what_is_wrong_before_anything_is_queued(
    admin: Client, release: Release, world: World, tmp_path: Path
) -> None:
    picture = tmp_path / "a.png"
    picture.write_bytes(b"x")
    assert "is neither a zip nor one of" in post(admin, world, picture)
    page = post(admin, world, archive_path(release), slug=world.campaign.slug)
    assert "A campaign has that short name" in page
    assert not Job.objects.filter(task=IMPORT_TASK).exists()
    post(admin, world, archive_path(release))
    assert "is already queued or running" in post(admin, world, archive_path(release))
    assert Job.objects.filter(task=IMPORT_TASK).count() == 1


def test_only_admins_import(client: Client, researcher: User) -> None:
    client.force_login(researcher)
    assert client.get(PAGE).status_code == 403


@pytest.mark.parametrize("slug", ["freeze", "import"])
def test_a_release_cannot_take_the_address_of_a_page(world: World, slug: str) -> None:
    with pytest.raises(ReleaseError, match="is a page of this site"):
        request_for(world, slug=slug)
