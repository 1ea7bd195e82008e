"""What tests of catalogs share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from accounts.models import Role, User
from catalog.importing.origins import Origin
from catalog.models import Catalog
from catalog.services import create_catalog, import_job, import_work
from jobs.models import Job
from jobs.services import run_here
from tests.pictures import write_folder


@pytest.fixture(autouse=True)
def data_dir(settings: Any, tmp_path: Path) -> Path:
    """A data folder of this test's own, so that files on disk can be counted."""
    settings.DATA_DIR = tmp_path / "data"
    return tmp_path / "data"


@pytest.fixture
def admin() -> User:
    return User.objects.create_user("ada", password="x", role=Role.ADMIN)


@pytest.fixture
def researcher() -> User:
    return User.objects.create_user("rosa", password="x", role=Role.RESEARCHER)


@pytest.fixture
def annotator() -> User:
    return User.objects.create_user("anna", password="x", role=Role.ANNOTATOR)


@pytest.fixture
def import_files(tmp_path: Path) -> Callable[..., Job]:
    """Import files (name to bytes) into a catalog, made if new, and return the job."""

    def go(
        files: dict[str, bytes],
        metadata: str | None = None,
        *,
        slug: str = "shoes",
        folder: str = "photos",
    ) -> Job:
        place = write_folder(tmp_path / folder, files)
        catalog = Catalog.objects.filter(slug=slug).first() or create_catalog(
            slug=slug, name=slug.title()
        )
        origin = Origin(path=str(place), source_name=folder, is_restricted=False)
        if metadata is not None:
            sheet = tmp_path / "metadata.csv"
            sheet.write_text(metadata)
            origin = Origin(
                path=str(place),
                source_name=folder,
                metadata_path=str(sheet),
                metadata_name="metadata.csv",
                is_restricted=False,
            )
        return run_here(**import_job(catalog, origin), work=import_work)

    return go
