"""docs/deployment.md, "External services", from an empty machine to the first judgement.

The commands of the document are the ones that run; only names of machines and folders are
exchanged for those of this machine. The source is what the images are made of (.dockerignore).
"""

from __future__ import annotations

import http.client
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.message import EmailMessage
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.handlers import Message

from config import embedded
from tests.oidc_provider import SECRET, FakeProvider
from tests.paths import ROOT
from tests.ports import free_port, is_open
from tests.waiting import wait_until

pytestmark = [pytest.mark.install, pytest.mark.daily]

HOST = "lookalike.example.org"
NOT_FOR_THE_WEB = ("torch", "torchvision", "timm", "faiss_cpu", "numba", "scikit_learn")
CAMPAIGN = """
from accounts.models import User
from annotation.services import create_campaign, open_campaign
from catalog.models import Catalog, Image
catalog = Catalog.objects.create(slug="shoes", name="Shoes")
first, second = [Image.objects.create(catalog=catalog, sha256=letter * 64, width=9, height=9,
    image_format="PNG", n_bytes=1, perceptual_hash="0" * 16) for letter in "ab"]
campaign = create_campaign(name="Shoes", slug="shoes", pairs=[(first.pk, second.pk)],
    panel=[User.objects.get(username="ada")])
open_campaign(campaign=campaign)
print(campaign.uid)
"""


class Inbox(Message):
    """Keeps the mails that the site sends."""

    def __init__(self) -> None:
        super().__init__(EmailMessage)
        self.mails: list[EmailMessage] = []

    def handle_message(self, message: Any) -> None:
        self.mails.append(message)


@dataclass
class Visitor:
    """A browser behind the front: it speaks HTTPS, and keeps cookies."""

    port: int
    cookies: dict[str, str] = field(default_factory=dict)

    def ask(self, verb: str, path: str, body: str = "", kind: str = "") -> tuple[int, str, str]:
        """Return the status, where it leads, and the text."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        headers = {
            "Host": HOST,
            "X-Forwarded-Proto": "https",
            "X-Forwarded-For": "127.0.0.1",
            "Referer": f"https://{HOST}/",
            "Cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items()),
            "X-CSRFToken": self.cookies.get("csrftoken", ""),
            "Content-Type": kind or "application/x-www-form-urlencoded",
        }
        connection.request(verb, path, body or None, headers)
        reply = connection.getresponse()
        for value in reply.headers.get_all("Set-Cookie") or []:
            for name, morsel in SimpleCookie(value).items():
                assert morsel["secure"] or not morsel.value, name
                self.cookies[name] = morsel.value
        text = reply.read().decode()
        connection.close()
        return reply.status, reply.headers.get("Location", ""), text

    def send_form(self, path: str, **fields: str) -> tuple[int, str, str]:
        """Open a page and send the form on it."""
        assert self.ask("GET", path)[0] == 200
        return self.ask("POST", path, urlencode(fields))


def documented_commands() -> str:
    """The shell of the section, in its order."""
    document = (ROOT / "docs" / "deployment.md").read_text()
    section = document.split("\n## External services\n")[1].split("\n## ")[0]
    return "\n".join(re.findall(r"^```sh\n(.*?)^```$", section, re.DOTALL | re.MULTILINE))


@dataclass
class Machine:
    """Where the document was followed."""

    folder: Path
    environment: dict[str, str]
    inbox: Inbox
    port: int

    def run(self, script: str) -> str:
        """Run shell in the site's folder; return what it printed."""
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", script],
            cwd=self.folder, env=self.environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def with_variables(self, command: str) -> str:
        return f"set -a; . {self.folder.parent}/lookalike.env; set +a; {command}"


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    """A folder with the source alone, beside a database, a broker and a mail server."""
    top = tmp_path_factory.mktemp("machine")
    folder = top / "lookalike"
    folder.mkdir()
    names = re.findall(r"^!(\S+)$", (ROOT / ".dockerignore").read_text(), re.MULTILINE)
    for name in names:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, folder / name)
    others = embedded.service_urls(top / "services", database_url=None, redis_url=None)
    (others.data_dir / "run").mkdir(parents=True)
    inbox, kept = Inbox(), ("PATH", "HOME", "LANG", "XDG_RUNTIME_DIR")
    environment = {
        name: value for name, value in os.environ.items()
        if name in kept or name.startswith(("UV_", "PIP_", "OPENBLAS_", "SSL_", "REQUESTS_"))
    }  # fmt: skip
    environment["PATH"] = f"{Path(sys.executable).parent}:{environment['PATH']}"
    environment["PYTHON"] = sys.executable
    mail = Controller(inbox, hostname="127.0.0.1", port=free_port())
    embedded.start_services(others)
    mail.start()
    with FakeProvider() as provider:
        machine = Machine(folder, environment, inbox, free_port())
        script = documented_commands()
        for there, here in {
            "postgresql://lookalike:PASSWORD@db.example.org:5432/lookalike": others.database_url,
            "redis://broker.example.org:6379/0": others.redis_url,
            "smtp://mail.example.org:25": f"smtp://127.0.0.1:{mail.port}",
            "https://login.example.org": provider.url,
            "SECRET-OF-THE-CLIENT": SECRET,
            "/opt/lookalike": str(folder),
            "/var/lib/lookalike": str(top / "data"),
            "/etc/lookalike.env": str(top / "lookalike.env"),
        }.items():
            assert there in script, there
            script = script.replace(there, here)
        assert "example.org:" not in script
        machine.run(script)
        web = subprocess.Popen(
            ["bash", "-c", machine.with_variables("exec deploy/web")],
            cwd=folder,
            env={**environment, "HOST": "127.0.0.1", "PORT": str(machine.port),
                 "PYTHON": str(folder / ".venv/bin/python")},
            start_new_session=True,
        )  # fmt: skip
        try:
            wait_until(lambda: web.poll() is not None or is_open(machine.port), pause=0.3)
            assert web.poll() is None
            yield machine
        finally:
            os.killpg(web.pid, signal.SIGTERM)
            web.wait(60)
            mail.stop()
            embedded.stop_services(others)


