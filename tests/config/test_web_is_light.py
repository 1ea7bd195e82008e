"""The web process loads no neural networks: they are heavy, and belong to workers."""

from __future__ import annotations

import subprocess
import sys

import pytest

from config import settings

BLOCKED = ("torch", "torchvision", "timm", "open_clip", "faiss", "numba")
TASKS = [f"{folder.parent.name}.tasks" for folder in sorted(settings.BASE_DIR.glob("*/tasks.py"))]
PROGRAM = """
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {blocked!r}:
            raise ImportError(f"the web process must not import {{name}}")

sys.meta_path.insert(0, Blocked())
import django
django.setup()
import importlib
importlib.import_module({module!r})
"""


def imported_with_blocks(module: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", PROGRAM.format(blocked=BLOCKED, module=module)],
        cwd=settings.BASE_DIR,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("module", ["config.urls", "config.wsgi", *TASKS])
def test_it_imports_with_torch_and_its_kin_blocked(module):
    done = imported_with_blocks(module)
    assert done.returncode == 0, done.stderr


def test_the_block_itself_works():
    done = imported_with_blocks("pooling.sources.fill")
    assert done.returncode != 0
    assert "the web process must not import" in done.stderr
