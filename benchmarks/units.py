"""Run units of deploy/systemd where there is no systemd: by their own words, without confinement.

What is mimicked: `ExecStart`, `Environment`, a socket unit's `ListenStream` (sd_listen_fds(3)),
and what `Restart=always` does when the main process has ended: what is left of the unit is
killed, and after `RestartSec` it is started again.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import threading
import time
import uuid
from collections.abc import Mapping, Sequence
from configparser import ConfigParser
from contextlib import suppress

import psutil

from tests.paths import ROOT

UNITS = ROOT / "deploy" / "systemd"
HOME = "/opt/lookalike"
GROUP = "BENCHMARK_UNIT"  # in the environment of all that belongs to a service
LISTEN_FDS = 3  # the number of the first socket that systemd hands over
AS_SYSTEMD = (
    f"import os, sys; os.dup2(int(sys.argv[1]), {LISTEN_FDS}); "
    "os.environ.update(LISTEN_FDS='1', LISTEN_PID=str(os.getpid())); "
    "os.execv(sys.argv[2], sys.argv[2:])"
)


def read_unit(name: str) -> ConfigParser:
    """Return a unit, where each word may stand more than once: the last counts."""
    unit = ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str  # type: ignore[assignment,method-assign]
    unit.read_string((UNITS / name).read_text().replace(HOME, str(ROOT)))
    return unit


class Service:
    """A process that is kept alive."""

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        *,
        restart_after: str,
        listening: socket.socket | None = None,
    ) -> None:
        self.command = list(command)
        self.environment = {**environment, GROUP: uuid.uuid4().hex}
        self.restart_seconds = _seconds(restart_after)
        self.listening = listening
        self._is_over = threading.Event()
        self.process = self._started()
        self._keeper = threading.Thread(target=self._keep)
        self._keeper.start()

    @classmethod
    def of_unit(
        cls,
        name: str,
        environment: Mapping[str, str],
        python: str,
        listening: socket.socket | None = None,
    ) -> Service:
        """Start a unit of deploy/systemd, with this Python in the place of the installed one."""
        service = read_unit(f"{name}.service")["Service"]
        assert service["Restart"] == "always", name
        command = service["ExecStart"].replace(f"{ROOT}/.venv/bin/python", python).split()
        return cls(
            command, {**environment, "PYTHON": python}, restart_after=service["RestartSec"],
            listening=listening,
        )  # fmt: skip

    def _started(self) -> subprocess.Popen[bytes]:
        command, passed = self.command, []
        if self.listening is not None:
            passed = [self.listening.fileno()]
            command = [self.environment["PYTHON"], "-c", AS_SYSTEMD, str(passed[0]), *command]
        return subprocess.Popen(
            command, cwd=ROOT, env=self.environment, start_new_session=True, pass_fds=passed
        )

    def _keep(self) -> None:
        while True:
            self.process.wait()
            self._kill_the_rest()
            if self._is_over.wait(self.restart_seconds):
                return
            self.process = self._started()

    def processes(self) -> list[psutil.Process]:
        """Return what belongs to it, as a control group would tell."""
        found = []
        for process in psutil.process_iter():
            with suppress(psutil.Error, OSError):
                is_in_session = os.getsid(process.pid) == self.process.pid  # nginx has no environ
                if is_in_session or process.environ().get(GROUP) == self.environment[GROUP]:
                    found.append(process)
        return found

    def _kill_the_rest(self) -> None:
        """Kill what is left of the session, and wait until it is gone, as systemd does."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        while any(self._is_alive(pid) for pid in psutil.pids()):
            time.sleep(0.002)

    def _is_alive(self, pid: int) -> bool:
        """Whether a process is of its session, and no zombie."""
        with suppress(OSError, psutil.Error):
            if os.getsid(pid) == self.process.pid:
                return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
        return False

    def stop(self) -> None:
        """End it for good."""
        self._is_over.set()
        with suppress(ProcessLookupError):
            self.process.terminate()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(30)
        self._keeper.join()
        for process in self.processes():
            with suppress(psutil.Error):
                process.kill()


def _seconds(words: str) -> float:
    """Return a time span of systemd in seconds, of the two forms that our units use."""
    return float(words.removesuffix("ms")) / 1000 if words.endswith("ms") else float(words)
