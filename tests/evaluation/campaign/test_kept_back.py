"""A campaign whose labels a release hides: its results are for admins alone."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from accounts.models import Role, User
from accounts.tokens.services import allowed_scopes, create_token
from annotation.models import Campaign
from evaluation.models import Result, Run
from evaluation.results.assessment import assess
from evaluation.results.leaderboard import model_key
from evaluation.results.services import EVALUATE_TASK, store_result
from evaluation.runs.services import add_run
from jobs.models import Job
from lookalike.io.tables import Run as Scores
from tests.worlds import SPECS, World

pytestmark = pytest.mark.django_db
WORDS = "are kept back"


@pytest.fixture
def kept_back(judged_world: World, researcher: User) -> Result:
    """A result, and a run of the researcher's, from before the labels were kept back."""
    names = [image.sha256 for image in judged_world.images]
    covered = {"n_rows": 900, "n_scored": 1, "n_pairs": 1, "share": 1.0}
    scores = Scores.of("theirs", [(a, b, float(i)) for i, a in enumerate(names) for b in names])
    add_run(campaign=judged_world.campaign, owner=researcher, scores=scores, coverage=covered)
    found = assess(judged_world.campaign, n_bootstraps=0)
    result = store_result(campaign=judged_world.campaign, assessment=found, job=None)
    Campaign.objects.filter(pk=judged_world.campaign.pk).update(labels_hidden=True)
    Job.objects.all().delete()
    return result


def pages(result: Result) -> list[str]:
    base = f"/results/{result.campaign.slug}/"
    names = (
        "labels/csv/",
        f"models/{model_key(SPECS[0])}/",
        "compare/",
        "bias/",
        "below/",
        "runs/",
    )
    return [base, *(base + name for name in names)]


def test_admins_alone_see_pages_and_downloads_of_it(
    kept_back: Result, client: Client, researcher: User
) -> None:
    client.force_login(researcher)
    for address in pages(kept_back):
        reply = client.get(address)
        assert reply.status_code == 403, address
        assert WORDS in reply.content.decode()
        assert "/releases/" in reply.content.decode()
    home = client.get("/results/").content.decode()
    assert kept_back.campaign.name in home
    assert f"/results/{kept_back.campaign.slug}/" not in home
    client.force_login(User.objects.create_user("chief", role=Role.ADMIN))
    for address in pages(kept_back):
        assert client.get(address).status_code == 200, address
    assert "Only admins see this" in client.get(pages(kept_back)[0]).content.decode()


def test_a_stranger_and_a_judge_learn_nothing_of_it(
    kept_back: Result, judged_world: World, client: Client
) -> None:
    for address in pages(kept_back):
        assert client.get(address).status_code == 302
    client.force_login(judged_world.judges[0])
    for address in pages(kept_back):
        reply = client.get(address)
        assert reply.status_code == 403
        assert WORDS not in reply.content.decode()


def test_researchers_neither_upload_nor_delete_nor_evaluate(
    kept_back: Result, client: Client, researcher: User
) -> None:
    client.force_login(researcher)
    base = f"/results/{kept_back.campaign.slug}/"
    run = Run.objects.get()
    file = SimpleUploadedFile("more.csv", b"query,candidate,score\na,b,1\n")
    given = {"name": "more", "missing": "worst", "file": file}
    for address, data in (
        (f"{base}runs/", given), (f"{base}runs/{run.uid}/delete/", {}), (f"{base}evaluate/", {}),
    ):  # fmt: skip
        assert client.post(address, data).status_code == 403
    assert Run.objects.get() == run
    assert not Job.objects.exists()
    client.force_login(User.objects.create_user("chief", role=Role.ADMIN))
    assert client.post(f"{base}evaluate/").status_code == 302
    assert Job.objects.get().task == EVALUATE_TASK


def test_the_api_answers_researchers_as_if_it_had_no_results(
    kept_back: Result, client: Client, researcher: User
) -> None:
    def ask(person: User, path: str) -> Any:
        _, token = create_token(owner=person, name=path[:20], scopes=allowed_scopes(person), days=1)
        return client.get(f"/api/v1{path}", headers={"Authorization": f"Bearer {token}"})

    chief = User.objects.create_user("chief", role=Role.ADMIN)
    run = Run.objects.get()
    for path in (f"/results/{kept_back.uid}", f"/runs/{run.uid}"):
        assert ask(researcher, path).status_code == 404
        assert ask(chief, path).status_code == 200
    for path in ("/results", "/runs", f"/results?campaign={kept_back.campaign.slug}"):
        assert ask(researcher, path).json()["items"] == []
        assert len(ask(chief, path).json()["items"]) == 1


def test_the_api_takes_no_run_from_researchers(kept_back: Result, researcher: User) -> None:
    _, token = create_token(owner=researcher, name="t", scopes=allowed_scopes(researcher), days=1)
    reply = Client().post(
        f"/api/v1/campaigns/{kept_back.campaign.slug}/runs",
        {"name": "x", "missing": "worst", "file": SimpleUploadedFile("x.csv", b"a")},
        headers={"Authorization": f"Bearer {token}"},
    )
    assert reply.status_code == 404
    assert not Job.objects.exists()
