"""Pages and downloads: for strangers where public, with ranges, counted; freezing for admins."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import pytest
from django.conf import settings
from django.core.cache import cache, caches
from django.core.management import call_command
from django.test import Client

from accounts.models import Role, User
from annotation.models import Campaign, CampaignState
from annotation.services.campaigns import close_campaign
from evaluation.results.assessment import assess
from jobs.models import Job, JobState
from lookalike.bias.measurements import EQUAL_OUTSIDER
from releases.forms import first_words
from releases.freeze.requests import short_name
from releases.models import Download, Release
from releases.services import set_visibility
from releases.site.queries import FREEZE_TASK, file_lines
from releases.site.ranges import parse_range
from releases.storage import archive_path, files_folder
from releases.tasks import freeze
from tests.worlds import World, freeze_now, request_for

BASE = "/releases/small/1.0.0/"


def body(response: object) -> bytes:
    return b"".join(response.streaming_content)  # type: ignore[attr-defined]


def test_the_form_begins_with_a_short_name_that_it_takes(world: World) -> None:
    world.campaign.slug = "luma_fashion-your_turn"
    assert first_words(world.campaign)["slug"] == "luma-fashion-your-turn"
    assert short_name("-Ä_b__c-") == "b-c"


@pytest.fixture
def admin(transactional_db: None) -> User:
    return User.objects.create_user("chief", role=Role.ADMIN)


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def test_a_stranger_reads_and_downloads_a_public_release(client: Client, release: Release) -> None:
    assert b"Small benchmark" in client.get("/releases/").content
    assert client.get("/releases/small/").headers["Location"] == BASE
    page = client.get(BASE).content.decode()
    for words in ("Leaderboard", release.archive_sha256, release.seal, "@misc", "How to cite"):
        assert words in page, words
    assert "Submit a run" not in page
    assert "Krippendorff" in client.get(f"{BASE}datasheet/").content.decode()
    whole = body(client.get(f"{BASE}archive.zip"))
    assert hashlib.sha256(whole).hexdigest() == release.archive_sha256
    for line in file_lines(release):
        content = body(client.get(f"{BASE}files/{line.path}"))
        assert hashlib.sha256(content).hexdigest() == line.sha256


def test_its_first_reader_waits_for_no_figure(
    client: Client, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    caches["process"].clear()  # of what other tests looked at
    freeze_now(request_for(world, is_public=True))
    caches["process"].clear()  # the worker's: a web process has its own
    for made in ("release_leaderboard", "release_human_line", "equal_outsiders"):
        monkeypatch.setattr(f"releases.site.leaderboard.{made}", None)
    assert client.get(BASE).status_code == 200


def test_what_takes_seconds_outlives_the_cache(
    client: Client, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    freeze_now(request_for(world, is_public=True))
    caches["process"].clear()
    cache.clear()  # a restart, or a month without a reader
    for made in ("release_human_line", "equal_outsiders"):
        monkeypatch.setattr(f"releases.site.leaderboard.{made}", None)
    assert client.get(BASE).status_code == 200


def test_damaged_figures_are_made_anew_once(
    client: Client, release: Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.get(BASE)
    files = [*Path(settings.CACHES["disk"]["LOCATION"]).glob("*.djcache")]
    assert files
    for path in files:
        path.write_bytes(path.read_bytes()[:40])
    caches["process"].clear()
    cache.clear()
    assert client.get(BASE).status_code == 200
    caches["process"].clear()
    monkeypatch.setattr("releases.site.leaderboard.equal_outsiders", None)
    assert client.get(BASE).status_code == 200


def test_figures_are_made_where_none_can_be_kept(
    client: Client, release: Release, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("process", "disk", "default"):
        caches[name].clear()
    (tmp_path / "file").touch()
    monkeypatch.setattr(caches["disk"], "_dir", str(tmp_path / "file"))
    assert client.get(BASE).context["human"]


def test_the_manifest_is_given_away_unless_it_was_changed(client: Client, release: Release) -> None:
    path = files_folder(release) / "MANIFEST.json"
    sound = path.read_bytes()
    assert body(client.get(f"{BASE}files/MANIFEST.json")) == sound
    path.write_text(path.read_text().replace('"n_rows": ', '"n_rows": 1', 1))
    assert path.read_bytes() != sound
    assert client.get(f"{BASE}files/MANIFEST.json").status_code == 503


def test_the_board_of_a_release_has_its_judges_and_is_taken_away_as_a_file(
    client: Client, release: Release, world: World
) -> None:
    shown = client.get(BASE)
    of_campaign = assess(world.campaign, n_bootstraps=0).summary.human
    assert str(shown.context["human"]) == str(of_campaign)  # NaN is NaN there
    assert "each against the majority of the others" in shown.content.decode()
    for ending, first in (("csv", "model,part_in_pool,"), ("md", "| Model |"), ("tex", "\\begin")):
        sent = client.get(f"{BASE}leaderboard.{ending}?by=P@5")
        assert sent.content.decode().startswith(first)
        assert f"small-1.0.0-leaderboard.{ending}" in sent["Content-Disposition"]
    assert client.get(f"{BASE}leaderboard.exe").status_code == 404
    set_visibility(release=release, is_public=False)
    assert client.get(f"{BASE}leaderboard.csv").status_code == 404


def test_a_release_for_members_is_hidden_from_strangers_and_judges(
    client: Client, release: Release, world: World, researcher: User
) -> None:
    set_visibility(release=release, is_public=False)
    paths = ["/releases/small/", BASE, f"{BASE}archive.zip", f"{BASE}files/release.json",
             f"{BASE}datasheet/"]  # fmt: skip
    for reader in (client, signed_in(world.judges[0])):
        assert b"Small benchmark" not in reader.get("/releases/").content
        assert [reader.get(path).status_code for path in paths] == [404] * len(paths)
    assert signed_in(researcher).get(BASE).status_code == 200


@pytest.mark.parametrize(
    "path",
    ["files/../hidden/data/labels.parquet", "files/%2e%2e/small-1.0.0.zip", "files/none.txt",
     "files//etc/passwd", "pictures/" + "0" * 64],
)  # fmt: skip
def test_nothing_but_files_of_the_manifest_is_served(
    client: Client, release: Release, path: str
) -> None:
    assert client.get(BASE + path).status_code == 404


@pytest.mark.parametrize("version", ["1.0", "1.0.0.0", "01.0.0", "²", "9.9.9", "1.0.9999999"])
def test_an_unknown_version_is_not_found(client: Client, release: Release, version: str) -> None:
    assert client.get(f"/releases/small/{version}/").status_code == 404


def test_an_interrupted_download_goes_on(client: Client, release: Release) -> None:
    whole = archive_path(release).read_bytes()
    url = f"{BASE}archive.zip"
    begun = client.get(url, headers={"Range": "bytes=0-999"})
    assert begun.status_code == 206
    assert begun.headers["Content-Range"] == f"bytes 0-999/{len(whole)}"
    rest = client.get(url, headers={"Range": "bytes=1000-", "If-Range": begun.headers["ETag"]})
    assert body(begun) + body(rest) == whole
    assert Download.objects.get(path="").n == 1
    other = client.get(url, headers={"Range": "bytes=1000-", "If-Range": '"other"'})
    assert other.status_code == 200
    assert client.get(url, headers={"Range": f"bytes={len(whole)}-"}).status_code == 416
    assert client.head(url).headers["Content-Length"] == str(len(whole))
    assert client.get(url, headers={"If-None-Match": begun.headers["ETag"]}).status_code == 304
    assert Download.objects.get(path="").n == 2


@pytest.mark.parametrize("url", [f"{BASE}archive.zip", "/api/v1/releases/small/1.0.0/archive"])
def test_pages_and_api_count_the_same_downloads(client: Client, release: Release, url: str) -> None:
    """A whole file in answer to a part of another one is a download, too."""
    counts = []
    for headers in ({}, {"Range": "bytes=0-9"}, {"Range": "bytes=10-"},
                    {"Range": "bytes=10-", "If-Range": '"other"'}):  # fmt: skip
        with closing(client.get(url, headers=headers)) as answer:
            assert answer.status_code in {200, 206}
        counts.append(Download.objects.get(path="").n)
    assert counts == [1, 2, 2, 3]


def damaged_files() -> list[str]:
    """Files of releases that check_storage names; the pictures of the world are no files."""
    out = io.StringIO()
    with suppress(SystemExit):
        call_command("check_storage", "--json", stdout=out)
    found = json.loads(out.getvalue())["damages"]
    return [damage["name"] for damage in found if damage["kind"].startswith("release")]


def test_a_damaged_archive_is_never_given_away(client: Client, release: Release) -> None:
    path = archive_path(release)
    sound = path.read_bytes()
    harms: list[Callable[[], object]] = [
        lambda: path.write_bytes(sound[:-10]),
        lambda: path.write_bytes(bytes([sound[0] ^ 1]) + sound[1:]),
        path.unlink,
    ]
    for harm in harms:
        with closing(client.get(f"{BASE}archive.zip")) as answer:
            assert answer.status_code == 200
        harm()
        page = client.get(f"{BASE}archive.zip")
        assert page.status_code == 503
        assert "This file is damaged" in page.content.decode()
        answer = client.get("/api/v1/releases/small/1.0.0/archive")
        assert (answer.status_code, answer.json()["code"]) == (503, "damaged")
        part = client.get(f"{BASE}archive.zip", headers={"Range": "bytes=0-9"})
        assert part.status_code == 503
        assert damaged_files() == [path.name]
        path.write_bytes(sound)
    assert damaged_files() == []
    (files_folder(release) / "release.json").write_text("{}")
    assert client.get(f"{BASE}files/release.json").status_code == 503
    assert damaged_files() == [f"{release}: release.json"]


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("", "whole"), ("bytes=0-0", (0, 0)), ("bytes=5-", (5, 9)), ("bytes=-3", (7, 9)),
        ("bytes=-99", (0, 9)), ("bytes=-0", "unsatisfiable"), ("bytes=10-", "unsatisfiable"),
        ("bytes=2-99", (2, 9)), ("bytes=4-2", "whole"), ("bytes=0-1,3-4", "whole"),
        ("items=0-1", "whole"), ("bytes=-", "whole"),
    ],
)  # fmt: skip
def test_ranges_are_read_as_the_standard_says(asked: str, expected: object) -> None:
    assert parse_range(asked, 10) == expected


def test_only_admins_freeze(client: Client, world: World, researcher: User) -> None:
    for reader, status in ((client, 302), (signed_in(researcher), 403),
                           (signed_in(world.judges[0]), 403)):  # fmt: skip
        assert reader.get("/releases/freeze/").status_code == status
        assert reader.post("/releases/freeze/", {}).status_code == status


def form_for(world: World, **changes: object) -> dict[str, object]:
    return {"campaigns": [world.campaign.slug], "title": "Small", "slug": "small",
            "version": "1.0.0", "authors": "The curators", "label_licence": "CC-BY-4.0",
            "image_terms": "Ask", "hidden_percent": 0, "is_public": "on", **changes}  # fmt: skip


def test_an_admin_freezes_by_the_form_and_a_worker_builds_it(
    client: Client, world: World, admin: User
) -> None:
    chief = signed_in(admin)
    answer = chief.post("/releases/freeze/", form_for(world))
    assert answer.status_code == 302, answer.content.decode()
    assert b"Freeze Small 1.0.0" in chief.get("/releases/").content
    assert b"Freeze Small" not in client.get("/releases/").content
    job = Job.objects.get(task=FREEZE_TASK)
    freeze(str(job.uid))
    freeze(str(job.uid))
    job.refresh_from_db()
    assert job.state == JobState.SUCCEEDED, job.error
    assert client.get(BASE).status_code == 200
    refused = chief.post("/releases/freeze/", form_for(world)).content.decode()
    assert "a release is never changed" in refused
    shown = chief.get(f"/releases/freeze/?campaign={world.campaign.slug}").content.decode()
    assert 'value="1.1.0"' in shown
    freeze_now(request_for(world, "0.9.0"))  # an older one that comes later
    shown = chief.get(f"/releases/freeze/?campaign={world.campaign.slug}").content.decode()
    assert 'value="1.1.0"' in shown


@pytest.mark.parametrize(
    ("changes", "words"),
    [({"version": "one"}, "no version like"), ({"authors": " "}, "Say who made it"),
     ({"campaigns": []}, "This field is required"),
     ({"slug": "UPPER"}, "no short name"), ({"hidden_percent": 99}, "less than or equal to 90")],
)  # fmt: skip
def test_a_bad_form_says_what_is_wrong(
    world: World, admin: User, changes: dict[str, object], words: str
) -> None:
    page = signed_in(admin).post("/releases/freeze/", form_for(world, **changes))
    assert page.status_code == 200
    assert words in page.content.decode()
    assert not Job.objects.filter(task=FREEZE_TASK).exists()


def test_a_title_that_stands_for_authors_is_not_offered_as_one(world: World, admin: User) -> None:
    form = f"/releases/freeze/?campaign={world.campaign.slug}"
    freeze_now(request_for(world, authors=(), title="Coats, first"))
    assert signed_in(admin).get(form).context["form"].initial["authors"] == ""
    freeze_now(request_for(world, "1.1.0", authors=("Lovelace, Ada", "The Institute")))
    authors = signed_in(admin).get(form).context["form"].initial["authors"]
    assert authors == "Lovelace, Ada\nThe Institute"


def test_text_is_sent_as_utf_8_and_other_files_as_they_were(
    client: Client, release: Release, admin: User
) -> None:
    for path in ("leaderboard.csv", "leaderboard.md", "files/README.md"):
        kind = signed_in(admin).get(f"{BASE}{path}")["Content-Type"]
        assert kind.startswith("text/"), path
        assert kind.endswith("; charset=utf-8"), path
    assert client.get(f"{BASE}files/release.json")["Content-Type"] == "application/json"


def test_what_all_models_may_be_compared_by_stands_first(client: Client, release: Release) -> None:
    names = [column.name for column in client.get(BASE).context["board"].columns]
    assert names.index(EQUAL_OUTSIDER) == 0


def test_an_admin_decides_who_sees_a_release(
    client: Client, release: Release, admin: User, researcher: User
) -> None:
    url = f"{BASE}visibility/"
    assert signed_in(researcher).post(url, {"show": "members"}).status_code == 403
    assert signed_in(admin).post(url, {"show": "members"}).status_code == 302
    assert client.get(BASE).status_code == 404


def test_versions_are_shown_with_their_differences(client: Client, world: World) -> None:
    freeze_now(request_for(world, is_public=True))
    second = freeze_now(request_for(world, "1.0.1", is_public=True, changes="Typo in the title"))
    page = client.get("/releases/small/1.0.1/").content.decode()
    assert "Typo in the title" in page
    assert "Differences to the version before" in page
    assert "0 flipped" in page
    assert Path(files_folder(second)).is_dir()


def test_outsiders_see_only_the_citation_of_a_release_while_its_campaign_is_judged(
    world: World, admin: User
) -> None:
    Campaign.objects.update(state=CampaignState.OPEN)
    release = freeze_now(request_for(world, is_public=True))
    judge = User.objects.filter(role=Role.ANNOTATOR)[0]
    for outsider in (Client(), signed_in(judge)):
        page = outsider.get(BASE)
        assert page.status_code == 200
        assert release.title in page.content.decode()
        assert release.seal not in page.content.decode()
        assert outsider.get(f"{BASE}files/MANIFEST.json").status_code == 403
    assert signed_in(admin).get(BASE).context["asked_by"]
    close_campaign(campaign=world.campaign, by=None, reason="All pairs are judged.")
    assert Client().get(f"{BASE}files/MANIFEST.json").status_code == 200
    assert not signed_in(admin).get(BASE).context["asked_by"]


@pytest.mark.parametrize("content", [b"", b"{", b'{"schema_version": 7', None])
def test_a_damaged_manifest_leaves_the_citation_page_and_withholds_files(
    client: Client, release: Release, content: bytes | None
) -> None:
    path = files_folder(release) / "MANIFEST.json"
    if content is None:
        path.unlink()
    else:
        path.write_bytes(content)
    shown = client.get(BASE)
    assert (shown.status_code, shown.context["groups"]) == (200, [])
    assert "MANIFEST.json" in shown.context["damage"]
    for url in (
        f"{BASE}files/MANIFEST.json",
        f"{BASE}files/release.json",
        "/api/v1/releases/small/1.0.0",
        "/api/v1/releases/small/1.0.0/files/release.json",
    ):
        assert client.get(url).status_code == 503, url
