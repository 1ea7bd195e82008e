"""The client as its users import it, against a server of this process."""

from __future__ import annotations

import sys

from config.settings import BASE_DIR

sys.path.insert(0, str(BASE_DIR / "client"))
