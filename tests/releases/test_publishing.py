"""Deposits and pushes against stand-ins that speak the APIs of Zenodo and the Hub."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from annotation.models import Campaign
from lookalike.release.verify import verify
from releases.blindness.images import campaigns_asking
from releases.models import Release, Visibility
from releases.storage import archive_path, files_folder

DOI = "10.5281/zenodo.4711"
REPO = "museum/small"


class StandIn(ThreadingHTTPServer):
    """Both services; it remembers what came."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.came: list[tuple[str, str, str]] = []  # method, path, authorization
        self.files: dict[str, bytes] = {}
        self.metadata: dict[str, Any] = {}
        self.commit: dict[str, bytes] = {}
        self.deleted: list[str] = []
        self.refuses = ""  # the end of a path
        self.bucket = ""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    server: StandIn

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "") == "chunked":
            parts = []
            while size := int(self.rfile.readline(), 16):
                parts.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            return b"".join(parts)
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def do(self) -> None:
        content, path = self.body(), self.path.partition("?")[0]
        self.server.came.append((self.command, path, self.headers.get("Authorization", "")))
        if self.server.refuses and path.endswith(self.server.refuses):
            self.say({"message": "no room"}, 507)
            return
        self.say(self.answer(path, content))

    do_GET = do_POST = do_PUT = do  # noqa: N815

    def say(self, content: object, status: int = 200) -> None:
        data = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def answer(self, path: str, content: bytes) -> object:  # noqa: PLR0911
        server = self.server
        if path == "/api/deposit/depositions":
            server.metadata = json.loads(content)["metadata"]
            bucket = server.bucket or f"{server.url}/api/files/b"
            return {"id": 4711, "links": {"bucket": bucket},
                    "metadata": {"prereserve_doi": {"doi": DOI, "recid": 4711}}}  # fmt: skip
        if path.startswith("/api/files/b/"):
            server.files[path.rpartition("/")[2]] = content
            return {"key": path}
        if path.endswith("/actions/publish"):
            return {"doi": DOI, "links": {"html": f"{server.url}/records/4711"}}
        if path == "/api/repos/create":
            return {"url": f"{server.url}/datasets/{REPO}", "id": "1", "name": REPO}
        if path.endswith("/preupload/main"):
            asked = json.loads(content)["files"]
            return {"files": [{"path": one["path"], "uploadMode": "regular", "shouldIgnore": False}
                              for one in asked]}  # fmt: skip
        if path.endswith("/tree/main"):  # what an earlier version left there
            return [{"type": "file", "path": "old/table.parquet", "oid": "0" * 40, "size": 1}]
        if path.endswith("/commit/main"):
            for line in map(json.loads, content.splitlines()):
                if line["key"] == "deletedFile":
                    server.deleted.append(line["value"]["path"])
                if line["key"] == "file":
                    server.commit[line["value"]["path"]] = base64.b64decode(
                        line["value"]["content"]
                    )
            return {"commitUrl": f"{server.url}/datasets/{REPO}/commit/1", "commitOid": "1" * 40}
        return {"errors": [], "warnings": [], "sha": "0" * 40, "siblings": [], "id": REPO}


@pytest.fixture
def stand_in(settings: Any) -> Iterator[StandIn]:
    server = StandIn()
    settings.ZENODO_URL = settings.HUB_URL = server.url
    settings.ZENODO_TOKEN, settings.HUB_TOKEN = "zenodo-token", "hf_token"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


def run(*words: str) -> None:
    call_command(*words)


