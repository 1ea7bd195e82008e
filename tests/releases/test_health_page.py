"""The page of a benchmark's health over its versions: for members, made by a worker."""

from __future__ import annotations

import pytest
from django.test import Client

from jobs.models import Job, JobState
from lookalike.release.health import versions_health
from lookalike.release.opened import open_release
from releases.health.services import HEALTH_TASK, HealthLine, latest_health
from releases.storage import files_folder
from releases.tasks import health
from tests.clients import signed_in
from tests.worlds import freeze_now, request_for

pytestmark = pytest.mark.django_db(transaction=True)


def test_versions_are_compared_on_a_page_of_members(world, release, researcher):
    second = freeze_now(request_for(world, "1.1.0", is_public=True))
    address = f"/releases/{release.slug}/health/"
    assert Client().get(address).status_code in {302, 403, 404}, "strangers ask for no work"
    rhea = signed_in(researcher)
    assert address in rhea.get(f"/releases/{release.slug}/1.1.0/").content.decode()
    assert "Nobody has compared them yet" in rhea.get(address).content.decode()
    rhea.post(address)
    job = Job.objects.get(task=HEALTH_TASK)
    health(str(job.uid))
    job.refresh_from_db()
    assert job.state == JobState.SUCCEEDED, job.error
    found = latest_health(release.slug)
    assert found is not None
    wanted = versions_health([open_release(files_folder(one)) for one in (release, second)])
    named = zip(("1.0.0", "1.1.0"), wanted, strict=True)
    assert list(map(str, found.lines)) == [str(HealthLine.of(*one)) for one in named]
    page = rhea.get(address).content.decode()
    assert f">{found.lines[1].n_shared}</td>" in page
    assert f"/releases/{release.slug}/1.0.0/" in page
    assert "There are other versions" not in page
