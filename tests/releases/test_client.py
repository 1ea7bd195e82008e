"""Releases through the client: list, download, verify, submit, wait; and what is not shown."""

from __future__ import annotations

import pytest

from accounts.models import Role, Scope, User
from accounts.tokens.services import create_token
from jobs.models import Job, JobState
from lookalike.client import Client, NotAuthenticatedError, NotFoundError, RefusedError, verify
from releases.models import Download, Release, Visibility
from releases.site.queries import SCORE_TASK
from releases.tasks import score
from tests.worlds import by_sha256, scores_csv

pytestmark = pytest.mark.django_db(transaction=True)


def client_of(url: str, role: Role = Role.RESEARCHER) -> Client:
    person = User.objects.create_user(f"{role}-{User.objects.count()}", role=role)
    _, token = create_token(owner=person, name="t", scopes=[Scope.READ, Scope.RUNS], days=1)
    return Client(url, token)


def work() -> None:
    for job in Job.objects.filter(task=SCORE_TASK, state=JobState.QUEUED):
        score(str(job.uid))


def test_a_public_release_is_downloaded_and_verified_by_a_stranger(release, live_server, tmp_path):
    site = Client(live_server.url, token="")
    [listed] = site.releases()
    assert (listed.slug, listed.version, listed.seal) == ("small", "1.0.0", release.seal)
    archive = site.download(listed.archive, tmp_path)
    assert archive.stat().st_size == release.archive_bytes
    assert verify(archive) == []
    assert Download.objects.get(path="").n == 1

    whole = site.release("small", "1.0.0")
    assert whole.info["version"] == "1.0.0"
    for file in whole.files:
        path = site.download(file, tmp_path / "single")
        assert path.stat().st_size == file.n_bytes


def test_a_download_of_a_release_goes_on_where_it_was_cut(release, live_server, tmp_path):
    site = Client(live_server.url, token="")
    [listed] = site.releases()
    whole = site.download(listed.archive, tmp_path / "whole").read_bytes()
    part = tmp_path / f"{listed.archive.name}.part"
    part.write_bytes(whole[:1000])
    assert site.download(listed.archive, tmp_path).read_bytes() == whole
    assert Download.objects.get(path="").n == 1, "going on is no other download"


def test_a_members_release_is_not_there_for_strangers(release, live_server):
    Release.objects.update(visibility=Visibility.MEMBERS)
    stranger = Client(live_server.url, token="")
    assert list(stranger.releases()) == []
    for version in ("1.0.0", "9.9.9", "x"):
        with pytest.raises(NotFoundError):
            stranger.release("small", version)
    assert client_of(live_server.url).release("small", "1.0.0").seal == release.seal


def test_a_run_is_submitted_and_its_score_waited_for(release, world, live_server, tmp_path):
    site = client_of(live_server.url)
    path = scores_csv(world, tmp_path / "mine.csv", by_sha256)
    submission = site.submit("small", "1.0.0", "mine", path)
    assert submission.scored_at is None
    work()
    scored = site.wait_for_submission(submission, seconds=10, pause=0.1)
    assert scored.results
    other = client_of(live_server.url)
    with pytest.raises(NotFoundError):
        other.submission(submission.uid)  # private until it is published


def test_a_submission_that_cannot_be_scored_is_refused(release, live_server, tmp_path):
    path = tmp_path / "bad.csv"
    path.write_text("query,candidate,score\na,b,x\n")
    site = client_of(live_server.url)
    submission = site.submit("small", "1.0.0", "bad", path)
    work()
    with pytest.raises(RefusedError, match=r"bad\.csv"):
        site.wait_for_submission(submission, seconds=10, pause=0.1)


def test_a_stranger_submits_nothing(release, live_server, tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("x")
    with pytest.raises(NotAuthenticatedError):
        Client(live_server.url, token="").submit("small", "1.0.0", "x", path)
