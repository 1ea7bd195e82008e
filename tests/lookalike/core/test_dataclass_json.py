"""Trees of dataclasses as JSON and back."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field

import numpy as np
import pytest

from lookalike.bias.report import BiasReport, BiasSettings, bias_report
from lookalike.bias.words.text import as_text
from lookalike.core.dataclass_json import as_json, from_json
from tests.lookalike.bias.cases import rich_pool


@dataclass(frozen=True)
class Leaf:
    value: float
    name: str = "none"


@dataclass(frozen=True)
class Tree:
    leaf: Leaf
    maybe: Leaf | None = None
    low: float | None = None
    several: tuple[Leaf, ...] = ()
    by_name: dict[str, list[float]] = field(default_factory=dict)


def test_an_undefined_number_is_null_and_read_as_nan():
    written = as_json(Tree(Leaf(math.nan), several=(Leaf(math.inf), Leaf(1.5, "a"))))
    assert written["leaf"] == {"value": None, "name": "none"}
    read = from_json(Tree, written)
    assert math.isnan(read.leaf.value)
    assert [leaf.value for leaf in read.several[1:]] == [1.5]


def test_none_stays_none_where_it_may_be():
    read = from_json(Tree, {"leaf": {"value": 1.0}, "maybe": None, "low": None})
    assert (read.maybe, read.low) == (None, None)
    assert from_json(Tree, {"leaf": {"value": 1}, "maybe": {"value": 2}}).maybe == Leaf(2.0)


def test_numbers_inside_a_mapping_are_read_too():
    read = from_json(Tree, {"leaf": {"value": 1}, "by_name": {"a": [1, None]}})
    assert read.by_name["a"][0] == 1.0
    assert math.isnan(read.by_name["a"][1])


def test_a_field_that_is_not_there_has_its_default_and_one_without_default_is_missed():
    assert from_json(Leaf, {"value": 1.0}) == Leaf(1.0, "none")
    assert from_json(Leaf, {"value": 1.0, "of a later version": 2}) == Leaf(1.0)
    with pytest.raises(TypeError, match="value"):
        from_json(Leaf, {"name": "a"})


def test_a_whole_bias_report_comes_back_and_reads_the_same():
    settings = BiasSettings(n_bootstraps=20, n_permutations=100, ks=(2, 4))
    report = bias_report(rich_pool(), np.random.default_rng(0), settings)
    written = json.loads(json.dumps(as_json(report), allow_nan=False))
    again = from_json(BiasReport, written)
    assert as_json(again) == written
    assert as_text(again) == as_text(report)
