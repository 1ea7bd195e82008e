"""The generator and the experts run in a notebook: numpy and Pillow are all they need."""

from __future__ import annotations

import subprocess
import sys

from tests.paths import ROOT


def test_the_generator_and_the_experts_load_no_framework():
    code = (
        "import sys, demo.drawing.catalog, demo.experts;"
        "loaded = {name.partition('.')[0] for name in sys.modules};"
        "print(sorted(loaded & {'django', 'torch', 'scipy', 'skimage', 'pandas', 'config'}))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert ran.stdout.strip() == "[]"
