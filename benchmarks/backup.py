"""Back up, destroy and restore a site while judges judge: `python -m benchmarks.backup`.

100,000 judgements by three judges stand in it, and 500 pictures. Four more judges answer one
question after another while the backup is made. Then the data folder is deleted and the site
restored from the file; the numbers of rows must equal those of the snapshot, and every answer
that was acknowledged before the backup began must be there.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from importlib import import_module
from pathlib import Path

import django
import psycopg

ROOT = Path(__file__).resolve().parents[1]


def main() -> None:
    """Measure once, and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--judgements", type=int, default=100_000)
    parser.add_argument("--pictures", type=int, default=500)
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="lookalike-backup-"))
    data, made = folder / "var", folder / "site.backup"
    os.environ["LOOKALIKE_DATA"] = str(data)
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
    backup, embedded, settings = (
        import_module(f"config.{name}") for name in ("backup", "embedded", "settings")
    )
    embedded.hold_services(settings.SERVICES)
    try:
        subprocess.run([sys.executable, "manage.py", "migrate", "--verbosity", "0"],
                       cwd=ROOT, check=True)  # fmt: skip
        django.setup()
        site = import_module("benchmarks.backup_site")
        live, people = site.build(options.judgements, options.pictures)
        stop = threading.Event()
        acknowledged: list[str] = []
        judges = [
            threading.Thread(target=site.judge, args=(live, person, acknowledged, stop))
            for person in people
        ]
        for thread in judges:
            thread.start()
        time.sleep(2)
        early, started = set(acknowledged), time.perf_counter()
        manifest = backup.back_up(made, settings.SERVICES)
        took = time.perf_counter() - started
        n_meanwhile = len(acknowledged) - len(early)
        stop.set()
        for thread in judges:
            thread.join()
        site.connections.close_all()
        print(backup.summary(manifest))
        print(f"backup: {took:.1f} s, {made.stat().st_size / 1e6:.1f} MB; judges had "
              f"{n_meanwhile} answers acknowledged meanwhile")  # fmt: skip
        embedded.stop_services(settings.SERVICES)
        shutil.rmtree(data)
        started = time.perf_counter()
        subprocess.run([sys.executable, "-m", "config.restore", str(made)], cwd=ROOT, check=True)
        print(
            f"restore into an empty folder, checks included: {time.perf_counter() - started:.1f} s"
        )
        embedded.hold_services(settings.SERVICES)
        with psycopg.connect(settings.SERVICES.database_url) as database:
            counts = backup.count_rows(database)
            rows = database.execute("select uuid::text from annotation_judgementevent").fetchall()
        assert counts == manifest.counts, (counts, manifest.counts)
        assert early <= {uuid for (uuid,) in rows}
        print(f"counts equal in {len(counts)} tables; {len(early)} answers acknowledged before the "
              "backup began are all there")  # fmt: skip
    finally:
        embedded.stop_services(settings.SERVICES)
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
