"""Static files: plain names in a fresh checkout, hashed ones, imports included, once collected."""

from __future__ import annotations

import re
from pathlib import Path

from django.core.management import call_command
from django.templatetags.static import static
from django.test import override_settings


def test_files_have_plain_names_before_they_are_collected():
    assert static("js/judge/main.js") == "/static/js/judge/main.js"


def test_everything_can_be_collected_and_modules_import_hashed_names(tmp_path: Path):
    with override_settings(STATIC_ROOT=tmp_path):
        call_command("collectstatic", interactive=False, verbosity=0)
        address = static("js/judge/main.js")
    assert re.fullmatch(r"/static/js/judge/main\.[0-9a-f]{12}\.js", address)
    script = (tmp_path / address.removeprefix("/static/")).read_text()
    imported = re.findall(r'from\s*"([^"]+)"', script)
    assert len(imported) > 10
    for name in imported:
        assert re.search(r"\.[0-9a-f]{12}\.js$", name), name
        assert (tmp_path / "js" / "judge" / name).exists(), name
