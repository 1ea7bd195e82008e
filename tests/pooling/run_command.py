"""Run management commands as people do: in this process, or as one of their own."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from typing import Any
from urllib.parse import quote

from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import connection

from tests.paths import ROOT


def printed(name: str, *arguments: object) -> dict[str, Any]:
    """Run a command here with --json; return the one object that it prints."""
    out, err = io.StringIO(), io.StringIO()
    try:
        call_command(name, *map(str, arguments), "--json", stdout=out, stderr=err)
    except CommandError as problem:
        problem.add_note(err.getvalue())
        raise
    lines = out.getvalue().splitlines()
    assert len(lines) == 1
    return dict(json.loads(lines[0]))


def started(name: str, *arguments: object) -> subprocess.Popen[str]:
    """Start a command as a process of its own, on this test's database and data folder."""
    database = connection.settings_dict
    host = quote(database["OPTIONS"].get("host") or database["HOST"], safe="")
    return subprocess.Popen(
        [sys.executable, "manage.py", name, *map(str, arguments)],
        cwd=ROOT,
        env={
            **os.environ,
            "DATABASE_URL": f"postgresql://{database['USER']}@/{database['NAME']}?host={host}",
            "REDIS_URL": settings.REDIS_URL,
            "LOOKALIKE_DATA": str(settings.DATA_DIR),
            "OMP_NUM_THREADS": "1",
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
