"""Hidden labels: the same queries in every version, too many to tell one, shown to nobody."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from accounts.models import Role, User
from accounts.tokens.services import allowed_scopes, create_token
from annotation.models import Campaign
from evaluation.models import Result
from jobs.services import JobError
from lookalike.core.errors import Refused
from lookalike.release.errors import ReleaseError
from lookalike.release.opened import open_release
from lookalike.release.scoring import coarse
from lookalike.release.verify import verify
from releases.blindness.images import campaigns_asking
from releases.freeze.hidden_labels import hidden_queries, percent_hidden, require_enough
from releases.models import Release
from releases.storage import files_folder
from tests.worlds import World, build_now, freeze_now, request_for

BASE = "/releases/small/1.0.0/"
NAMES = [hashlib.sha256(str(n).encode()).hexdigest() for n in range(200)]


def hidden_in(release: Release) -> set[str]:
    rows = pq.read_table(files_folder(release) / "data/queries.parquet").to_pylist()
    return {row["query_id"] for row in rows if row["split"] == "hidden"}


def test_queries_that_come_move_none_of_the_others() -> None:
    before = hidden_queries(NAMES[:100], 20, 7, set(), set())
    assert len(before) == 20
    least = sorted(NAMES[:100], key=lambda x: hashlib.sha256(f"7:{x}".encode()).hexdigest())[:20]
    assert before == set(least)
    public = set(NAMES[:100]) - before
    after = hidden_queries(NAMES, 20, 8, before, public)
    assert len(after) == 40
    assert before <= after
    assert after.isdisjoint(public)


@given(st.integers(0, 90), st.integers(0, 90), st.integers(0, 9), st.integers(1, 200))
def test_what_is_hidden_stays_and_what_is_public_never_hides(
    first: int, second: int, seed: int, n: int
) -> None:
    old = hidden_queries(NAMES[:n], first, 0, set(), set())
    public = set(NAMES[:n]) - old
    if len(NAMES) - len(public) < round(len(NAMES) * second / 100):
        with pytest.raises(ReleaseError, match="show the labels of"):
            hidden_queries(NAMES, second, seed, old, public)
        return
    new = hidden_queries(NAMES, second, seed, old, public)
    assert old <= new
    assert new.isdisjoint(public)
    assert len(new) == max(len(old), round(len(NAMES) * second / 100))


def test_the_percent_says_what_is_hidden() -> None:
    assert percent_hidden(20, 100, 20) == 20
    assert percent_hidden(1, 8, 10) == 10
    assert percent_hidden(20, 150, 0) == 14


@pytest.mark.parametrize(
    ("value", "n", "shown"),
    [(None, 50, None), (float("nan"), 50, None), (0.337, 50, 0.32), (0.35, 100, 0.36),
     (0.12345, 5000, 0.123), (1.0, 7, 1.0), (0.0, 50, 0.0)],
)  # fmt: skip
def test_means_are_shown_in_steps_of_two_queries(
    value: float | None, n: int, shown: float | None
) -> None:
    assert coarse(value, n) == shown


def test_a_label_of_one_query_of_many_changes_no_more_than_one_step() -> None:
    rng = np.random.default_rng(3)
    values = rng.integers(0, 6, 80) / 5
    before = coarse(float(values.mean()), 80)
    for query in range(80):
        other = values.copy()
        other[query] += 0.2 if other[query] < 1 else -0.2
        after = coarse(float(other.mean()), 80)
        assert before is not None
        assert after is not None
        assert abs(after - before) < 2 / 80 + 1e-9


def test_fewer_than_fifty_labelled_queries_are_not_hidden(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("releases.freeze.hidden_labels.MIN_HIDDEN", 50)
    require_enough(50)
    with pytest.raises(ReleaseError, match="49 queries with labels would be hidden"):
        require_enough(49)
    with pytest.raises(JobError, match="fewer than 50 tells single labels"):
        freeze_now(request_for(world, hidden_percent=50))
    assert not Release.objects.exists()
    assert not Campaign.objects.filter(labels_hidden=True).exists()


def test_a_version_hides_what_the_one_before_hid(world: World) -> None:
    first = freeze_now(request_for(world, hidden_percent=50))
    second = freeze_now(request_for(world, "1.1.0", hidden_percent=50, seed=5))
    third = freeze_now(request_for(world, "1.2.0"))
    assert hidden_in(first) == hidden_in(second) == hidden_in(third)
    assert third.info["hidden_percent"] == 50
    assert third.has_hidden_labels
    with pytest.raises(JobError, match="show the labels of 4 of them, and 4 are left"):
        freeze_now(request_for(world, "1.3.0", hidden_percent=75))
    for release in (first, second, third):
        assert verify(files_folder(release)).findings == ()


def test_findings_are_of_public_labels_alone_and_the_page_says_what_is_hidden(
    client: Client, world: World, tmp_path: Path
) -> None:
    shown = build_now(request_for(world), tmp_path / "shown")
    findings = json.loads((shown / "bias.json").read_text())["findings"]
    assert len(findings) > 1
    release = freeze_now(request_for(world, slug="other", hidden_percent=50, is_public=True))
    folder = files_folder(release)
    public = json.loads((folder / "bias.json").read_text())["findings"]
    assert public == list(open_release(folder).bias_report().findings)
    assert public != findings
    assert public[0].rstrip(".") in (folder / "datasheet.md").read_text()
    page = client.get("/releases/other/1.0.0/").content.decode()
    assert "Kept back: the labels of 4 of 8 queries" in page
    assert "admins alone" in page


def test_labels_that_a_release_hides_are_shown_to_admins_alone(
    world: World, researcher: User
) -> None:
    release = freeze_now(request_for(world, hidden_percent=50, is_public=True))
    assert Campaign.objects.get(pk=world.campaign.pk).labels_hidden
    chief = User.objects.create_user("chief", role=Role.ADMIN)
    result = Result.objects.latest("id")
    base = f"/results/{world.campaign.slug}/"
    pages = [base, f"{base}labels/csv/", f"{base}bias/", f"{base}compare/"]
    for person, status in (
        (None, 302), (world.judges[0], 403), (researcher, 403), (chief, 200)
    ):  # fmt: skip
        browser = Client()
        if person is not None:
            browser.force_login(person)
        assert [browser.get(page).status_code for page in pages] == [status] * len(pages), person
        assert browser.get(BASE).status_code == 200
    for reader, status in ((researcher, 404), (chief, 200)):
        for path in (f"/results/{result.uid}", f"/results/{result.uid}/bias"):
            assert ask(reader, path).status_code == status, (reader, path)
    assert Client().get(f"/api/v1/results/{result.uid}").status_code == 401
    with pytest.raises(Refused):
        ask(world.judges[0], f"/results/{result.uid}")
    assert ask(researcher, "/releases/small/1.0.0").json()["has_hidden_labels"]
    drawn = ask(chief, "/releases/small/1.0.0/negatives?limit=500").json()["items"]
    assert drawn
    assert hidden_in(release).isdisjoint(pair["query"] for pair in drawn)
    for path in ("hidden/data/labels.parquet", "../hidden/data/labels.parquet"):
        assert ask(chief, f"/releases/small/1.0.0/files/{path}").status_code == 404
    assert campaigns_asking(release) == []


def ask(person: User, path: str) -> Any:
    _, token = create_token(owner=person, name=path[:20], scopes=allowed_scopes(person), days=1)
    return Client().get(f"/api/v1{path}", headers={"Authorization": f"Bearer {token}"})
