"""An app's SQL names its own tables alone: what it wants of another app, it asks that app for."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.apps import apps

from config.settings import BASE_DIR

LAYERS = (
    "audit",
    "accounts",
    "jobs",
    "catalog",
    "annotation",
    "pooling",
    "conditional",
    "learning",
    "evaluation",
)
FOLDERS = (*LAYERS, "releases", "notices", "api", "config", "demo")
EXCEPTIONS = {
    "config/backup.py": "locks the tables of the whole site whose rows name files",
}


def tables_of(app: str) -> set[str]:
    models = apps.get_app_config(app).get_models(include_auto_created=True)
    return {model._meta.db_table for model in models}


def foreign_tables(source: str, own: str) -> Iterator[str]:
    """Yield every table of another app that a text in some source names."""
    others = sorted(
        table for app in (*LAYERS, "releases") if app != own for table in tables_of(app)
    )
    names = re.compile(rf"\b({'|'.join(others)})\b")
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from names.findall(node.value)


@pytest.mark.parametrize("app", FOLDERS)
def test_an_app_names_no_tables_of_others(app):
    modules = [path for path in Path(BASE_DIR, app).rglob("*.py") if "migrations" not in path.parts]
    assert modules
    named = {
        str(path.relative_to(BASE_DIR)): tables
        for path in modules
        if str(path.relative_to(BASE_DIR)) not in EXCEPTIONS
        and (tables := sorted(set(foreign_tables(path.read_text(encoding="utf-8"), app))))
    }
    assert not named


def test_a_foreign_table_is_seen_in_a_statement_and_in_one_with_holes():
    plain = 'ROWS = """select id from pooling_proposal p join catalog_image i on true"""'
    assert list(foreign_tables(plain, "pooling")) == ["catalog_image"]
    assert list(foreign_tables('f"select {x} from annotation_campaign"', "releases")) == [
        "annotation_campaign"
    ]
