"""Django's checks of what belongs to no app."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, register

from config.restore import RESTORED


@register()
def restore_is_complete(**_: Any) -> list[CheckMessage]:
    """Refuse to start on a database and files that belong to different sites."""
    if not (Path(settings.DATA_DIR) / RESTORED).exists():
        return []
    return [
        Error(
            "A restore was cut short while the files took their places.",
            hint="Run script/restore FILE --force once more.",
            id="lookalike.E001",
        )
    ]
