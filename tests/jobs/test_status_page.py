"""What admins see of the site's inside on the page of work."""

from __future__ import annotations

import redis

from accounts.models import Role, User
from jobs import status
from jobs.models import Job
from jobs.status import note_light_worker
from lookalike import __version__
from tests.clients import signed_in


def test_admins_see_queues_jobs_disk_and_version_and_nobody_else_does(db: None) -> None:
    note_light_worker(0)
    Job.objects.create(task="t", subject="s", title="t")
    page = signed_in(User.objects.create_user("ada", role=Role.ADMIN)).get("/jobs/")
    text = page.content.decode()
    queues = ("in the queue light", "in the queue device")
    for words in (*queues, "Disk free", "Database", __version__):
        assert words in text
    assert page.context["status"].jobs["queued"].n == 1
    assert page.context["status"].database_bytes > 1_000_000
    reader = signed_in(User.objects.create_user("rhea", role=Role.RESEARCHER)).get("/jobs/")
    assert "Disk free" not in reader.content.decode()


def test_the_page_says_that_the_broker_is_gone(db: None, monkeypatch) -> None:
    browser = signed_in(User.objects.create_user("ada", role=Role.ADMIN))
    nowhere = redis.Redis(host="127.0.0.1", port=1)
    monkeypatch.setattr(status, "_broker", lambda: nowhere)
    reply = browser.get("/jobs/")
    assert reply.status_code == 200
    assert "The broker is not responding" in reply.content.decode()
