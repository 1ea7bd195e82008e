"""The scripts that make the figures of the documents, as modules."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

from tests.paths import ROOT


@contextmanager
def simulation_module(name: str) -> Iterator[ModuleType]:
    """Load docs/simulations/NAME.py, which is in no package, for as long as it is needed."""
    path = ROOT / f"docs/simulations/{name}.py"
    spec = importlib.util.spec_from_file_location(f"{name}_simulation", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    before = list(sys.path)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    sys.path[:] = before
    yield module
    del sys.modules[spec.name]
