"""A job is shown to its owner and to admins; only they cancel it or try it again."""

from __future__ import annotations

import uuid
from contextlib import suppress
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import Role, User
from jobs.models import SILENT_AFTER, Job, JobState, Worker
from jobs.services import JobError, JobProgress, retry_job, run_job

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


def person(name: str, role: Role) -> User:
    return User.objects.create_user(name, password="x", role=role)


def client_of(user: User | None) -> Client:
    client = Client()
    if user is not None:
        client.force_login(user)
    return client


@pytest.fixture
def owner() -> User:
    return person("owner", Role.RESEARCHER)


@pytest.fixture
def job(owner: User) -> Job:
    return Job.objects.create(
        task="tests.nothing", subject="s", title="Import <shoes>", owner=owner, n_total=10, n_done=4
    )


def test_the_owner_and_an_admin_see_it_and_nobody_else(job: Job, owner: User):
    url = f"/jobs/{job.uid}/"
    for user in (owner, person("ada", Role.ADMIN)):
        page = client_of(user).get(url)
        assert page.status_code == 200
        assert "Import &lt;shoes&gt;" in page.content.decode()
        assert "no-store" in page["Cache-Control"]
    for user in (person("rosa", Role.RESEARCHER), person("anna", Role.ANNOTATOR)):
        assert client_of(user).get(url).status_code == 404
        for verb in ("cancel", "retry"):
            assert client_of(user).post(f"{url}{verb}/").status_code == 404
    assert client_of(None).get(url).status_code == 302
    assert client_of(owner).get(f"/jobs/{uuid.uuid4()}/").status_code == 404


def test_htmx_gets_the_panel_alone_and_polls_while_the_job_is_open(job: Job, owner: User):
    open_panel = client_of(owner).get(f"/jobs/{job.uid}/", headers=HTMX).content.decode()
    assert "<html" not in open_panel
    assert "hx-get" in open_panel
    Job.objects.update(state=JobState.SUCCEEDED)
    ended = client_of(owner).get(f"/jobs/{job.uid}/", headers=HTMX).content.decode()
    assert "hx-get" not in ended


def test_cancel_and_try_again(job: Job, owner: User, django_capture_on_commit_callbacks):
    client = client_of(owner)
    assert client.post(f"/jobs/{job.uid}/cancel/").status_code == 302
    job.refresh_from_db()
    assert job.state == JobState.CANCELLED
    with django_capture_on_commit_callbacks() as sent:
        panel = client.post(f"/jobs/{job.uid}/retry/", headers=HTMX)
    assert len(sent) == 1
    assert "hx-get" in panel.content.decode()
    job.refresh_from_db()
    assert (job.state, job.finished_at) == (JobState.QUEUED, None)


def test_what_has_not_failed_is_not_tried_again(job: Job, owner: User):
    Job.objects.update(state=JobState.SUCCEEDED)
    assert client_of(owner).post(f"/jobs/{job.uid}/retry/", headers=HTMX).status_code == 409
    assert Job.objects.get().state == JobState.SUCCEEDED


def test_a_retry_beside_the_same_open_work_is_a_conflict(job: Job, owner: User):
    Job.objects.update(state=JobState.FAILED)
    Job.objects.create(task="tests.nothing", subject="s", title="The other")
    assert client_of(owner).post(f"/jobs/{job.uid}/retry/", headers=HTMX).status_code == 409
    job.refresh_from_db()
    assert job.state == JobState.FAILED


def test_a_failed_job_is_dismissed_from_the_overview_until_it_fails_again(job: Job, owner: User):
    ada = client_of(person("ada", Role.ADMIN))
    assert ada.post(f"/jobs/{job.uid}/dismiss/", headers=HTMX).status_code == 409
    Job.objects.update(state=JobState.FAILED, error="Full disk\nat 7")
    [line] = [line for line in ada.get("/overview/").context["attention"] if line.kind == "Failed"]
    assert (line.title, line.text) == ("Import <shoes>", "Full disk")
    for user in (person("rosa", Role.RESEARCHER), person("anna", Role.ANNOTATOR)):
        assert client_of(user).post(f"/jobs/{job.uid}/dismiss/").status_code == 404
    assert [label for label, _ in line.buttons] == ["Try again", "Dismiss"]
    assert ada.post(line.buttons[1][1], {"next": "overview"})["Location"] == "/overview/"
    assert "Failed" not in [line.kind for line in ada.get("/overview/").context["attention"]]
    job.refresh_from_db()
    retry_job(job=job)
    Job.objects.update(state=JobState.FAILED)
    assert "Failed" in [line.kind for line in ada.get("/overview/").context["attention"]]


def test_what_a_researcher_gave_wrong_is_no_matter_for_admins(owner: User):
    chief = person("ada", Role.ADMIN)

    def refuse(progress: JobProgress) -> dict[str, Any]:
        raise JobError("The columns are wrong.")

    def lose(progress: JobProgress) -> dict[str, Any]:
        raise OSError("The disk is gone.")

    jobs = [Job.objects.create(task="t", subject=f"{who} {work.__name__}", owner=who,
                               title=f"{who} {work.__name__}")
            for who in (owner, chief) for work in (refuse, lose)]  # fmt: skip
    for job, work in zip(jobs, (refuse, lose) * 2, strict=True):
        with suppress(OSError):
            run_job(job.uid, work)
    told = [line.title for line in client_of(chief).get("/overview/").context["attention"]]
    assert sorted(told) == sorted([f"{owner} lose", f"{chief} refuse", f"{chief} lose"])


def test_looking_changes_nothing(job: Job, owner: User):
    for verb in ("cancel", "retry", "dismiss"):
        assert client_of(owner).get(f"/jobs/{job.uid}/{verb}/").status_code == 405
    assert client_of(owner).post(f"/jobs/{job.uid}/").status_code == 405
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(owner)
    assert strict.post(f"/jobs/{job.uid}/cancel/").status_code == 403
    assert Job.objects.get().state == JobState.QUEUED


def test_the_page_of_work_shows_workers_to_admins_and_their_own_jobs_to_others(
    job: Job, owner: User
):
    Worker.objects.create(name="cpu on here", queue="device.cpu-on-here", device="cpu")
    Worker.objects.create(
        name="cuda:0 there",
        queue="device.cuda-0-there",
        device="cuda:0",
        seen_at=timezone.now() - SILENT_AFTER,
    )
    Job.objects.create(
        task="t", subject="ended", title="Pool boots", state=JobState.FAILED, error="Full disk"
    )
    page = client_of(person("ada", Role.ADMIN)).get("/jobs/").content.decode()
    assert "cpu on here" in page
    assert page.index("Alive") < page.index("Gone")
    assert "Import &lt;shoes&gt;" in page
    assert "next in line" in page
    assert "Pool boots" in page
    mine = client_of(owner).get("/jobs/").content.decode()
    assert "Import &lt;shoes&gt;" in mine
    assert "Pool boots" not in mine
    assert "cpu on here" not in mine
    assert client_of(None).get("/jobs/").status_code == 302
    stranger = client_of(person("rosa", Role.RESEARCHER)).get("/jobs/").content.decode()
    assert "shoes" not in stranger
    assert "No jobs are waiting or running." in stranger
