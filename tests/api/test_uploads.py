"""A run on its way through the API: uploaded, checked, scored; and what is refused, and why."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from accounts.models import Role
from api.limits import UPLOADS
from evaluation.models import Run
from evaluation.results.services import EVALUATE_TASK
from evaluation.runs.services import ADD_RUN_TASK
from evaluation.tasks import add_run, evaluate
from jobs.models import Job, JobState
from tests.worlds import World, scores_csv


def scores(world: World, tmp_path: Path) -> bytes:
    return scores_csv(world, tmp_path / "mine.csv").read_bytes()


def csv(content: bytes, name: str = "mine.csv") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, content, content_type="text/csv")


def work(task: str) -> None:
    """Do what the workers would do now."""
    for job in Job.objects.filter(task=task, state=JobState.QUEUED):
        {ADD_RUN_TASK: add_run, EVALUATE_TASK: evaluate}[task](str(job.uid))


@pytest.fixture
def path(world: World) -> str:
    return f"/campaigns/{world.campaign.slug}/runs"


def test_a_run_is_uploaded_checked_and_scored(world, researcher, path, tmp_path):
    sent = {"name": "mine", "family": "own", "file": csv(scores(world, tmp_path))}
    told = researcher.post(path, sent, 202)
    assert (told["job"]["state"], told["run"]) == ("queued", None)
    at = f"/uploads/{told['job']['uid']}"
    assert researcher.get(at)["job"]["state"] == "queued"

    work(ADD_RUN_TASK)
    checked = researcher.get(at)
    assert checked["job"]["state"] == "succeeded"
    run = researcher.get(f"/runs/{checked['run']}")
    assert (run["name"], run["family"], run["owner"]) == (
        "mine", "own", researcher.person.username,
    )  # fmt: skip
    assert run["coverage"]["share"] == 1
    assert run["score"] is None, "nothing has scored it yet"
    assert [
        one["uid"] for one in researcher.get("/runs", campaign=world.campaign.slug)["items"]
    ] == [run["uid"]]

    work(EVALUATE_TASK)
    score = researcher.get(f"/runs/{run['uid']}")["score"]
    shown = researcher.get(f"/results/{score['result']}")
    [model] = [model for model in shown["models"] if model["name"] == "mine"]
    assert model["measures"] == score["measures"]
    same = {m["name"]: m["measures"]["vsd_hr@5"]["value"] for m in shown["models"]}
    assert same["mine"] == same[next(iter(world.vectors))], "its scores are that model's cosines"


def test_a_file_that_cannot_be_scored_is_refused_by_its_check_with_the_line(researcher, path):
    told = researcher.post(
        path, {"name": "bad", "file": csv(b"query,candidate,score\na,b,x\n")}, 202
    )
    work(ADD_RUN_TASK)
    checked = researcher.get(f"/uploads/{told['job']['uid']}")
    assert checked["job"]["state"] == "failed"
    assert "mine.csv, line 2" in checked["job"]["error"]
    assert checked["run"] is None


def test_an_upload_is_its_owners_and_the_admins_alone(caller, admin, researcher, path):
    told = researcher.post(path, {"name": "x", "file": csv(b"x")}, 202)
    at = f"/uploads/{told['job']['uid']}"
    admin.get(at)
    caller(Role.RESEARCHER).get(at, 404)


@pytest.mark.parametrize(
    ("sent", "where"),
    [
        ({"name": ""}, "form.name"),
        ({"name": "x" * 201}, "form.name"),
        ({"name": "a\0b"}, "form.name"),
        ({"missing": "best"}, "form.missing"),
        ({"description": "x" * 2001}, "form.description"),
        ({"file": ""}, "file.file"),
        ({"file": csv(b"x", "a.npy")}, "form.ids_file"),
        ({"ids_file": csv(b"x", "ids.txt")}, "form.ids_file"),
        ({"file": csv(b"")}, "form.file"),
    ],
)
def test_a_wrong_form_is_refused_and_the_field_named(researcher, path, sent, where):
    told = researcher.post(path, {"name": "x", "file": csv(b"x")} | sent, 422)
    assert told["code"] in {"invalid_request", "invalid_run"}
    assert where in {detail["where"].removeprefix("body.") for detail in told["details"]}
    assert not Job.objects.filter(task=ADD_RUN_TASK).exists()


def test_a_name_is_taken_once(world, researcher, path, tmp_path):
    content = scores(world, tmp_path)
    researcher.post(path, {"name": "mine", "file": csv(content)}, 202)
    told = researcher.post(path, {"name": "mine", "file": csv(content)}, 409)
    assert told["code"] == "conflict"
    work(ADD_RUN_TASK)
    told = researcher.post(path, {"name": "mine", "file": csv(content)}, 422)
    assert (told["code"], told["details"][0]["where"]) == ("invalid_run", "form.name")
    assert Run.objects.count() == 1


def test_too_large_an_upload_is_refused_before_it_is_read(researcher, path, monkeypatch):
    monkeypatch.setattr("catalog.importing.upload_handlers.SMALL", 1000)
    told = researcher.post(path, {"name": "big", "file": csv(b"x" * 2000)}, 413)
    assert told["code"] == "too_large"


def test_uploads_are_limited(researcher, path, monkeypatch):
    monkeypatch.setattr("api.routes.runs.UPLOADS", type(UPLOADS)("uploads", 1, 3600))
    researcher.post(path, {"name": "a", "file": csv(b"x")}, 202)
    assert researcher.post(path, {"name": "b", "file": csv(b"x")}, 429)["code"] == "rate_limited"


def test_a_campaign_that_is_not_there_takes_no_run(researcher, world):
    researcher.post("/campaigns/none/runs", {"name": "a", "file": csv(b"x")}, 404)
