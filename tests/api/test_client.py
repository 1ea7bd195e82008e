"""The client against a live server: reads, uploads, waits; and every error told apart."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.core.cache import cache
from django.db import connections

from accounts.models import Role, Scope, User
from accounts.tokens.services import allowed_scopes, create_token, revoke_token
from annotation.models import Judgement
from api.limits import Limit
from evaluation.results.services import EVALUATE_TASK
from evaluation.runs.services import ADD_RUN_TASK
from evaluation.tasks import add_run, evaluate
from jobs.models import Job, JobState
from lookalike.client import (
    Client,
    ConflictError,
    ConnectionFailedError,
    ForbiddenError,
    InvalidError,
    NotAuthenticatedError,
    NotFoundError,
    RateLimitedError,
    RefusedError,
    ServerError,
    UnexpectedAnswerError,
    WaitedTooLongError,
)
from tests.api.conftest import kept_world
from tests.worlds import World, scores_csv

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def fresh_limits() -> Iterator[None]:
    cache.clear()
    yield
    cache.clear()


@pytest.fixture
def world(transactional_db: None) -> World:
    return kept_world()


@pytest.fixture
def site(live_server) -> Callable[..., Client]:
    """The client of a new person with a token for all that their role may."""

    def make(role: Role = Role.RESEARCHER) -> Client:
        person = User.objects.create_user(f"{role}-{User.objects.count()}", role=role)
        _, token = create_token(owner=person, name="t", scopes=allowed_scopes(person), days=1)
        return Client(live_server.url, token)

    return make


def work() -> None:
    """Do what the workers would do now, check before evaluation."""
    for task, do in ((ADD_RUN_TASK, add_run), (EVALUATE_TASK, evaluate)):
        for job in Job.objects.filter(task=task, state=JobState.QUEUED):
            do(str(job.uid))


@pytest.fixture
def worker() -> Iterator[None]:
    """A worker that takes up whatever is queued while the test goes on."""
    stop = threading.Event()

    def run() -> None:
        while not stop.wait(0.1):
            work()
        connections.close_all()

    thread = threading.Thread(target=run)
    thread.start()
    yield
    stop.set()
    thread.join()


def test_everything_that_a_reader_may_know_is_read(world, site):
    client = site()
    assert client.me().role == "researcher"
    [catalog] = client.catalogs()
    attributes = client.catalog(catalog.slug).attributes
    assert [(one.name, one.n_values) for one in attributes] == [("colour", 2), ("kind", 3)]
    images = list(client.images(catalog.slug))
    assert [image.uid for image in images] == [str(image.uid) for image in world.images]
    assert len(list(client.images(catalog.slug, attributes=["colour=red", "kind=a"]))) == 5
    [pool] = client.pools()
    assert [model.state for model in client.pool(pool.slug).models] == ["done", "done"]
    [campaign] = client.campaigns()
    assert client.campaign(campaign.slug) == campaign
    assert client.progress(campaign.slug).share_done == 1
    assert client.agreement(campaign.slug).percent == pytest.approx(1 / 3)
    [result] = client.results(campaign.slug)
    whole = client.result(result.uid)
    assert {model.name for model in whole.models} == set(world.vectors)
    assert all(m.measures["vsd_hr@5"].n_defined for m in whole.models)
    bias = client.bias_report(result.uid)
    assert bias.findings == bias.report["findings"] != []
    assert client.image(images[3].uid) == images[3]


def test_an_admin_reads_judgements_and_pairs(world, site):
    client = site(Role.ADMIN)
    assert len(list(client.judgements(world.campaign.slug))) == Judgement.objects.count()
    pairs = list(client.pairs(world.pool.slug))
    assert len(pairs) == world.campaign.n_questions
    assert min(by.rank for pair in pairs for by in pair.proposed_by) == 1


def test_long_lists_are_read_to_their_end(world, site, monkeypatch):
    monkeypatch.setattr("lookalike.client.client.A_PART", 7)
    assert len(list(site().images(world.catalog.slug))) == 30


def test_a_run_is_uploaded_and_its_score_waited_for(world, site, tmp_path, worker):
    client = site()
    path = scores_csv(world, tmp_path / 'my "odd" näme.csv')
    upload = client.upload_run(world.campaign.slug, "mine", path, family="own")
    run = client.wait_for_score(upload, seconds=120, pause=0.2)
    assert run.score is not None
    same = {m.name: m.measures["vsd_hr@5"] for m in client.result(run.score.result).models}
    assert run.score.measures["vsd_hr@5"] == same["mine"]
    assert same["mine"].value == same[next(iter(world.vectors))].value
    assert [one.name for one in client.runs(world.campaign.slug)] == ["mine"]


def test_a_run_that_cannot_be_scored_is_refused_with_file_and_line(world, site, tmp_path, worker):
    path = tmp_path / "bad.csv"
    path.write_text("query,candidate,score\na,b,x\n")
    client = site()
    upload = client.upload_run(world.campaign.slug, "bad", path)
    with pytest.raises(RefusedError, match=r"bad\.csv, line 2"):
        client.wait_for_score(upload, seconds=60, pause=0.2)


def test_waiting_ends(world, site, tmp_path):
    client = site()
    upload = client.upload_run(
        world.campaign.slug, "mine", scores_csv(world, tmp_path / "mine.csv")
    )
    with pytest.raises(WaitedTooLongError):
        client.wait_for_score(upload, seconds=0.3, pause=0.1)


def test_errors_are_told_apart(world, site, tmp_path, live_server, monkeypatch):
    client = site()
    with pytest.raises(NotFoundError):
        client.catalog("none")
    with pytest.raises(ForbiddenError) as forbidden:
        next(client.judgements(world.campaign.slug))
    assert (forbidden.value.status, forbidden.value.code) == (403, "forbidden")
    with pytest.raises(NotAuthenticatedError) as stranger:
        Client(live_server.url, "").me()
    assert stranger.value.code == "not_authenticated"
    path = tmp_path / "vectors.npy"
    path.write_bytes(b"x")
    with pytest.raises(InvalidError) as invalid:
        client.upload_run(world.campaign.slug, "mine", path)
    assert invalid.value.details[0][0] == "form.ids_file"
    assert "ids_file" in str(invalid.value)
    scores = scores_csv(world, tmp_path / "mine.csv")
    client.upload_run(world.campaign.slug, "twice", scores)
    with pytest.raises(ConflictError):
        client.upload_run(world.campaign.slug, "twice", scores)
    monkeypatch.setattr("api.access.REQUESTS", Limit("requests", 0, 3600))
    with pytest.raises(RateLimitedError) as limited:
        client.me()
    assert limited.value.retry_after is not None
    assert limited.value.retry_after > 0


def test_a_revoked_token_is_told_so(world, live_server):
    person = User.objects.create_user("r", role=Role.RESEARCHER)
    row, token = create_token(owner=person, name="t", scopes=[Scope.READ], days=1)
    client = Client(live_server.url, token)
    client.me()
    revoke_token(token=row)
    with pytest.raises(NotAuthenticatedError) as caught:
        client.me()
    assert caught.value.code == "token_revoked"


def test_a_crash_of_the_site_is_an_error_of_the_site(world, site, monkeypatch):
    def crash(*given: object) -> None:
        raise RuntimeError("secret inside")

    client = site()
    monkeypatch.setattr("api.routes.catalogs.read_part", crash)
    with pytest.raises(ServerError) as caught:
        list(client.catalogs())
    assert "secret" not in str(caught.value)


def test_the_token_comes_from_the_environment(world, live_server, monkeypatch):
    person = User.objects.create_user("r", role=Role.RESEARCHER)
    _, token = create_token(owner=person, name="t", scopes=[Scope.READ], days=1)
    monkeypatch.setenv("LOOKALIKE_TOKEN", token)
    assert Client(live_server.url).me().username == "r"


def test_what_is_no_site_is_said(live_server, tmp_path: Path):
    for wrong in ("lookalike.example.org", "ftp://x", ""):
        with pytest.raises(ValueError, match="Not the address"):
            Client(wrong)
    with pytest.raises(ValueError, match="Not an access token"):
        Client(live_server.url, "lkl_x\r\nX-Evil: 1")
    with pytest.raises(ConnectionFailedError):
        Client("http://127.0.0.1:9", "").me()
    with pytest.raises(UnexpectedAnswerError):
        Client(f"{live_server.url}/accounts/login", "").me()
