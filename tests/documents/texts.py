"""The documents of the repository, and what is read in them."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from config.settings import BASE_DIR

FENCE = re.compile(r"^(```|~~~).*?^\1", re.DOTALL | re.MULTILINE)


def documents() -> list[Path]:
    """Return every Markdown file of the checkout, new ones too."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "--", "*.md"],
        cwd=BASE_DIR, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return [BASE_DIR / name for name in listed.stdout.splitlines() if (BASE_DIR / name).exists()]


def name_of(path: Path) -> str:
    """Return a document's path below the root, for a test's name."""
    return str(path.relative_to(BASE_DIR))
