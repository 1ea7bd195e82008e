"""Values that spreadsheets and data frames changed."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.io.errors import FormatError
from lookalike.io.values import Code, Finding, ValueColumn, ValueKind, refuse_damage, repaired

LABEL, PRODUCT, CLASS, NAME = ValueKind


def found(kind: ValueKind, values: Sequence[str]) -> dict[Code, Finding]:
    column = ValueColumn("x", kind)
    for row, value in enumerate(values, 2):
        column.add(row, value)
    return {one.code: one for one in column.findings()}


@pytest.mark.parametrize("kind", list(ValueKind))
@pytest.mark.parametrize("space", [" ", "\t", "\u00a0", "\ufeff", "\u200b", "\r"])
def test_spaces_at_the_ends_go_from_every_value(kind, space):
    assert repaired(f"{space}Yes, sir{space}", kind) == "Yes, sir"


@pytest.mark.parametrize(
    ("value", "label", "product"),
    [
        ("1", "1", "1"),
        ("1.0", "1", "1"),
        ("12.000", "12", "12"),
        ("+3", "3", "+3"),
        ("-0.0", "0", "-0"),
        ("1.50", "1.5", "1.50"),
        ("1e+00", "1", "1e+00"),
        ("007", "007", "007"),
        ("0.0", "0", "0"),
        ("1.0.0", "1.0.0", "1.0.0"),
        ("v1.0", "v1.0", "v1.0"),
        ("4E12", "4E12", "4E12"),
        ("", "", ""),
    ],
)
def test_equal_numbers_are_one_label_and_whole_floats_one_product(value, label, product):
    assert (repaired(value, LABEL), repaired(value, PRODUCT)) == (label, product)


@given(st.integers(-(10**6), 10**6), st.integers(0, 3))
def test_an_integer_is_one_label_however_a_data_frame_wrote_it(number, digits):
    texts = {str(number), f"{number}.{'0' * (digits + 1)}", f"{number:+d}", str(float(number))}
    assert {repaired(text, LABEL) for text in texts} == {str(number)}


@given(st.text(), st.sampled_from(list(ValueKind)))
def test_a_value_is_repaired_once_for_all(text, kind):
    once = repaired(text, kind)
    assert repaired(once, kind) == once
    assert unicodedata.is_normalized("NFC", once)


@pytest.mark.parametrize(
    ("values", "code", "rows", "grave"),
    [
        (["Yes", "no", "yes "], Code.CASE, (2, 4), {LABEL, PRODUCT, CLASS}),
        (["dark  blue", "dark blue"], Code.CASE, (2, 3), {LABEL, PRODUCT, CLASS}),
        (["A", "nan", "B"], Code.NO_VALUE, (3,), {LABEL, PRODUCT, CLASS}),
        (["#N/A", "A", "<NA>"], Code.NO_VALUE, (2, 4), {LABEL, PRODUCT, CLASS}),
        (["none", "A"], Code.NO_VALUE, (2,), {PRODUCT}),
        (["A", "#REF!"], Code.ERROR, (3,), {LABEL, PRODUCT, CLASS}),
        (["A", "1.23457E+11"], Code.SCIENTIFIC, (3,), {PRODUCT, CLASS}),
        (["A", "1,23457E+11"], Code.SCIENTIFIC, (3,), {LABEL, PRODUCT, CLASS}),
        (["007", "8", "7"], Code.LEADING_ZEROS, (2, 4), {LABEL, PRODUCT, CLASS}),
        (["007.0", "7.0"], Code.LEADING_ZEROS, (2, 3), {LABEL, PRODUCT, CLASS}),
        (["1.10", "2", "1.1"], Code.EQUAL_NUMBERS, (2, 4), {PRODUCT, CLASS}),
        (["100000", "1E+05"], Code.EQUAL_NUMBERS, (2, 3), {PRODUCT, CLASS}),
        (["0,5", "0.5"], Code.EQUAL_NUMBERS, (2, 3), {LABEL, PRODUCT, CLASS}),
        (["0,5", "1"], Code.DECIMAL_COMMA, (2,), {LABEL}),
        (["01-Feb", "3-12"], Code.DATE, (2,), {LABEL, PRODUCT}),
    ],
)
def test_damage_is_found_with_its_rows(values, code, rows, grave):
    for kind in (LABEL, PRODUCT, CLASS):
        finding = found(kind, values).get(code)
        assert (finding is not None and finding.needs_yes) == (kind in grave), kind
        if finding is not None:
            assert finding.rows == rows
            assert finding.n_rows == len(rows)


@pytest.mark.parametrize(
    "values",
    [
        ["a", "b"],
        ["1", "2", "10"],
        ["1.0", "2.0", "1"],
        ["007", "008"],
        ["nano", "nanette"],
        ["4E12", "1e10", "0x1F"],
        ["A-1", "a-2"],
        ["", ""],
        ["1-2", "Feb"],
        ["ß", "s"],
    ],
)
def test_values_that_nothing_happened_to_are_no_findings(values):
    for kind in ValueKind:
        assert [one for one in found(kind, values).values() if one.code != Code.REPAIRED] == []


def test_names_of_pictures_are_never_refused_for_their_letters():
    findings = found(NAME, ["A.jpg", "a.jpg", "nan", "1E+05"])
    assert not any(one.needs_yes for one in findings.values())


def test_a_reader_with_nobody_to_ask_refuses_what_would_split_groups():
    column = ValueColumn("label", LABEL)
    for row, value in enumerate(["Yes", " no", "yes"], 2):
        column.add(row, value)
    with pytest.raises(FormatError) as refused:
        refuse_damage(Path("votes.csv"), [column])
    assert (refused.value.line, "'Yes', 'yes'" in refused.value.reason) == (2, True)
    tidy = ValueColumn("label", LABEL)
    tidy.add(2, " no")
    assert [one.code for one in refuse_damage("votes.csv", [tidy])] == [Code.REPAIRED]


def test_a_long_finding_counts_what_it_does_not_list():
    values = ["nan"] * 1000
    finding = found(PRODUCT, values)[Code.NO_VALUE]
    assert (finding.n_rows, len(finding.rows)) == (1000, 20)
    assert "1,000 rows" in finding.message()
