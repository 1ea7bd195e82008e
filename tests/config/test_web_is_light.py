"""A web process loads no neural networks, which belong to workers, and adds up in one thread."""

from __future__ import annotations

import os
import subprocess
import sys

from config import settings

NETWORKS = ("torch", "torchvision", "timm", "open_clip", "faiss", "numba", "umap")
SLOW_TO_LOAD = ("sklearn", "pandas", "matplotlib", "scipy.optimize", "scipy.sparse", "scipy.stats")
TASKS = [f"{folder.parent.name}.tasks" for folder in sorted(settings.BASE_DIR.glob("*/tasks.py"))]
PROGRAM = """
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name in {blocked!r}:
            raise ImportError(f"the web process must not import {{name}}")

sys.meta_path.insert(0, Blocked())
import django
django.setup()
import importlib
for module in {modules!r}:
    importlib.import_module(module)
"""


def imported_with_blocks(*modules: str) -> subprocess.CompletedProcess[str]:
    program = PROGRAM.format(blocked=NETWORKS + SLOW_TO_LOAD, modules=modules)
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        cwd=settings.BASE_DIR,
        capture_output=True,
        text=True,
        check=False,
    )


def test_it_imports_with_torch_and_its_kin_blocked() -> None:
    done = imported_with_blocks("config.urls", "config.wsgi", *TASKS)
    assert done.returncode == 0, done.stderr


def test_the_block_itself_works() -> None:
    done = imported_with_blocks("pooling.sources.fill")
    assert done.returncode != 0
    assert "the web process must not import" in done.stderr


def test_its_sums_leave_the_other_cores_to_others() -> None:
    program = (
        "import config.wsgi, numpy, scipy.linalg, threadpoolctl as t; print(t.threadpool_info())"
    )
    free = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    pools = subprocess.check_output(
        [sys.executable, "-c", program], cwd=settings.BASE_DIR, text=True, env=free
    )
    assert pools.count("'openblas'") == pools.count("'num_threads': 1") >= 2, pools
