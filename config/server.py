"""Run the whole site: `python -m config.server [--host H] [--port N]`.

supervisord keeps the web server and the workers alive; this process keeps the embedded
PostgreSQL and Valkey alive, and stops everything when it is told to stop.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import FrameType

import psutil

from config import embedded, settings

MARK = "LOOKALIKE_SERVER"  # set in the environment of every process of a site
CHECK_SECONDS = 2.0


def _configuration(host: str, port: int) -> str:
    """Return the supervisord configuration: what runs, and how it is stopped."""
    binaries = Path(sys.executable).parent
    run_dir = settings.DATA_DIR / "run"
    celery = f"{binaries}/celery --quiet -A config worker --loglevel warning"
    programs = {
        "web": f"{binaries}/granian --interface wsgi --host {host} --port {port} --workers 2 "
        "--blocking-threads 8 --backpressure 64 --no-ws --log-level warning "
        "config.wsgi:application",
        "light": f"{celery} --queues light --concurrency 2 --hostname light@%%h --beat "
        f"--schedule {run_dir}/beat",
        "device": f"{celery} --queues device --concurrency 1 --hostname device@%%h",
    }
    parts = [
        "[supervisord]\nnodaemon=true\nlogfile=/dev/null\nlogfile_maxbytes=0\n"
        f"pidfile={run_dir}/supervisord.pid\nloglevel=warn\n"
        f"user={os.getuid()}\n"
    ]
    parts += [
        f"[program:{name}]\ncommand={command}\ndirectory={settings.BASE_DIR}\n"
        "autorestart=true\nstartretries=100\nstartsecs=2\nstopasgroup=true\nkillasgroup=true\n"
        "stopwaitsecs=20\nstdout_logfile=/dev/fd/1\nstdout_logfile_maxbytes=0\n"
        "redirect_stderr=true\n"
        for name, command in programs.items()
    ]
    return "\n".join(parts)


def _stop_leftovers() -> None:
    """Kill what a killed supervisor of this data folder left behind."""
    mine = str(settings.DATA_DIR)
    found = []
    for process in psutil.process_iter():
        try:
            if process.pid != os.getpid() and process.environ().get(MARK) == mine:
                process.kill()
                found.append(process)
        except (psutil.AccessDenied, psutil.NoSuchProcess, psutil.ZombieProcess):
            continue
    psutil.wait_procs(found, timeout=10)


def _manage(*arguments: str) -> None:
    subprocess.run(
        [sys.executable, "manage.py", *arguments, "--verbosity", "0"],
        cwd=settings.BASE_DIR,
        check=True,
    )


def main() -> int:
    """Serve until told to stop; return the exit status."""
    parser = argparse.ArgumentParser(prog="script/server", description="Run the whole site.")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    options = parser.parse_args()

    _stop_leftovers()
    embedded.hold_services(settings.SERVICES)
    _manage("migrate")
    _manage("collectstatic", "--no-input", "--ignore", "django_htmx")  # we bring our own htmx
    configuration = settings.DATA_DIR / "run" / "supervisord.conf"
    configuration.write_text(_configuration(options.host, options.port))
    supervisor = subprocess.Popen(
        [sys.executable, "-m", "supervisor.supervisord", "-c", str(configuration)],
        env={**os.environ, MARK: str(settings.DATA_DIR)},
        start_new_session=True,  # Ctrl-C comes to us alone, we pass it on
    )

    def stop(_signal: int, _frame: FrameType | None) -> None:
        supervisor.terminate()

    signal.signal(signal.SIGINT, stop)
    signal.signal(signal.SIGTERM, stop)
    sys.stderr.write(f"Lookalike is at http://{options.host}:{options.port}/ - Ctrl-C stops it.\n")
    while supervisor.poll() is None:
        time.sleep(CHECK_SECONDS)
        if supervisor.poll() is None:
            embedded.start_services(settings.SERVICES)
    return 0


if __name__ == "__main__":
    sys.exit(main())
