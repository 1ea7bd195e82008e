"""Run the whole site: `python -m config.server [--host H] [--port N]`.

supervisord keeps the web server and the workers alive; this process keeps the embedded
PostgreSQL and Valkey alive, and stops everything when it is told to stop. Web processes load
while database and static files are made ready, and workers once they are.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import FrameType

import psutil
import psycopg
import redis

from config import embedded, settings
from config.env import StartError
from config.running.claim import claim
from config.running.devices import DeviceWorker, workers_for
from config.running.processes import MARK, is_web, marked_processes
from config.running.when_prepared import PREPARED, ROOM
from config.web import listening_socket

LOOK_SECONDS = 0.2  # whether the embedded services' processes live
CHECK_SECONDS = 2.0  # whether they answer
FAILS_TO_START_SECONDS = 10.0  # a supervisor that ends sooner will not run
WEB_PROCESSES = 2
SERVICE_PROBLEMS = (
    *(embedded.ServiceError, OSError, subprocess.SubprocessError),  # OSError: a full disk
    *(redis.RedisError, psycopg.Error),
)
SOCKET = 512  # its number in every process: supervisord closes those below


@dataclass(frozen=True)
class Program:
    """A process that the supervisor keeps alive."""

    name: str
    command: str
    environment: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of_worker(cls, worker: DeviceWorker) -> Program:
        """Return the program of a device worker."""
        return cls(worker.queue, worker.command, worker.environment)

    @property
    def when_there_is_room(self) -> Program:
        """The same, started once the site is prepared and its disk has room."""
        waits = (
            f"{sys.executable} -P {settings.BASE_DIR}/config/running/when_prepared.py "
            f"{settings.DATA_DIR}"
        )
        return replace(self, command=f"{waits} {self.command}")

    @property
    def section(self) -> str:
        """Its part of the supervisor's configuration."""
        environment = ",".join(f'{name}="{value}"' for name, value in self.environment.items())
        return (
            f"[program:{self.name}]\ncommand={self.command}\ndirectory={settings.BASE_DIR}\n"
            f"environment={environment}\nautorestart=true\nstartretries=100\nstartsecs=2\n"
            "stopasgroup=true\nkillasgroup=true\nstopwaitsecs=20\nstdout_logfile=/dev/fd/1\n"
            "stdout_logfile_maxbytes=0\nredirect_stderr=true\n"
        )


def _programs() -> list[Program]:
    """Return what a whole site consists of, beside the embedded services."""
    binaries = Path(sys.executable).parent
    web = f"{sys.executable} -m config.web --socket {SOCKET}"
    light = (
        f"{binaries}/celery --quiet -A config worker --loglevel warning --queues light "
        f"--concurrency 2 --hostname light@%%h --beat --schedule {settings.DATA_DIR}/run/beat"
    )
    workers = [Program("light", light), *map(Program.of_worker, workers_for([]))]
    return [
        *(Program(f"web-{number}", web) for number in range(1, WEB_PROCESSES + 1)),
        *(worker.when_there_is_room for worker in workers),
    ]


def supervise(
    programs: Sequence[Program],
    mark: str,
    listening: socket.socket | None = None,
    preparation: Preparation | None = None,
) -> int:
    """Keep the programs and the embedded services alive until told to stop.

    Args:
        programs: what to run.
        mark: sets these processes apart from those of another supervisor.
        listening: a socket that the programs inherit as number SOCKET. It stays open here, so
            that nobody is refused while the processes that accept from it are replaced.
        preparation: of the site; the programs load meanwhile, and wait for it.

    Raises:
        StartError: the site could not be prepared, which has said why.
    """
    run_dir = settings.DATA_DIR / "run"
    run_dir.mkdir(parents=True, exist_ok=True)  # nobody has where all services are given by URL
    head = (
        "[supervisord]\nnodaemon=true\nlogfile=/dev/null\nlogfile_maxbytes=0\n"
        f"pidfile={run_dir}/supervisord-{os.getpid()}.pid\nloglevel=warn\nuser={os.getuid()}\n"
        f"minfds={SOCKET}\n"
    )
    configuration = run_dir / f"supervisord-{os.getpid()}.conf"
    configuration.write_text("\n".join([head, *(program.section for program in programs)]))
    inherited = []
    if listening is not None:
        os.dup2(listening.fileno(), SOCKET)
        inherited = [SOCKET]

    def started_supervisor() -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-m", "supervisor.supervisord", "-c", str(configuration)],
            env={**os.environ, MARK: mark},
            start_new_session=True,  # Ctrl-C comes to us alone, we pass it on
            pass_fds=inherited,
        )

    supervisor = started_supervisor()
    is_told_to_stop = False

    def stop(_signal: int, _frame: FrameType | None) -> None:
        nonlocal is_told_to_stop
        is_told_to_stop = True
        supervisor.terminate()
        if preparation is not None:
            preparation.stop()

    signal.signal(signal.SIGINT, stop)
    signal.signal(signal.SIGTERM, stop)
    try:
        if preparation is not None:
            preparation.finish()
        while not is_told_to_stop:
            began = time.monotonic()
            _keep_services_while(supervisor)
            is_quick = time.monotonic() - began < FAILS_TO_START_SECONDS
            if is_told_to_stop or (is_quick and not _is_disk_full()):
                break
            if is_quick:
                time.sleep(CHECK_SECONDS)
            stop_leftovers(
                mark, keeps_web=True
            )  # it was killed; others will relieve those (config.web)
            supervisor = started_supervisor()
    except StartError:
        if not is_told_to_stop:
            raise
    finally:
        supervisor.terminate()
        supervisor.wait()
        stop_leftovers(mark)  # a worker told to stop while it starts may leave what it just forked
        configuration.unlink(missing_ok=True)
    return 0 if is_told_to_stop else 1


