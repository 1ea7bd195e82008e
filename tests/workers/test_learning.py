"""A text space that a worker of a whole site learns ends in the same bytes, whoever kills it."""

from __future__ import annotations

import random
from functools import partial
from typing import Any

import pytest

from tests.site import Site
from tests.waiting import wait_until
from tests.workers.conftest import asked

pytestmark = [pytest.mark.faults, pytest.mark.daily, pytest.mark.timeout(2_400)]

N_KILLS = 10
N_IMAGES, EPOCHS = 600, 1_000
PATIENCE = 600  # seconds: a killed worker loads torch anew, and its lease must run out first
PREPARE = f"""
from tests.catalogs import catalog_of_paints
catalog_of_paints({N_IMAGES})
"""
LEARN = """
from accounts.models import User
from catalog.models import Catalog
from learning.text_spaces.recipes import SpaceRecipe
from learning.runs.services import start_run
owner, _ = User.objects.get_or_create(username="ada", defaults={{"role": "admin"}})
recipe = SpaceRecipe(parent="descriptor:colour-histogram", columns=("colour",), epochs={epochs})
start_run(catalog=Catalog.objects.get(slug="paints"), name={name!r}, recipe=recipe,
                 owner=owner)
"""


def learn(site: Site, name: str) -> None:
    site.run(LEARN.format(name=name, epochs=EPOCHS))


def job(site: Site, name: str) -> tuple[str, int, int | None, int]:
    query = "SELECT state, n_done, n_total, n_attempts FROM jobs_job WHERE title LIKE %s"
    ((state, n_done, n_total, n_attempts),) = asked(site, query, f"%“{name}”")
    return state, n_done, n_total, n_attempts


def has_ended(site: Site, name: str) -> bool:
    """Whether a run is done; one that gets on is never given up, however often it is killed."""
    state = job(site, name)[0]
    assert state != "failed"
    return state == "succeeded"


def is_past(site: Site, name: str, epoch: int) -> bool:
    """Whether a run has come so far."""
    assert not has_ended(site, name)
    state, n_done, n_total, _ = job(site, name)
    return state == "running" and n_total == EPOCHS and n_done >= epoch


def learned(site: Site, name: str) -> list[tuple[Any, ...]]:
    """Fingerprint and bytes of both maps, once they are there."""
    wait_until(lambda: has_ended(site, name), patience=PATIENCE)
    query = (
        "SELECT p.fingerprint, p.sha256, s.texts_sha256 FROM learning_textspace s "
        "JOIN catalog_projection p ON p.id = s.projection_id WHERE p.slug = %s"
    )
    return asked(site, query, name)


def test_a_run_killed_at_ten_random_steps_ends_in_the_same_bytes(site: Site):
    site.run(PREPARE)
    learn(site, "calm")
    wanted = learned(site, "calm")
    assert len(wanted) == 1
    learn(site, "killed")
    chance = random.Random(7)
    for epoch in sorted(chance.sample(range(1, EPOCHS * 9 // 10), N_KILLS)):
        wait_until(partial(is_past, site, "killed", epoch), pause=0.02, patience=PATIENCE)
        victims = site.processes("--queues device")
        assert victims
        for victim in victims:
            victim.kill()
        assert job(site, "killed")[0] != "succeeded"
    assert learned(site, "killed") == wanted
    assert job(site, "killed")[3] == N_KILLS + 1
