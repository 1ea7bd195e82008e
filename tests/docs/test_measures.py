"""docs/measures.md says what the code has."""

import re

import pytest

from lookalike.metrics.classes import class_retrieval
from lookalike.metrics.measures import known_forms, parse_measure
from tests.paths import ROOT

TEXT = (ROOT / "docs" / "measures.md").read_text()
NAMED = set(re.findall(r"`([^`\n]+)`", TEXT))


@pytest.mark.parametrize("form", known_forms())
def test_every_measure_is_defined_in_the_document(form):
    assert form in NAMED


@pytest.mark.parametrize("name", class_retrieval([[0.0], [1.0]], [0, 0]).means())
def test_every_class_measure_is_defined_in_the_document(name):
    assert name in NAMED


def test_the_examples_name_only_measures_that_exist():
    for names in re.findall(r'--measures "?([^"\s]+)', TEXT):
        for name in names.split(","):
            parse_measure(name)


def test_every_attack_that_the_document_names_has_its_test():
    attacks = TEXT.split("## What a reviewer may attack")[1].split("\n## ")[0]
    rows = [line for line in attacks.splitlines() if line.startswith("|")][2:]
    assert len(rows) >= 15
    for row in rows:
        named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", row)
        assert named, row
        for path, name in named:
            assert f"\ndef {name}(" in (ROOT / path).read_text(), (path, name)
