"""The documents of the repository, and what is read in them."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from tests.paths import ROOT

FENCE = re.compile(r"^(```|~~~).*?^\1", re.DOTALL | re.MULTILINE)


def documents() -> list[Path]:
    """Return every Markdown file of the checkout, new ones too."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "--", "*.md"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return [ROOT / name for name in listed.stdout.splitlines() if (ROOT / name).exists()]


def name_of(path: Path) -> str:
    """Return a document's path below the root, for a test's name."""
    return str(path.relative_to(ROOT))
