"""Releases are signed by the institution's key when they are frozen; pages and the API check."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from jobs.services import JobError
from lookalike.release.format.layout import SIGNATURE
from lookalike.release.signature import read_public_key
from lookalike.release.verify import verify
from releases.models import Release
from releases.storage import archive_path, files_folder
from tests.paths import ROOT
from tests.worlds import World, build_now, freeze_now, request_for

KEYS = ROOT / "tests/golden/signatures"
KEY = read_public_key(KEYS / "institution.pub")


@pytest.fixture
def signing(settings: Any) -> None:
    settings.SIGNING_KEY = KEYS / "institution.key"


@pytest.mark.usefixtures("signing")
def test_a_frozen_release_is_signed_the_same_twice_and_shown_so(
    world: World, client: Client, settings: Any, tmp_path: Path
) -> None:
    request = request_for(world, is_public=True)
    release = freeze_now(request)
    assert verify(archive_path(release), key=KEY).signed_by == KEY.name
    again = build_now(request, tmp_path / "again")
    assert (again / SIGNATURE).read_bytes() == (files_folder(release) / SIGNATURE).read_bytes()
    assert (again.parent / "small-1.0.0.zip").read_bytes() == archive_path(release).read_bytes()
    page, api = "/releases/small/1.0.0/", "/api/v1/releases/small/1.0.0"
    assert f"Valid, by the key {KEY}" in client.get(page).content.decode()
    assert client.get(api).json()["signature"] == {"state": "valid", "key": str(KEY), "reason": ""}
    file: Any = client.get(f"{page}files/{SIGNATURE}")
    assert b"".join(file.streaming_content) == (again / SIGNATURE).read_bytes()
    settings.SIGNING_KEY = KEYS / "other.key"
    assert "It is by the key" in client.get(page).content.decode()
    settings.SIGNING_KEY = None
    assert client.get(api).json()["signature"]["state"] == "unchecked"


def test_without_a_key_nothing_is_signed(world: World, client: Client) -> None:
    release = freeze_now(request_for(world, is_public=True))
    assert not (files_folder(release) / SIGNATURE).exists()
    assert "Signature" not in client.get("/releases/small/1.0.0/").content.decode()
    assert client.get(f"/releases/small/1.0.0/files/{SIGNATURE}").status_code == 404
    found = client.get("/api/v1/releases/small/1.0.0").json()
    assert found["signature"]["state"] == "absent"


def test_a_key_that_cannot_sign_stops_the_freeze(world: World, settings: Any) -> None:
    settings.SIGNING_KEY = KEYS / "locked.key"
    with pytest.raises(JobError, match="has a password"):
        freeze_now(request_for(world))
    assert not Release.objects.exists()
