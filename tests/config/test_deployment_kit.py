"""deploy/: what can be said of images, services and units without an engine to run them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from configparser import ConfigParser
from pathlib import Path
from typing import Any

import compose_spec
import pytest

from config import settings
from config.web import write_to_the_data_folder
from tests.paths import ROOT

KIT = ROOT / "deploy"
UNITS = sorted((KIT / "systemd").glob("*.service"))
VARIABLE = re.compile(r"(?<!\$)\$\{(\w+)(:\?[^}]*)?\}")
ONCE = {"setup"}  # ends, and has nothing to be asked about


@pytest.fixture(scope="module")
def services() -> dict[str, dict[str, Any]]:
    """The services of the compose file, read by the specification's own rules."""
    options = compose_spec.PyOptions()
    options.apply_merge = True
    composed = options.from_yaml((KIT / "compose.yaml").read_text())
    composed.validate()
    found: dict[str, dict[str, Any]] = composed.to_dict()["services"]
    return found


def test_the_compose_file_has_what_a_site_consists_of(services: dict[str, dict[str, Any]]) -> None:
    assert set(services) == {"front", "setup", "web", "light", "device", "postgres", "valkey"}
    assert [name for name, service in services.items() if "ports" in service] == ["front"]


def test_every_service_is_confined_and_watched(services: dict[str, dict[str, Any]]) -> None:
    for name, service in services.items():
        assert service["read_only"], name
        assert service["cap_drop"] == ["ALL"], name
        assert service["security_opt"] == ["no-new-privileges:true"], name
        assert service["tmpfs"], name
        is_ours = service["image"].startswith("lookalike-")  # the Dockerfile says who runs it
        assert is_ours or service["user"] not in {"root", "0"}, name
        is_watched = "test" in service.get("healthcheck", {}) or service["image"] == "lookalike-web"
        assert name in ONCE or is_watched, name  # the web image brings its check


def test_every_service_has_a_bound_on_memory_processors_and_processes(
    services: dict[str, dict[str, Any]],
) -> None:
    for name, service in services.items():
        limits = service["deploy"]["resources"]["limits"]
        assert set(limits) == {"memory", "cpus", "pids"}, name
        assert float(limits["cpus"]) <= 2, name  # engines refuse more than the machine has
        if service["image"].startswith("lookalike-"):
            assert all("size=" in mount for mount in service["tmpfs"]), name


def test_no_secret_has_a_default_and_each_is_asked_for() -> None:
    text = (KIT / "compose.yaml").read_text()
    used = VARIABLE.findall(text)
    asked_for = {name for name, demand in used if demand}
    assert {name for name, _ in used} == asked_for
    assert ":-" not in text
    example = dict(
        line.split("=", 1)
        for line in (KIT / ".env.example").read_text().splitlines()
        if not line.startswith("#")
    )
    assert set(example) == asked_for
    assert set(example.values()) == {""}


def test_the_settings_know_every_variable_that_the_services_set(
    services: dict[str, dict[str, Any]],
) -> None:
    read = "".join(path.read_text() for path in (ROOT / "config").rglob("*.py"))
    for name in services["web"]["environment"]:
        assert f'"{name}"' in read, name


