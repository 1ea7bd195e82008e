"""Where runs keep their checkpoints while they learn."""

from __future__ import annotations

import shutil
from pathlib import Path

from django.conf import settings

from learning.models import TrainingRun


def checkpoint_folder(run: TrainingRun) -> Path:
    """Return a run's folder."""
    return Path(settings.DATA_DIR) / "learning" / str(run.uid)


def drop_checkpoints(run: TrainingRun) -> None:
    """Delete what a run has left on its way."""
    shutil.rmtree(checkpoint_folder(run), ignore_errors=True)