def test_a_deposit_is_published_and_its_doi_comes_back(
    release: Release, stand_in: StandIn, client: Client
) -> None:
    release.info["authors"] = ["Lovelace, Ada 0000-0002-1825-0097", "The Institute"]
    release.save()
    before = archive_path(release).read_bytes()
    run("deposit_release", "small", "1.0.0")
    assert (
        stand_in.files[archive_path(release).name] == before == archive_path(release).read_bytes()
    )
    assert f'doi: "{DOI}"' in stand_in.files["CITATION.cff"].decode()
    assert stand_in.metadata["creators"] == [
        {"name": "Lovelace, Ada", "orcid": "0000-0002-1825-0097"}, {"name": "The Institute"}
    ]  # fmt: skip
    assert stand_in.metadata["license"] == "cc-by-4.0"
    assert stand_in.came[-1][:2] == ("POST", "/api/deposit/depositions/4711/actions/publish")
    assert {token for *_, token in stand_in.came} == {"Bearer zenodo-token"}
    release.refresh_from_db()
    assert release.doi == DOI
    page = "/releases/small/1.0.0/"
    assert client.get(f"{page}CITATION.cff").content == stand_in.files["CITATION.cff"]
    assert f"https://doi.org/{DOI}" in client.get(page).content.decode()
    assert client.get("/api/v1/releases/small/1.0.0").json()["doi"] == DOI
    assert verify(files_folder(release)).is_right  # what is sealed stays as it was
    with pytest.raises(CommandError, match="deposited already"):
        run("deposit_release", "small", "1.0.0")


def test_a_deposit_that_fails_leaves_no_doi_and_names_the_answer(
    release: Release, stand_in: StandIn, settings: Any
) -> None:
    stand_in.refuses = archive_path(release).name
    with pytest.raises(CommandError, match=r"507.*no room"):
        run("deposit_release", "small", "1.0.0")
    stand_in.refuses, stand_in.bucket = "", "http://127.0.0.1:1/elsewhere"
    with pytest.raises(CommandError, match="on another site"):
        run("deposit_release", "small", "1.0.0")
    settings.ZENODO_URL = "http://127.0.0.1:1"
    with pytest.raises(CommandError, match="cannot be used"):
        run("deposit_release", "small", "1.0.0")
    settings.ZENODO_TOKEN = None
    with pytest.raises(CommandError, match="ZENODO_TOKEN"):
        run("deposit_release", "small", "1.0.0")
    release.refresh_from_db()
    assert release.doi == ""
    assert not [path for _, path, _ in stand_in.came if path.endswith("publish")]


def test_what_is_pushed_is_the_sealed_release_under_a_tag(
    release: Release, stand_in: StandIn, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run("push_release", "small", "1.0.0", REPO)
    for path, content in stand_in.commit.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(content)
    assert verify(tmp_path).is_right
    assert stand_in.deleted == ["old/table.parquet"]
    assert "configs:" in stand_in.commit["README.md"].decode()
    assert ("POST", f"/api/datasets/{REPO}/tag/{'1' * 40}") in [one[:2] for one in stand_in.came]
    assert {token for *_, token in stand_in.came} == {"Bearer hf_token"}
    assert f"/datasets/{REPO}/tree/v1.0.0" in capsys.readouterr().out


def test_a_dry_run_sends_nothing_and_says_what_would_be_sent(
    release: Release, stand_in: StandIn, capsys: pytest.CaptureFixture[str]
) -> None:
    run("deposit_release", "small", "1.0.0", "--dry-run")
    run("push_release", "small", "1.0.0", REPO, "--dry-run")
    said = capsys.readouterr().out
    for words in ("The curators", "small-1.0.0.zip", "data/qrels.parquet", "v1.0.0"):
        assert words in said
    assert stand_in.came == []


@pytest.mark.parametrize("how", ["members", "asked", "damaged", "absent", "name"])
def test_nothing_leaves_the_site_that_not_everybody_may_have(
    release: Release, stand_in: StandIn, how: str
) -> None:
    version, repo, message = "1.0.0", REPO, ""
    if how == "members":
        Release.objects.update(visibility=Visibility.MEMBERS)
        message = "for members alone"
    elif how == "asked":
        Campaign.objects.update(state="open")
        assert campaigns_asking(release)
        message = "is withheld while judges of"
    elif how == "damaged":
        (files_folder(release) / "README.md").write_text("mine")
        message = "is damaged: README.md"
    elif how == "absent":
        version, message = "9.0.0", "no release"
    else:
        repo, message = "../etc", "no name like"
    for words in (["deposit_release"], ["push_release", repo]):
        if how == "name" and words[0] == "deposit_release":
            continue
        for dry in ([], ["--dry-run"]):
            with pytest.raises(CommandError, match=message):
                run(words[0], "small", version, *words[1:], *dry)
    assert stand_in.came == []
