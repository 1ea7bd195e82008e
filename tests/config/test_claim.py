"""One server a data folder; whatever keeps a program from starting is said in one sentence."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from config.env import StartError
from config.running.claim import claim
from tests.paths import ROOT

CLAIM = """
import sys
from pathlib import Path
from config.running.claim import claim
sys.stdin.readline()
with claim(Path(sys.argv[1]), "server", port=int(sys.argv[2])):
    print("mine", flush=True)
    sys.stdin.readline()
"""


def begin(data_dir: Path, port: int) -> subprocess.Popen[str]:
    """Start a process that claims the folder as soon as it is told to."""
    return subprocess.Popen(
        [sys.executable, "-c", CLAIM, str(data_dir), str(port)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def tell(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def refusal(done: subprocess.CompletedProcess[str]) -> str:
    """What a program that did not start has said: one line, and no traceback."""
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    assert len(lines) == 1, done.stderr
    return lines[0]


@pytest.mark.parametrize(
    "program", [["-m", "config.server", "--port", "8123"], ["manage.py", "demo"]]
)
def test_a_second_server_names_the_first_and_leaves_it_alone(program, tmp_path):
    held = {"pid": os.getpid(), "port": 8077}
    with claim(tmp_path, "server", port=8077):
        said = refusal(run(*program, LOOKALIKE_DATA=str(tmp_path)))
        assert f"{tmp_path} is in use by process {os.getpid()} (port 8077)" in said
        assert json.loads((tmp_path / "run" / "server.lock").read_text()) == held
    assert not (tmp_path / "postgres").exists()  # it stopped before it started anything


def test_a_second_worker_of_a_device_is_refused(tmp_path):
    from config.running.devices import workers_for

    (worker,) = workers_for(["cpu"])
    with claim(tmp_path, worker.queue):
        program = ["-m", "config.worker", "--device", "cpu"]
        said = refusal(run(*program, LOOKALIKE_DATA=str(tmp_path)))
    assert f"in use by process {os.getpid()}:" in said


def test_of_those_started_together_one_serves_and_a_killed_one_leaves_nothing(tmp_path):
    both = [begin(tmp_path, port) for port in (8001, 8002)]
    for process in both:
        tell(process)
    first = [process.stdout.readline() for process in both]  # type: ignore[union-attr]
    assert sorted(first) == ["", "mine\n"]
    winner, refused = both[first.index("mine\n")], both[first.index("")]
    assert refused.wait(timeout=60) == 1
    assert refused.stderr is not None
    assert f"in use by process {winner.pid} (port {8001 + both.index(winner)})" in (
        refused.stderr.read()
    )
    winner.send_signal(signal.SIGKILL)
    winner.wait(timeout=60)
    with claim(tmp_path, "server", port=8003):
        assert json.loads((tmp_path / "run" / "server.lock").read_text())["port"] == 8003
    for process in both:
        process.communicate()


def test_a_folder_that_cannot_be_written_to_is_named():
    said = refusal(run("-m", "config.server", LOOKALIKE_DATA="/proc/lookalike"))
    assert "The data folder /proc/lookalike cannot be used" in said
    assert "set LOOKALIKE_DATA" in said


def test_a_full_disk_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr("config.running.claim.LEAST_BYTES", 2**62)
    with pytest.raises(StartError, match=r"is full .* make room"):
        claim(tmp_path, "server")


def test_a_database_and_a_broker_that_do_not_answer_are_named(tmp_path):
    nowhere = {
        "LOOKALIKE_DATA": str(tmp_path),
        "DATABASE_URL": "postgresql://a:secret@127.0.0.1:1/x",
    }
    said = refusal(run("-m", "config.server", **nowhere))
    assert "The database does not answer" in said
    assert "secret" not in said
    said = refusal(run("manage.py", "migrate", **nowhere))
    assert "correct DATABASE_URL" in said
    from config import embedded

    broker = embedded.service_urls(tmp_path, database_url=None, redis_url="redis://127.0.0.1:1/0")
    with pytest.raises(embedded.ServiceError, match=r"The broker does not answer.*REDIS_URL"):
        embedded.hold_services(broker)


def test_a_variable_that_cannot_be_read_is_named():
    assert "LIGHT_MEMORY_MIB must be" in refusal(run("manage.py", "help", LIGHT_MEMORY_MIB="much"))


def test_what_is_written_is_its_owners_alone(tmp_path):
    tmp_path.chmod(0o755)
    with claim(tmp_path, "server"):
        assert stat.S_IMODE(tmp_path.stat().st_mode) & 0o066 == 0
    code = (
        "from config import settings; import django; django.setup()\n"
        "from lookalike.core.atomic_files import write_atomically\n"
        "from django.core.files.storage import default_storage\n"
        "from django.core.files.base import ContentFile\n"
        "write_atomically(settings.DATA_DIR / 'a/b', lambda file: file.write(b'x'))\n"
        "default_storage.save('thumb/c', ContentFile(b'x'))\n"
        "(settings.DATA_DIR / 'd').write_text('x')\n"
    )
    done = run("-c", code, LOOKALIKE_DATA=str(tmp_path), DJANGO_SETTINGS_MODULE="config.settings")
    assert done.returncode == 0, done.stderr
    written = [path for path in tmp_path.rglob("*") if path.name != "run"]
    assert {path.name for path in written} >= {"a", "b", "c", "d", "secret-key"}
    open_to_others = [p for p in written if stat.S_IMODE(p.stat().st_mode) & 0o077]
    assert not open_to_others
