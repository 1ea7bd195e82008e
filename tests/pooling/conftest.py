"""A small catalog of real picture files, people, and pools over them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from accounts.models import Role, User
from catalog.models import Catalog
from lookalike.pooling.query_rule import QueryRule
from pooling.models import Pool
from pooling.new_pool.requests import PoolRequest
from pooling.pools.services import create_pool
from tests.catalogs import MODELS, catalog_of_photos


@pytest.fixture
def data_dir(settings: Any, tmp_path: Path) -> Path:
    """A data folder of this test's own, for pictures and vectors."""
    settings.DATA_DIR = tmp_path / "data"
    return tmp_path / "data"


@pytest.fixture
def catalog_of(db: None, data_dir: Path) -> Callable[..., Catalog]:
    """Make catalogs whose files lie in this test's own data folder."""
    return catalog_of_photos


@pytest.fixture
def request_of(catalog_of: Callable[..., Catalog]) -> Callable[..., PoolRequest]:
    """Ask for a pool of three queries over twelve photos, unless told otherwise."""

    def make(**changes: Any) -> PoolRequest:
        catalog = changes.pop("catalog", None) or catalog_of(12)
        return PoolRequest(
            **{
                "name": "First pool",
                "catalog": catalog,
                "specs": MODELS,
                "k": 3,
                "rule": QueryRule(n=3),
                **changes,
            }
        )

    return make


@pytest.fixture
def pool_of(request_of: Callable[..., PoolRequest]) -> Callable[..., Pool]:
    """Create such a pool; nothing is started."""

    def make(**changes: Any) -> Pool:
        return create_pool(request=request_of(**changes), created_by=None)

    return make


@pytest.fixture
def admin(db: None) -> User:
    return User.objects.create_user("ada", password="x", role=Role.ADMIN)


@pytest.fixture
def researcher(db: None) -> User:
    return User.objects.create_user("rosa", password="x", role=Role.RESEARCHER)


@pytest.fixture
def annotators(db: None) -> list[User]:
    names = ("anna", "ben", "cleo")
    return [User.objects.create_user(name, password="x", role=Role.ANNOTATOR) for name in names]
