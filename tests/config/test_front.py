"""deploy/nginx.conf: accepted by nginx itself, and a real site behind it."""

from __future__ import annotations

import hashlib
import os
import select
import socket
import socketserver
import struct
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar
from urllib.parse import quote

import pytest
from django.db import connection

from releases.models import Release, Visibility
from tests.front import SITE, Front, run_front
from tests.paths import ROOT
from tests.ports import free_port
from tests.waiting import wait_until

GUARDS = (
    *("Content-Security-Policy", "X-Content-Type-Options", "Strict-Transport-Security"),
    *("Referrer-Policy", "Permissions-Policy", "X-Frame-Options"),
)
STALLED = 60  # bodies that never come: more than the site has threads


class Echo(BaseHTTPRequestHandler):
    """Says which headers arrived, and keeps what is sent."""

    taken: ClassVar[list[bytes]] = []

    def do_POST(self) -> None:
        self.taken.append(self.rfile.read(int(self.headers["Content-Length"])))
        self.do_GET()

    def do_GET(self) -> None:
        body = str(self.headers).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: object) -> None:
        pass


@pytest.fixture
def echo_front(tmp_path: Path) -> Iterator[Front]:
    """The front before a server that says what it was sent."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Echo) as server:
        threading.Thread(target=server.serve_forever).start()
        with run_front(Front(tmp_path, f"127.0.0.1:{server.server_port}", tmp_path)) as front:
            yield front
        server.shutdown()


def test_what_a_client_says_of_itself_is_replaced(echo_front: Front) -> None:
    reply = echo_front.ask("GET", "/", X_Forwarded_For="6.6.6.6", X_Forwarded_Proto="http")
    sent = dict(line.split(": ", 1) for line in reply.content.decode().splitlines() if line)
    assert sent["X-Forwarded-For"] == "127.0.0.1"
    assert sent["X-Forwarded-Proto"] == "https"
    assert sent["Host"] == SITE
    assert len(sent["X-Request-ID"]) == 32
    with pytest.raises(urllib.error.HTTPError) as moved:
        urllib.request.build_opener(Stay).open(f"http://127.0.0.1:{echo_front.http}/judge/")
    assert (moved.value.code, moved.value.headers["Location"]) == (301, f"https://{SITE}/judge/")
    moved.value.close()


def test_nginxs_own_answers_have_the_headers_that_guard_pages(echo_front: Front) -> None:
    refused = echo_front.ask("POST", "/accounts/login/", Content_Length="2000000")
    assert refused.status == 413
    for name in GUARDS[:3]:
        assert len(refused.headers.get_all(name) or []) == 1, name


def test_one_network_is_limited_and_says_when_to_come_back(echo_front: Front) -> None:
    """More sign-ins at once than an institute makes, on few connections."""
    statuses = []
    for _ in range(10):
        connection = echo_front.connection()
        for _ in range(40):
            connection.request("GET", "/accounts/login/")
            reply = connection.getresponse()
            reply.read()
            statuses.append(reply.status)
        connection.close()
    assert set(statuses) == {200, 429}
    assert statuses[:200] == [200] * 200
    assert echo_front.ask("GET", "/judge/").status == 200  # another allowance


def test_bodies_that_wait_in_the_front_take_no_disk(echo_front: Front) -> None:
    assert echo_front.ask("POST", "/judge/x/answers", bytes(300_000)).status == 413
    assert echo_front.ask("POST", "/judge/x/answers", bytes(250_000)).status == 200
    assert echo_front.ask("POST", "/accounts/login/", bytes(60_000)).status == 200
    held = (echo_front.folder / "uploads").rglob("*")
    assert [path for path in held if path.is_file()] == []


def serve(server: socketserver.BaseServer) -> None:
    """Answer until it is shut down, or this process ends."""
    threading.Thread(target=server.serve_forever, args=[0.01], daemon=True).start()


class Names(socketserver.BaseRequestHandler):
    """A name server that knows one name, and where its machines are just now."""

    addresses: ClassVar[list[str]] = []

    def handle(self) -> None:
        query, asking = self.request
        question = query[12 : query.index(0, 12) + 5]
        answers = [
            b"\xc0\x0c\0\1\0\1\0\0\0\0\0\4" + socket.inet_aton(one) for one in self.addresses
        ]
        head = query[:2] + struct.pack("!HHHHH", 0x8180, 1, len(answers), 0, 0)
        asking.sendto(head + question + b"".join(answers), self.client_address)


def test_where_one_web_process_is_away_the_other_answers_each_request_once(tmp_path: Path) -> None:
    """As in compose.yaml: two containers of one name, whose addresses change."""

    def web(address: str, port: int = 0) -> ThreadingHTTPServer:
        server = ThreadingHTTPServer((address, port), Echo)
        serve(server)
        return server

    def stop(server: ThreadingHTTPServer) -> None:
        server.shutdown()
        server.server_close()

    Echo.taken.clear()
    first = web("127.0.0.2")
    port = first.server_port
    second = web("127.0.0.3", port)
    with socketserver.ThreadingUDPServer(("127.0.0.1", 0), Names) as names:
        serve(names)
        Names.addresses = ["127.0.0.2", "127.0.0.3"]
        resolver = f"resolver 127.0.0.1:{names.server_address[1]} valid=1s ipv6=off;"
        wanted = Front(tmp_path, f"web:{port} resolve", tmp_path, resolver)
        with run_front(wanted) as front:
            wait_until(lambda: front.ask("GET", "/").status == 200)
            stop(first)
            sent = [b"answer %d" % n for n in range(20)]
            assert {front.ask("POST", "/judge/", body=one).status for one in sent} == {200}
            assert sorted(Echo.taken) == sorted(sent)
            stop(second)  # and both come back elsewhere
            third = web("127.0.0.4", port)
            Names.addresses = ["127.0.0.4"]
            wait_until(lambda: front.ask("GET", "/").status == 200)
            stop(third)
        names.shutdown()


class Stay(urllib.request.HTTPRedirectHandler):
    """Follows no redirect."""

    def redirect_request(self, *arguments: object) -> None:
        return None


@pytest.fixture
def front(transactional_db: None, tmp_path: Path, settings) -> Iterator[Front]:
    """The front before the site's web process, as the images start it."""
    port, data = free_port(), Path(settings.DATA_DIR)
    host = quote(str(connection.settings_dict["HOST"]))
    environment = {
        "DATABASE_URL": f"postgresql://postgres@/{connection.settings_dict['NAME']}?host={host}",
        "HOST": "127.0.0.1", "PORT": str(port), "PYTHON": sys.executable, "LOG_LEVEL": "ERROR",
        "ALLOWED_HOSTS": SITE, "PUBLIC_URL": f"https://{SITE}", "BEHIND_PROXY": "1",
        "X_ACCEL_PREFIX": "/data/",
    }  # fmt: skip
    web = subprocess.Popen(
        [ROOT / "deploy" / "web"], env={**os.environ, **environment}, start_new_session=True
    )
    check = [sys.executable, str(ROOT / "deploy" / "answers")]
    wait_until(
        lambda: subprocess.run(
            check, env={**os.environ, **environment}, capture_output=True, check=False
        ).returncode == 0,
        pause=0.5,
    )  # fmt: skip
    with run_front(Front(tmp_path, f"127.0.0.1:{port}", data / "releases")) as front:
        yield front
    web.terminate()
    web.wait(60)