def test_an_administrator_who_follows_the_document_has_a_site_on_which_somebody_judges(
    machine: Machine,
) -> None:
    packages = next((machine.folder / ".venv/lib").glob("python*/site-packages"))
    installed = {path.name.split("-")[0].lower() for path in packages.glob("*.dist-info")}
    assert "django" in installed
    assert installed.isdisjoint(NOT_FOR_THE_WEB)
    assert (machine.folder.parent / "lookalike.env").stat().st_mode & 0o777 == 0o600

    # the first admin signs in, and invites a judge by mail
    admin = Visitor(machine.port)
    password = (machine.folder / "first-password").read_text().strip()
    status, place, page = admin.send_form(
        "/accounts/login/", login="grace", password=password, remember="on"
    )
    assert (status, place) == (302, "/"), page
    status, _, page = admin.send_form(
        "/people/new/", username="emmy", email="emmy@example.org", role="annotator", sends_mail="on"
    )
    assert status == 302, page
    wait_until(lambda: bool(machine.inbox.mails))
    [mail] = machine.inbox.mails
    assert (mail["To"], mail["From"]) == ("emmy@example.org", "lookalike@example.org")
    found = re.search(rf"https://{HOST}(/\S+)", str(mail.get_payload()).replace("=\n", ""))
    assert found, mail.get_payload()
    emmy = Visitor(machine.port)
    status, place, _ = emmy.ask("GET", found[1])
    new = "a quiet green meadow"
    assert emmy.send_form(place or found[1], password1=new, password2=new)[0] == 302
    assert emmy.ask("GET", "/profile/")[0] == 200

    # another judge comes through the institution's provider, and judges the first pair
    ada = Visitor(machine.port)
    status, place, page = ada.ask("GET", "/accounts/oidc/sso/login/")
    assert status == 302, page
    status, back = follow(place)
    assert (status, urlsplit(back).netloc) == (302, HOST)
    status, place, page = ada.ask("GET", back.removeprefix(f"https://{HOST}"))
    assert (status, place) == (302, "/"), page
    shell = machine.with_variables('.venv/bin/python manage.py shell --verbosity 0 -c "$CODE"')
    machine.environment["CODE"] = CAMPAIGN
    campaign = machine.run(shell).split()[-1]
    status, _, text = ada.ask("GET", f"/judge/{campaign}/next?n=1")
    [question] = json.loads(text)["questions"]
    now = datetime.now(UTC).isoformat()
    answer = {
        "uuid": str(uuid.uuid4()), "question": question["uid"], "answer": "similar", "reason": "",
        "mode": "pair", "device": "keyboard", "guideline_version": 1, "shown_at": now,
        "decided_at": now, "visible_ms": 900, "load_ms": 5, "undoes": None,
    }  # fmt: skip
    body = json.dumps({"answers": [answer]})
    status, _, text = ada.ask("POST", f"/judge/{campaign}/answers", body, "application/json")
    assert (status, json.loads(text)["results"][0]["status"]) == (200, "saved"), text


def follow(address: str) -> tuple[int, str]:
    """Ask the provider, without following where it leads."""
    parts = urlsplit(address)
    connection = http.client.HTTPConnection(parts.netloc, timeout=30)
    connection.request("GET", f"{parts.path}?{parts.query}")
    reply = connection.getresponse()
    reply.read()
    connection.close()
    return reply.status, reply.headers.get("Location", "")
