"""Images are pinned by the digests that a registry gives; here a small registry of our own."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.paths import ROOT

KNOWN = {
    "library/python:3.11-slim-bookworm",
    "library/postgres:18-bookworm",
    "valkey/valkey:9-bookworm",
    "nginxinc/nginx-unprivileged:1.29-alpine",
}


class Registry(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps({"token": "t"}).encode())

    def do_HEAD(self) -> None:
        _, _, *name, _, tag = self.path.split("/")
        image = f"{'/'.join(name)}:{tag}"
        is_known = image in KNOWN and self.headers["Authorization"] == "Bearer t"
        self.send_response(200 if is_known else 404)
        self.send_header("Docker-Content-Digest", digest(image))
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


def digest(image: str) -> str:
    return f"sha256:{sha256(image.encode()).hexdigest()}"


@pytest.fixture
def registry() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Registry) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def pin(registry: str, *files: Path) -> int:
    command = [sys.executable, str(ROOT / "script" / "pin_images.py"), *map(str, files)]
    command += ["--auth", registry, "--registry", registry]
    return subprocess.run(command, check=False, capture_output=True).returncode


@pytest.fixture
def copies(tmp_path: Path) -> list[Path]:
    names = ("Dockerfile", "compose.yaml")
    return [Path(shutil.copy(ROOT / "deploy" / name, tmp_path / name)) for name in names]


def test_every_image_from_elsewhere_gets_its_digest_and_a_second_run_changes_nothing(
    registry: str, copies: list[Path]
) -> None:
    assert pin(registry, *copies) == 0
    texts = [path.read_text() for path in copies]
    for image in KNOWN:
        wanted = f"{image.removeprefix('library/')}@{digest(image)}"
        assert sum(text.count(wanted) for text in texts) == 1, image
    assert pin(registry, *copies) == 0
    assert [path.read_text() for path in copies] == texts


def test_an_unknown_tag_leaves_every_file_as_it_was(registry: str, copies: list[Path]) -> None:
    copies[1].write_text(copies[1].read_text().replace("9-bookworm", "none-such"))
    before = [path.read_bytes() for path in copies]
    assert pin(registry, *copies) == 1
    assert [path.read_bytes() for path in copies] == before
