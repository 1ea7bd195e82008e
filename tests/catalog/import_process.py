"""`manage.py import_catalog` as a process of its own, to be killed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import quote

from django.conf import settings
from django.db import connection

from tests.paths import ROOT


def process(data_dir: Path, *arguments: object, **variables: str) -> subprocess.Popen[str]:
    """Start the command against the test's own database and data folder."""
    database = connection.settings_dict
    host = quote(database["OPTIONS"].get("host") or database["HOST"], safe="")
    return subprocess.Popen(
        [sys.executable, "manage.py", "import_catalog", *map(str, arguments), "--json"],
        cwd=ROOT,
        env={
            **os.environ,
            "DATABASE_URL": f"postgresql://{database['USER']}@/{database['NAME']}?host={host}",
            "REDIS_URL": settings.REDIS_URL,
            "LOOKALIKE_DATA": str(data_dir),
            **variables,
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
