"""What a researcher installs imports without what only the site or the models need."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.paths import ROOT

PROGRAM = """
import importlib, sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if {is_blocked}:
            raise ImportError(f"{{name}} is blocked")

sys.meta_path.insert(0, Blocked())
for module in {modules!r}:
    importlib.import_module(module)
"""
SITE_AND_MODELS = (
    *("django", "celery", "ninja", "psycopg", "redis", "torch", "torchvision", "timm", "open_clip"),
    *("faiss", "numba", "sklearn", "skimage", "pandas", "crowdkit", "ot", "PIL"),
)
BLOCKED = f"name.partition('.')[0] in {SITE_AND_MODELS!r}"
NOT_STANDARD = (
    "name.partition('.')[0] not in {*sys.stdlib_module_names, 'lookalike'}"
    " or name.startswith('lookalike.') and not name.startswith('lookalike.client')"
)


def run(is_blocked: str, *modules: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", PROGRAM.format(is_blocked=is_blocked, modules=modules)],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.parametrize(
    "module",
    [
        *("lookalike", "lookalike.metrics.score", "lookalike.metrics.classes"),
        *(
            "lookalike.bias.report",
            "lookalike.bias.evidence.assemble",
            "lookalike.prevalence.strata",
            "lookalike.planning.planner",
        ),
        *("lookalike.release.verify", "lookalike.release.diff", "lookalike.agreement.aggregate"),
        *("lookalike.conditional.alignment", "lookalike.pooling.eds", "lookalike.search.nearest"),
        "lookalike.cli.main",
    ],
)
def test_a_part_of_the_base_imports_without_site_and_models(module: str) -> None:
    done = run(BLOCKED, module)
    assert done.returncode == 0, done.stderr


def test_the_client_needs_the_standard_library_alone() -> None:
    done = run(NOT_STANDARD, "lookalike.client")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("is_blocked", "module"),
    [(BLOCKED, "lookalike.backbones.loading"), (NOT_STANDARD, "lookalike.metrics.score")],
)
def test_the_block_itself_works(is_blocked: str, module: str) -> None:
    done = run(is_blocked, module)
    assert done.returncode != 0
    assert "is blocked" in done.stderr