def _keep_services_while(supervisor: subprocess.Popen[bytes]) -> None:
    """Start embedded services again whenever they are gone, until the supervisor has ended."""
    due = time.monotonic() + CHECK_SECONDS
    while supervisor.poll() is None:
        with suppress(subprocess.TimeoutExpired):
            supervisor.wait(LOOK_SECONDS)
        if supervisor.poll() is not None or (
            time.monotonic() < due and embedded.are_running(settings.SERVICES)
        ):
            continue
        try:
            embedded.start_services(settings.SERVICES)
        except SERVICE_PROBLEMS as problem:  # tried again; the rest goes on
            _report(str(problem))
            with suppress(subprocess.TimeoutExpired):
                supervisor.wait(CHECK_SECONDS)
        due = time.monotonic() + CHECK_SECONDS


def _is_disk_full() -> bool:
    return shutil.disk_usage(settings.DATA_DIR).free < ROOM


def _report(line: str) -> None:
    """Write a line to the log, which may lie on a full disk."""
    with suppress(OSError):
        sys.stderr.write(f"{line}\n")
        sys.stderr.flush()


def stop_leftovers(mark: str, *, keeps_web: bool = False) -> None:
    """Kill what a killed supervisor of this mark left behind, but for web processes if wanted."""
    found = [process for process in marked_processes(mark) if not (keeps_web and is_web(process))]
    for process in found:
        with suppress(psutil.NoSuchProcess):
            process.kill()
    psutil.wait_procs(found, timeout=10)


class Preparation:
    """Makes database and static files ready, while programs load that wait for it."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._told_by = settings.DATA_DIR / "run" / "prepared"
        self._told_by.unlink(missing_ok=True)
        os.environ[PREPARED] = str(self._told_by)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "config.running.prepare", "--address", address],
            cwd=settings.BASE_DIR,
            stdin=subprocess.PIPE,
        )

    def finish(self) -> None:
        """Start the embedded services, then have the rest done, and say so.

        Raises:
            ServiceError: a service does not start.
            StartError: the rest failed, and has said why.
        """
        embedded.hold_services(settings.SERVICES)
        self._process.communicate(b"go\n")
        if self._process.returncode:
            raise StartError("The site could not be prepared: see above.")
        self._told_by.touch()
        sys.stderr.write(f"Lookalike is at {self._address}/ - Ctrl-C stops it.\n")

    def stop(self) -> None:
        """Stop what is being done."""
        self._process.terminate()


def main() -> int:
    """Serve until told to stop; return the exit status."""
    parser = argparse.ArgumentParser(prog="script/server", description="Run the whole site.")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    options = parser.parse_args()

    mark = str(settings.DATA_DIR)
    holding = claim(settings.DATA_DIR, "server", port=options.port)
    stop_leftovers(mark)
    try:
        listening = listening_socket(options.host, options.port)
    except OSError as problem:
        parser.error(f"cannot listen at {options.host}:{options.port}: {problem.strerror}")
    embedded.reach(settings.SERVICES)  # a wrong address is told before anything is prepared
    sys.stderr.write("Preparing the database; the first start takes a minute or two.\n")
    for left in (settings.DATA_DIR / "run" / "metrics" / socket.gethostname()).glob("*.db"):
        left.unlink()  # counters of web processes that are gone
    preparation = Preparation(f"http://{options.host}:{options.port}")
    with holding:
        return supervise(_programs(), mark, listening, preparation)


if __name__ == "__main__":
    sys.exit(main())
