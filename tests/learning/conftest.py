"""A catalog whose colours can be said, and the text space that is learned from it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import django.conf
import pytest

from accounts.models import Role, User
from catalog.models import Catalog
from learning.models import Notion, TextSpace
from learning.notions.recipes import NotionRecipe
from tests.catalogs import catalog_of_paints
from tests.kept import kept
from tests.learning.spaces import learned_notion, learned_space


def _data_dir() -> Path:
    return Path(django.conf.settings.DATA_DIR)


kept_paints = kept(catalog_of_paints, _data_dir)
kept_space = kept(lambda pk: learned_space(Catalog.objects.get(pk=pk)), _data_dir)


@pytest.fixture
def data_dir(settings: Any, tmp_path: Path) -> Path:
    """A data folder of this test's own."""
    settings.DATA_DIR = tmp_path / "data"
    return tmp_path / "data"


@pytest.fixture
def paints(db: None, data_dir: Path) -> Catalog:
    return kept_paints()


@pytest.fixture
def space(paints: Catalog) -> TextSpace:
    return kept_space(paints.pk)


@pytest.fixture
def notion_of(space: TextSpace) -> Callable[..., Notion]:
    """Say a notion in the space."""

    def make(name: str = "Colour", **changes: Any) -> Notion:
        given = {"words": ("red", "green", "blue"), "template": "a {} thing", "dim": 2, **changes}
        return learned_notion(space, name, NotionRecipe(**given))

    return make


@pytest.fixture
def admin(db: None) -> User:
    return User.objects.create_user("ada", password="x", role=Role.ADMIN)