def test_the_images_are_made_as_hadolint_wants_and_of_files_that_are_sent() -> None:
    linted = subprocess.run(
        [Path(sys.executable).with_name("hadolint"), KIT / "Dockerfile"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert linted.returncode == 0, linted.stdout
    text = (KIT / "Dockerfile").read_text()
    assert (
        'HEALTHCHECK --interval=15s --timeout=6s --start-period=30s CMD ["deploy/answers"]' in text
    )
    for stage in text.split("FROM ")[-2:]:  # the two images
        assert "USER 10001:10001" in stage
    sent = {
        line.removeprefix("!")
        for line in (ROOT / ".dockerignore").read_text().splitlines()
        if line.startswith("!")
    }
    copied = re.findall(r"^COPY (?!--from)(.*) /app", text, re.MULTILINE)
    needed = {name.split("/")[0] for names in copied for name in names.split()} - {"."}
    apps = {path.parent.name for path in ROOT.glob("*/apps.py")} | {"config", "api", "lookalike"}
    assert needed | apps | {"templates", "static", "manage.py"} <= sent
    assert all((ROOT / name).exists() for name in sent)
    assert not sent & {"var", ".venv", ".git", "tests"}
    kept_back = (ROOT / ".dockerignore").read_text().split("!templates")[1].split()
    assert {"deploy/.env", "deploy/*.env", "deploy/tls"} <= set(kept_back)


@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.stem)
def test_a_unit_is_confined_and_starts_what_exists(path: Path, tmp_path: Path) -> None:
    unit = ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str  # type: ignore[assignment,method-assign]
    unit.read(path)
    service = unit["Service"]
    assert service["UMask"] == "0077"
    assert service["NoNewPrivileges"] == "true"
    assert service["User"] != "root"
    program = service["ExecStart"].split()[0].removeprefix("/opt/lookalike/")
    assert (ROOT / program).exists()
    if shutil.which("systemd-analyze"):
        for one in (*UNITS, *path.parent.glob("*.socket")):
            here = tmp_path / one.name
            here.write_text(one.read_text().replace("/opt/lookalike", str(ROOT)))
        checked = subprocess.run(
            ["systemd-analyze", "verify", "--man=no", tmp_path / path.name],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert path.name not in checked.stderr, checked.stderr


@pytest.mark.parametrize(
    ("began", "ends"),
    [("exec", "--host 0.0.0.0 --port 8000"), ("LISTEN_PID=1 exec", "--host 0.0.0.0 --port 8000"),
     ("LISTEN_FDS=1 LISTEN_PID=$$ exec", "--socket 3")],
)  # fmt: skip
def test_the_web_process_takes_the_socket_that_is_meant_for_it(began: str, ends: str) -> None:
    environment = {"PATH": os.environ["PATH"], "PYTHON": "echo"}
    told = subprocess.run(
        ["sh", "-c", f"{began} {KIT}/web"], capture_output=True, text=True, check=True,
        env=environment,
    )  # fmt: skip
    assert told.stdout.strip() == f"-m config.web {ends}"


def test_long_bodies_wait_on_the_data_folders_disk(monkeypatch, settings, tmp_path: Path) -> None:
    """In containers /tmp is memory, which strangers could fill with forms that they send."""
    settings.DATA_DIR = tmp_path
    monkeypatch.delenv("TMPDIR", raising=False)
    monkeypatch.setattr("tempfile.tempdir", None)
    write_to_the_data_folder()
    assert tempfile.gettempdir() == str(tmp_path / "uploads")
    monkeypatch.setenv("TMPDIR", "/tmp")  # noqa: S108
    monkeypatch.setattr("tempfile.tempdir", None)
    write_to_the_data_folder()
    assert tempfile.gettempdir() == "/tmp"  # noqa: S108


def test_the_document_names_every_variable_that_the_settings_read() -> None:
    source = (ROOT / "config" / "settings.py").read_text() + (
        ROOT / "config" / "storage.py"
    ).read_text()
    read = set(re.findall(r'env\.\w+\(\s*"([A-Z][A-Z0-9_]+)"', source))
    document = (ROOT / "docs" / "deployment.md").read_text()
    ours = {name for name in read if not name.startswith("LOOKALIKE_WORKER")}
    assert "X_ACCEL_PREFIX" in ours
    assert [name for name in sorted(ours) if f"`{name}`" not in document] == []
    assert settings.X_ACCEL_PREFIX == ""


def test_setup_installs_nothing_where_a_link_leads(tmp_path: Path) -> None:
    for name in ("script/setup", "requirements.txt", "constraints.txt", "pyproject.toml"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    elsewhere = tmp_path / "elsewhere" / "bin"
    elsewhere.mkdir(parents=True)
    (elsewhere / "python").write_text("#!/bin/sh\nexit 9\n")
    (elsewhere / "python").chmod(0o700)
    (tmp_path / ".venv").symlink_to(elsewhere.parent)
    refused = subprocess.run(
        ["bash", tmp_path / "script" / "setup"],
        capture_output=True, text=True, check=False, env={**os.environ, "PYTHON": sys.executable},
    )  # fmt: skip
    assert refused.returncode == 1
    assert refused.stderr == ".venv is a link: remove it, or install where it leads to.\n"
    assert [path.name for path in elsewhere.parent.iterdir()] == ["bin"]
