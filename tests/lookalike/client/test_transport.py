"""Downloads that are cut, redirected or damaged; and the check of a release's files."""

from __future__ import annotations

import hashlib
import http.server
import json
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from lookalike.client import Client, ConnectionFailedError, DamagedError, Finding, verify
from lookalike.client.errors import UnexpectedAnswerError
from lookalike.client.reading import made
from lookalike.client.release_schemas import ReleaseFile
from lookalike.client.schemas import Measure, Run

CONTENT = bytes(range(256)) * 8192  # 2 MiB


@dataclass
class Served:
    """A server whose connection breaks after `cut` bytes of a body; it notes what it is asked."""

    url: str = ""
    cut: int | None = None
    content: bytes = CONTENT
    ranges: list[str | None] = field(default_factory=list)
    location: str = ""


@pytest.fixture
def served() -> Iterator[Served]:
    state = Served()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked = self.headers.get("Range")
            state.ranges.append(asked)
            if state.location:
                self.send_response(302)
                self.send_header("Location", state.location)
                self.end_headers()
                return
            start = int(asked.removeprefix("bytes=").rstrip("-")) if asked else 0
            size = len(state.content)
            self.send_response(206 if asked else 200)
            self.send_header("Content-Length", str(size - start))
            if asked:
                self.send_header("Content-Range", f"bytes {start}-{size - 1}/{size}")
            self.end_headers()
            self.wfile.write(state.content[start : state.cut])

        def log_message(self, *given: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield state
    server.shutdown()
    thread.join()
    server.server_close()


def offered(content: bytes = CONTENT) -> ReleaseFile:
    digest = hashlib.sha256(content).hexdigest()
    return ReleaseFile("", "coats-1.0.0.zip", digest, len(content), None, "/file")


def test_a_download_that_was_cut_goes_on_where_it_ended(served, tmp_path):
    client = Client(served.url, "")
    served.cut = 1_500_000
    with pytest.raises(ConnectionFailedError):
        client.download(offered(), tmp_path)
    part = tmp_path / "coats-1.0.0.zip.part"
    assert not (tmp_path / "coats-1.0.0.zip").exists()
    had = part.stat().st_size
    assert had > 0
    served.cut = None
    path = client.download(offered(), tmp_path)
    assert path.read_bytes() == CONTENT
    assert served.ranges == [None, f"bytes={had}-"]
    assert not part.exists()


def test_what_is_there_already_is_not_fetched_again(served, tmp_path):
    client = Client(served.url, "")
    client.download(offered(), tmp_path)
    client.download(offered(), tmp_path)
    assert len(served.ranges) == 1


def test_other_bytes_are_not_kept(served, tmp_path):
    served.content = CONTENT[:-1] + b"x"
    with pytest.raises(DamagedError):
        Client(served.url, "").download(offered(), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_part_that_is_too_long_is_not_kept(served, tmp_path):
    (tmp_path / "coats-1.0.0.zip.part").write_bytes(CONTENT + b"more")
    with pytest.raises(DamagedError):
        Client(served.url, "").download(offered(), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_name_from_the_site_never_leaves_the_folder(served, tmp_path):
    evil = ReleaseFile("", "../../evil.zip", offered().sha256, len(CONTENT), None, "/file")
    path = Client(served.url, "").download(evil, tmp_path / "a")
    assert path == tmp_path / "a" / "evil.zip"


def test_a_redirect_does_not_carry_the_token_away(served):
    other = "http://127.0.0.1:9/elsewhere"
    served.location = other
    with pytest.raises(UnexpectedAnswerError, match=other):
        Client(served.url, "lkl_secret").me()


# ---- the check of files ----
def release(folder: Path) -> Path:
    files = {"a.csv": b"x,y\n1,2\n", "deep/b.bin": bytes(range(256))}
    entries: dict[str, dict[str, Any]] = {}
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        digest = hashlib.sha256(content).hexdigest()
        entries[name] = {"sha256": digest, "n_bytes": len(content), "n_rows": None}
    body = {"schema_version": 1, "release": "coats", "version": "1.0.0", "files": entries}
    text = json.dumps(body, indent=1, ensure_ascii=False) + "\n"
    seal = hashlib.sha256(text.encode()).hexdigest()
    whole = json.dumps({**body, "seal": seal}, indent=1, ensure_ascii=False) + "\n"
    (folder / "MANIFEST.json").write_text(whole)
    return folder


def zipped(folder: Path, top: str) -> Path:
    path = folder.parent / f"{top or 'flat'}.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for file in sorted(folder.rglob("*")):
            if file.is_file():
                archive.write(file, Path(top) / file.relative_to(folder))
    return path


def test_a_whole_release_has_no_findings(tmp_path):
    folder = release(tmp_path / "r")
    assert verify(folder) == []
    assert verify(zipped(folder, "coats-1.0.0")) == []
    assert verify(zipped(folder, "")) == []


def test_every_difference_is_named(tmp_path):
    folder = release(tmp_path / "r")
    (folder / "a.csv").write_bytes(b"x,y\n1,3\n")
    (folder / "deep" / "b.bin").unlink()
    (folder / "new.txt").write_text("")
    wanted = [
        Finding("new.txt", "not in the manifest"),
        Finding("a.csv", "other bytes"),
        Finding("deep/b.bin", "missing"),
    ]
    assert verify(folder) == wanted
    assert verify(zipped(folder, "top")) == wanted


@pytest.mark.parametrize("name", ["a.csv", "deep/b.bin"])
def test_one_flipped_bit_is_found(tmp_path, name):
    folder = release(tmp_path / "r")
    content = bytearray((folder / name).read_bytes())
    content[3] ^= 1
    (folder / name).write_bytes(content)
    assert verify(folder) == [Finding(name, "other bytes")]


def test_a_changed_or_missing_manifest_is_refused(tmp_path):
    folder = release(tmp_path / "r")
    manifest = folder / "MANIFEST.json"
    manifest.write_text(manifest.read_text().replace("1.0.0", "1.0.1"))
    with pytest.raises(DamagedError, match="seal"):
        verify(folder)
    manifest.unlink()
    with pytest.raises(DamagedError, match="no release"):
        verify(folder)
    (tmp_path / "x.zip").write_bytes(b"PK\x03\x04 not really")
    with pytest.raises(DamagedError, match="cannot be opened"):
        verify(tmp_path / "x.zip")


# ---- reading answers ----
def test_new_fields_are_left_out_and_missing_ones_named():
    data: dict[str, object] = {"value": 1, "n_defined": None, "low": None, "high": 0.5}
    data |= {"n_units": 7, "no_interval": "", "new": [1]}
    assert made(Measure, data) == Measure(1.0, None, None, 0.5, 7, "")
    with pytest.raises(UnexpectedAnswerError, match=r"Measure.*n_defined"):
        made(Measure, {"value": 1.0})
    with pytest.raises(UnexpectedAnswerError, match="Run"):
        made(Run, {"uid": 3})
