"""The main job, from pictures to scores, made of the documented commands."""

from __future__ import annotations

import io
import json
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import CommandError
from django.utils.text import slugify

from accounts.models import User
from annotation.models import Campaign
from catalog.models import Catalog
from demo.drawing.catalog import render_catalog
from demo.experts import EXPERTS
from demo.judging import judge_all, username
from demo.people import ensure_simulated
from pooling.models import Pool

MODELS = (
    "timm:tf_efficientnet_lite0",
    "timm:tf_efficientnet_lite1",
    "timm:tf_efficientnet_lite2",
    "descriptor:colour-histogram",
    "descriptor:lbp-texture",
    "descriptor:hog-shape",
)
GUIDELINES = Path(__file__).resolve().parent / "guidelines.md"
N_QUERIES = 100
DEPTH = 6

Say = Callable[[str], None]
OnProgress = Callable[[int, int], None]


@dataclass
class MainJob:
    """One run of the main job; a step that is done already is not done again.

    Attributes:
        say: told the title of each step as it begins.
        on_progress: told (done, total) of the steps that are not commands of their own.
        images: folder of photos, or None for the demo's own catalog.
        metadata: of the photos.
        accept_findings: take values of the metadata as they stand, as `import_catalog` does.
        seconds: how long each step took.
    """

    say: Say
    on_progress: OnProgress
    images: Path | None = None
    metadata: Path | None = None
    accept_findings: bool = False
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def slug(self) -> str:
        """The name of the catalog, the start of the others' names."""
        return "demo" if self.images is None else _slug(self.images)

    def run(self, panel: list[User]) -> dict[str, Any]:
        """Do all steps and return what they came to.

        Args:
            panel: the people who may judge; they find a campaign of their own.

        Raises:
            CommandError: a step failed; the message says why.
        """
        source, metadata = self.pictures()
        with self._step("import", "Importing the pictures"):
            described = {"metadata": metadata} if metadata else {}
            catalog = _json(
                "import_catalog",
                self.slug,
                str(source),
                accept_findings=self.accept_findings,
                **described,
            )
            Catalog.objects.filter(slug=self.slug).update(is_rendered=self.images is None)
        with self._step("pool", "Embedding the catalog and pooling candidates"):
            pool = _json(
                "fill_pool", f"{self.slug}-pool", catalog=self.slug, models=",".join(MODELS),
                k=DEPTH, queries=str(self._n_queries()), seed=0,
            )  # fmt: skip
        people = self._campaign("your turn", panel)
        found: dict[str, Any] = {
            "catalog": {"slug": self.slug, "is_rendered": self.images is None, **catalog},
            "pool": pool,
            "campaign": people,
            "votes": None,
            "agreement": None,
            "scores": None,
        }
        if self.images is None:
            found |= self._simulated()
        return {**found, "seconds": {name: round(s, 1) for name, s in self.seconds.items()}}

    def pictures(self) -> tuple[Path, Path | None]:
        """Return the folder to import, drawing the demo's own catalog first if it is wanted."""
        if self.images is not None:
            return self.images, self.metadata
        folder = Path(settings.DATA_DIR) / "demo" / "catalog"
        with self._step("render", "Drawing the demo's catalog"):
            if not (folder / "metadata.csv").exists():  # written last
                render_catalog(folder, on_progress=self.on_progress)
        return folder, folder / "metadata.csv"

    def _n_queries(self) -> int:
        return min(N_QUERIES, Catalog.objects.get(slug=self.slug).images.count())

    def _campaign(self, purpose: str, panel: list[User]) -> str:
        """Open a campaign on the pool unless it is there already; return its slug."""
        name = f"{re.sub(r'[-_]+', ' ', self.slug).capitalize()}, {purpose}"
        slug = slugify(name)
        if not Campaign.objects.filter(slug=slug).exists():
            pool = Pool.objects.get(slug=f"{self.slug}-pool")
            names = ",".join(user.username for user in panel)
            _json("open_campaign", name, pool=pool.slug, panel=names, guidelines=GUIDELINES)
        return slug

    def _simulated(self) -> dict[str, Any]:
        """Let the simulated experts judge the pool, and evaluate what they say."""
        experts = ensure_simulated([username(expert) for expert in EXPERTS])
        slug = self._campaign("simulated experts", experts)
        campaign = Campaign.objects.get(slug=slug)
        with self._step("judge", "Simulated experts judge the pairs"):
            votes = judge_all(campaign, experts, self.on_progress)
        with self._step("evaluate", "Evaluating the models"):
            scores = _json("evaluate", slug)
        return {
            "simulated_campaign": slug,
            "votes": {**votes, "simulated": True},
            "agreement": scores["agreement"],
            "scores": scores,
        }

    @contextmanager
    def _step(self, name: str, title: str) -> Iterator[None]:
        self.say(title)
        started = time.monotonic()
        yield
        self.seconds[name] = time.monotonic() - started


def _json(command: str, *arguments: str, **options: Any) -> dict[str, Any]:
    """Run a management command and return the object that it prints."""
    out = io.StringIO()
    call_command(command, *arguments, json=True, stdout=out, **options)
    found: dict[str, Any] = json.loads(out.getvalue())
    return found


def _slug(folder: Path) -> str:
    slug = slugify(folder.resolve().name)[:60]
    if not slug:
        raise CommandError(f"--images {folder}: give a folder whose name has a letter or digit.")
    return slug
