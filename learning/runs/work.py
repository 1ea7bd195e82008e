"""One run at work: its folder, what it keeps on its way, and how it is stored."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.db import transaction
from django.utils import timezone

from catalog.models import Projection
from catalog.vectors.projections import store_projection
from jobs.services import JobProgress
from learning.material import Material
from learning.models import TrainingRun
from learning.runs.checkpoints import checkpoint_folder
from lookalike.learning.engine.loop import CURVE
from lookalike.learning.projection import Projection as Map

CURVE_POINTS = 200


@dataclass(frozen=True)
class RunWork:
    """A run that is being learned.

    Attributes:
        run: which.
        folder: for its checkpoint and curve; newer data have another, and begin anew.
        progress: of its job.
    """

    run: TrainingRun
    folder: Path
    progress: JobProgress

    @classmethod
    def of(cls, run: TrainingRun, material: Material, progress: JobProgress) -> RunWork:
        """Return the work on a run with what it learns from."""
        return cls(run, checkpoint_folder(run) / material.sha256[:16], progress)

    def at_checkpoint(self) -> None:
        """Note that one lies on disk: the job has got on, and so has the curve."""
        self.progress.forgive()
        TrainingRun.objects.filter(pk=self.run.pk).update(curve=self._curve())

    @contextmanager
    def stored(self, figures: Mapping[str, Any]) -> Iterator[None]:
        """Store in one transaction what was learned, with its figures, and that it is done."""
        with transaction.atomic():
            self.progress.hold()
            yield
            TrainingRun.objects.filter(pk=self.run.pk).update(
                figures=figures, curve=self._curve(), finished_at=timezone.now()
            )

    def store(
        self, layers: Map, material: Material, seen: Collection[int], *, head: str = "",
        name: str = "",
    ) -> Projection:  # fmt: skip
        """Store a map that was learned, as a model.

        Args:
            layers: the map.
            material: what it was learned from.
            seen: ids of the images whose labels or captions it was learned from.
            head, name: of one of several on a run.
        """
        return store_projection(
            slug=self.run.slug, head=head, name=name or self.run.name, layers=layers,
            parent=material.parent, seen_image_ids=seen,
        )  # fmt: skip

    def _curve(self) -> list[list[float]]:
        """Return steps and losses, thinned out; none where nothing was trained.

        Several heads have a loss each, and learn by their sum.
        """
        path = self.folder / CURVE
        if not path.exists():
            return []
        lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        step = max(1, len(lines) // CURVE_POINTS)
        return [[line.pop("step"), line.get("loss", sum(line.values()))] for line in lines[::step]]
