"""A catalog with attributes, people, and sets of templates over it."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable

import pytest
from PIL import Image as PillowImage

from accounts.models import Role, User
from catalog.images.blobs import blob_path
from catalog.models import Catalog
from conditional.models import TemplateSet
from lookalike.conditional.formats.vaw import write_vaw
from tests.catalogs import catalog_of
from tests.conditional.cases import built_set, catalog_of_files, make_catalog
from tests.lookalike.conditional.cases import TYPES, vaw_instances


@pytest.fixture
def catalog(db: None) -> Catalog:
    return make_catalog()


@pytest.fixture
def template_set(catalog: Catalog) -> TemplateSet:
    return built_set(catalog)


@pytest.fixture
def people(db: None) -> Callable[..., list[User]]:
    """Make so many people of one role."""

    def make(n: int, role: Role = Role.ANNOTATOR) -> list[User]:
        names = [f"{role}-{uuid.uuid4().hex[:8]}" for _ in range(n)]
        return [User.objects.create_user(name, role=role) for name in names]

    return make


@pytest.fixture
def made(db, tmp_path, settings):
    settings.DATA_DIR = tmp_path / "data"
    return catalog_of([f"n{number}" for number in range(8)])


@pytest.fixture
def vaw(tmp_path, settings, db):
    """Files of generated instances, and a catalog of most of their images."""
    settings.DATA_DIR = tmp_path / "data"
    instances = vaw_instances(1, n=300)
    names = sorted({one.image for one in instances})
    for image in catalog_of_files(names[:-2]).images.all():
        path = blob_path(image.sha256, "original")
        path.parent.mkdir(parents=True, exist_ok=True)
        PillowImage.new("RGB", (400, 400), (200, 30, 30)).save(path, "JPEG")
    write_vaw(tmp_path / "vaw.json", instances)
    (tmp_path / "types.json").write_text(json.dumps(TYPES))
    return tmp_path / "vaw.json", tmp_path / "types.json"


@pytest.fixture
def write(tmp_path):
    def write(entries, name="focus_object.json"):
        path = tmp_path / name
        path.write_text(json.dumps(entries))
        return path

    return write
