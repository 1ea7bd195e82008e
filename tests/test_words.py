"""The languages of LANGUAGES are whole: every word translated, in a file that is up to date."""

from __future__ import annotations

import gettext
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from django.conf import settings

FILES = sorted(Path(settings.BASE_DIR, "locale").glob("*/LC_MESSAGES/*.po"))
NAMES = re.compile(r"%\(\w+\)s|\{\w+\}|</?\w+[^>]*>")

each_file = pytest.mark.parametrize(
    "path", FILES, ids=lambda path: f"{path.parent.parent.name}-{path.stem}"
)


def catalog(path: Path) -> Catalog:
    with path.open("rb") as file:
        return read_po(file, locale=path.parent.parent.name, abort_invalid=True)


def texts(value: str | Sequence[str] | None) -> tuple[str, ...]:
    return (value or "",) if isinstance(value, str | None) else tuple(value)


def names_in(text: str) -> set[str]:
    words = {"<kbd>", "</kbd>"}
    return set(NAMES.findall(text)) - words


def faults(po: Catalog) -> list[str]:
    """What is not translated, or says other names than the English."""
    found = []
    for message in po:
        if not message.id:
            continue
        wanted, given = texts(message.id), texts(message.string)
        if (
            message.fuzzy
            or not all(given)
            or len(given) != (po.num_plurals if len(wanted) > 1 else 1)
        ):
            found.append(f"not translated: {message.id}")
        allowed = set().union(*map(names_in, wanted))
        needed = set.intersection(*map(names_in, wanted))
        found += [
            f"other names: {text}" for text in given if not needed <= names_in(text) <= allowed
        ]
    return found


def test_each_language_has_both_files():
    codes = {code for code, _ in settings.LANGUAGES} - {"en"}
    assert {path.parent.parent.name for path in FILES} == codes
    assert len(FILES) == 2 * len(codes)


@each_file
def test_all_is_translated(path):
    assert faults(catalog(path)) == []


def test_the_check_finds_what_is_missing():
    po = Catalog(locale="de")
    po.add("Saved.", "")
    po.add("Hello %(name)s", "Hallo")
    po.add(("{n} answer", "{n} answers"), ("{n} Antwort", ""))
    po.add("Open", "Offen", flags=["fuzzy"])
    assert len(faults(po)) == 5


@each_file
def test_the_compiled_file_is_of_the_text(path):
    """It is kept beside it: a clone and the image have no gettext."""
    made = BytesIO()
    write_mo(made, catalog(path))
    made.seek(0)
    with path.with_suffix(".mo").open("rb") as file:
        kept = gettext.GNUTranslations(file)
    wanted = gettext.GNUTranslations(made)
    kept_words = {key: text for key, text in vars(kept)["_catalog"].items() if key}
    assert kept_words == {key: text for key, text in vars(wanted)["_catalog"].items() if key}


@pytest.mark.skipif(shutil.which("xgettext") is None, reason="gettext is not installed")
def test_no_word_of_the_pages_is_missing_in_the_files(tmp_path):
    """In a copy, as `script/words` takes them; what is marked and not taken would be English."""
    copy = tmp_path / "copy"
    others = shutil.ignore_patterns("var", ".*", "tests", "docs", "shared", "node_modules", "*.pyc")
    shutil.copytree(settings.BASE_DIR, copy, ignore=others)
    env = {**os.environ, "PYTHON": sys.executable, "PYTHONPATH": str(copy)}
    subprocess.run(["script/words"], cwd=copy, env=env, check=True, capture_output=True)
    for path in FILES:
        fresh = catalog(copy / path.relative_to(settings.BASE_DIR))
        assert faults(fresh) == [], f"run script/words, then translate {path}"
        kept = {message.id for message in catalog(path)}
        assert {message.id for message in fresh} == kept, f"run script/words: {path}"