def send_upload(front: Front, n_bytes: int) -> tuple[bytes, int, int]:
    """Send a form of so many bytes until there is an answer, or the end.

    Returns:
        The answer's first line, how many bytes were sent, and how many the front has on its disk.
    """
    plain = socket.create_connection(("127.0.0.1", front.https), timeout=60)
    with front.trust.wrap_socket(plain, server_hostname=SITE) as secure:
        head = (
            f"POST /catalogs/new/ HTTP/1.1\r\nHost: {SITE}\r\nContent-Length: {n_bytes}\r\n"
            f"Cookie: csrftoken={'c' * 32}\r\nReferer: https://{SITE}/\r\n"
            "Content-Type: multipart/form-data; boundary=b\r\n\r\n"
            '--b\r\nContent-Disposition: form-data; name="upload"; filename="a.zip"\r\n\r\n'
        )
        secure.sendall(head.encode())
        n_sent = 0
        while n_sent < n_bytes - 2**20 and not select.select([secure], [], [], 0.01)[0]:
            secure.sendall(bytes(2**20))
            n_sent += 2**20
        held = (front.folder / "uploads").rglob("*")
        n_kept = sum(path.stat().st_size for path in held if path.is_file())
        return secure.recv(4096).split(b"\r\n")[0], n_sent, n_kept


def test_a_site_behind_the_front(front: Front, settings) -> None:
    page = front.ask("GET", "/accounts/login/")
    assert page.status == 200
    assert "Secure" in str(page.headers["Set-Cookie"])
    assert "max-age" in str(page.headers["Strict-Transport-Security"])

    # a body that is too large is refused before it is read
    assert front.ask("POST", "/accounts/login/", Content_Length="2000000").status == 413

    # of a stranger's upload nothing is kept: the site refuses it when it begins
    reply, n_sent, n_kept = send_upload(front, 200 * 2**20)
    assert b" 413 " in reply
    assert n_sent < 100 * 2**20
    assert n_kept == 0

    # bodies that never come wait in the front, and hold no thread of the site
    stalled = []
    for _ in range(STALLED):
        plain = socket.create_connection(("127.0.0.1", front.https), timeout=60)
        secure = front.trust.wrap_socket(plain, server_hostname=SITE)
        secure.sendall(
            f"POST /accounts/login/ HTTP/1.1\r\nHost: {SITE}\r\nCookie: csrftoken={'c' * 32}\r\n"
            "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 60000\r\n\r\na="
            .encode()
        )  # fmt: skip
        stalled.append(secure)
    time.sleep(0.5)
    assert front.ask("GET", "/accounts/login/").status == 200
    for connected in stalled:
        connected.close()

    # the front sends the files of releases, when the site says so and not otherwise
    release = Release.objects.create(
        slug="small", title="Small", major=1, minor=0, patch=0, visibility=Visibility.PUBLIC,
        info={}, statistics={}, results={}, archive_bytes=11,
        archive_sha256=hashlib.sha256(b"the archive").hexdigest(),
    )  # fmt: skip
    archive = Path(settings.DATA_DIR) / "releases/small/1.0.0/small-1.0.0.zip"
    archive.parent.mkdir(parents=True, exist_ok=True)
    archive.write_bytes(b"the archive")
    address = f"/releases/{release.slug}/{release.version}/archive.zip"
    whole = front.ask("GET", address)
    assert (whole.status, whole.content) == (200, b"the archive")
    assert "small-1.0.0.zip" in str(whole.headers["Content-Disposition"])
    part = front.ask("GET", address, Range="bytes=4-6")
    assert (part.status, part.content) == (206, b"arc")
    for answer in (page, whole, part):
        assert {name: answer.headers.get_all(name) for name in GUARDS} == {
            name: page.headers.get_all(name) for name in GUARDS
        }
        assert all(page.headers.get_all(name) for name in GUARDS)
    assert front.ask("GET", "/data/releases/small/1.0.0/small-1.0.0.zip").status == 404
    Release.objects.update(visibility=Visibility.MEMBERS)
    assert front.ask("GET", address).status != 200
