"""Values that spreadsheets and data frames changed: repairs, and findings for a person to check.

Repaired: spaces at the ends, Unicode composition, and whole numbers that became floats (`1.0` is
`1`). Labels that are equal numbers are one label. All else that looks damaged is a `Finding` with
its rows, since only a person knows the original value.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from pathlib import Path

from lookalike.io.errors import FormatError

N_ROWS = 20  # row numbers that a finding lists
N_VALUES = 5  # values that a message shows
_SPACES = " \t\r\n\x0b\x0c\u00a0\u2007\u202f\ufeff\u200b\u200e\u200f"
_WHOLE_FLOAT = re.compile(r"([-+]?[0-9]+)\.0+\Z")
_NUMBER = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)\Z")
_SCIENTIFIC = re.compile(r"[-+]?[0-9]+(?:[.,][0-9]*)?[eE][-+][0-9]{2,3}\Z")
_DECIMAL_COMMA = re.compile(r"[-+]?(?:[0-9]+|[0-9]{1,3}(?:\.[0-9]{3})+),[0-9]+\Z")
_DATE = re.compile(
    r"[0-9]{1,2}[-. ](?:Jan|Feb|Mar|Mär|Apr|May|Mai|Jun|Jul|Aug|Sep|Oct|Okt|Nov|Dec|Dez)\.?"
    r"|(?:Jan|Feb|Mar|Mär|Apr|May|Mai|Jun|Jul|Aug|Sep|Oct|Okt|Nov|Dec|Dez)[-. ][0-9]{2}"
    r"|[0-9]{4}-[0-9]{2}-[0-9]{2} 00:00:00",
    re.IGNORECASE,
)
_NO_VALUE = frozenset({"nan", "-nan", "<na>", "nat", "null", "#n/a", "n/a", "#nv", "na", "none"})
_PLAIN_WORDS = frozenset({"na", "none"})  # which may be meant as they stand
_ERROR = re.compile(r"#(?:REF|VALUE|NAME|DIV/0|NUM|NULL|SPILL|CALC|BEZUG|WERT)[!?]?\Z", re.I)


class ValueKind(StrEnum):
    """The use of a column's values."""

    LABEL = "label"
    PRODUCT = "product"
    CLASS = "class"
    NAME = "name"

    @property
    def is_grouping(self) -> bool:
        """Whether equal values make one group, so that a damaged value merges or splits groups."""
        return self is not ValueKind.NAME


class Code(StrEnum):
    """Kinds of damage to values."""

    CASE = "case"
    NO_VALUE = "no_value"
    ERROR = "error"
    SCIENTIFIC = "scientific"
    LEADING_ZEROS = "leading_zeros"
    EQUAL_NUMBERS = "equal_numbers"
    DECIMAL_COMMA = "decimal_comma"
    DATE = "date"
    REPAIRED = "repaired"


_AS_TEXT = "format the column as text and fill it again"
_ABOUT = {
    Code.CASE: "differ only in capital letters or spaces; write them alike",
    Code.NO_VALUE: "a data frame or spreadsheet writes missing values so; leave such cells empty",
    Code.ERROR: "an error of the spreadsheet; repair the cell",
    Code.SCIENTIFIC: f"the spreadsheet shortened a number, so digits may be lost; {_AS_TEXT}",
    Code.LEADING_ZEROS: f"differ only in leading zeros, which spreadsheets drop; {_AS_TEXT}",
    Code.EQUAL_NUMBERS: "are equal as numbers; write them alike",
    Code.DECIMAL_COMMA: "decimal comma; use a decimal point",
    Code.DATE: f"the spreadsheet may have made a date of another text; {_AS_TEXT}",
    Code.REPAIRED: "read without spaces at the ends and without “.0”",
}
_GRAVE = {  # kinds of column in which a value of that code merges or splits groups
    Code.NO_VALUE: frozenset({ValueKind.LABEL, ValueKind.PRODUCT, ValueKind.CLASS}),
    Code.ERROR: frozenset({ValueKind.LABEL, ValueKind.PRODUCT, ValueKind.CLASS}),
    Code.SCIENTIFIC: frozenset({ValueKind.LABEL, ValueKind.PRODUCT, ValueKind.CLASS}),
    Code.DECIMAL_COMMA: frozenset({ValueKind.LABEL}),
    Code.DATE: frozenset({ValueKind.LABEL, ValueKind.PRODUCT}),
}


@dataclass(frozen=True)
class Finding:
    """Values of a column that may be damaged.

    Attributes:
        code: the kind of damage.
        column: its name.
        kind: the use of the column.
        values: the values concerned, as they stand after repair; of `Code.REPAIRED`, before.
        rows: the first rows or lines that hold them, ascending.
        n_rows: how many rows hold them.
        needs_yes: whether groups (products, classes, labels) would merge or split, so that a
            person has to confirm; without one it is an error.
    """

    code: Code
    column: str
    kind: ValueKind
    values: tuple[str, ...]
    rows: tuple[int, ...]
    n_rows: int
    needs_yes: bool

    def message(self, unit: str = "row") -> str:
        """Return one sentence without its full stop, such as for a list of problems."""
        shown = ", ".join(map(repr, self.values[:N_VALUES]))
        more = f" and {len(self.values) - N_VALUES:,} more" if len(self.values) > N_VALUES else ""
        places = ", ".join(f"{row:,}" for row in self.rows[:N_VALUES])
        if self.n_rows > N_VALUES:
            places += f" … ({self.n_rows:,} {unit}s)"
        plural = "" if self.n_rows == 1 else "s"
        return f"{self.column}, {unit}{plural} {places}: {shown}{more}: {_ABOUT[self.code]}"


def repaired(value: str, kind: ValueKind = ValueKind.NAME) -> str:
    """Return a value without the harmless traces of spreadsheets and data frames.

    >>> [repaired(value, ValueKind.LABEL) for value in (" Yes", "1.0", "007", "0.50")]
    ['Yes', '1', '007', '0.5']
    >>> repaired("1.10", ValueKind.PRODUCT)
    '1.10'
    """
    text = unicodedata.normalize("NFC", value).strip(_SPACES)
    if kind is ValueKind.LABEL and (number := _label_number(text)):
        return number
    return without_traces(text)


def without_traces(text: str) -> str:
    """Return a text without spaces at its ends, a whole number without decimal places.

    >>> [without_traces(text) for text in (" a ", "7.0", "7.10")]
    ['a', '7', '7.10']
    """
    text = text.strip(_SPACES)
    matched = _WHOLE_FLOAT.match(text)
    return matched[1] if matched else text


class ValueColumn:
    """Repairs the values of one column as they come, and finds what else looks damaged.

    Args:
        name: of the column, for messages.
        kind: its use.

    >>> column = ValueColumn("label", ValueKind.LABEL)
    >>> [column.add(row, value) for row, value in enumerate(["1", "1.0", "nan"], 2)]
    ['1', '1', 'nan']
    >>> [(one.code.value, one.rows) for one in column.findings() if one.needs_yes]
    [('no_value', (4,))]
    """

    def __init__(self, name: str, kind: ValueKind) -> None:
        self.name, self.kind = name, kind
        self._repaired: dict[str, str] = {}
        self._rows: dict[str, list[int]] = {}
        self._n_rows: Counter[str] = Counter()

    def add(self, row: int, value: str) -> str:
        """Return a value after repair, and remember its row."""
        known = self._repaired.get(value)
        if known is None:
            known = self._repaired[value] = repaired(value, self.kind)
        self._n_rows[value] += 1
        rows = self._rows.setdefault(value, [])
        if len(rows) < N_ROWS:
            rows.append(row)
        return known

    def findings(self) -> list[Finding]:
        """Return what looks damaged, the grave first."""
        found = [*self._single(), *self._alike()]
        changed = [text for text, known in self._repaired.items() if text != known]
        if changed:
            found.append(self._finding(Code.REPAIRED, changed, needs_yes=False))
        return sorted(found, key=lambda one: (not one.needs_yes, one.rows))

    def _single(self) -> Iterator[Finding]:
        """Yield findings about single values."""
        by_code: dict[tuple[Code, bool], list[str]] = {}
        for text, known in self._repaired.items():
            if code := _code_of(known, self.kind):
                by_code.setdefault((code, known.lower() in _PLAIN_WORDS), []).append(text)
        for (code, is_word), texts in by_code.items():
            is_grave = self.kind in _GRAVE[code] and not (
                is_word and self.kind is not ValueKind.PRODUCT
            )
            yield self._finding(code, texts, needs_yes=is_grave)

    def _alike(self) -> Iterator[Finding]:
        """Yield values that one thing may be written as."""
        for code, form in (
            (Code.CASE, _folded),
            (Code.LEADING_ZEROS, _without_zeros),
            (Code.EQUAL_NUMBERS, _number_text),
        ):
            groups: dict[str, dict[str, list[str]]] = {}
            for text, known in self._repaired.items():
                if key := form(known):
                    groups.setdefault(key, {}).setdefault(known, []).append(text)
            for group in groups.values():
                if len(group) > 1:
                    texts = [text for same in group.values() for text in same]
                    yield self._finding(code, texts, needs_yes=self.kind.is_grouping)

    def _finding(self, code: Code, texts: Sequence[str], *, needs_yes: bool) -> Finding:
        rows = sorted(row for text in texts for row in self._rows[text])[:N_ROWS]
        shown = texts if code == Code.REPAIRED else [self._repaired[text] for text in texts]
        n_rows = sum(self._n_rows[text] for text in texts)
        values = tuple(dict.fromkeys(shown))
        return Finding(code, self.name, self.kind, values, tuple(rows), n_rows, needs_yes)


def refuse_damage(
    path: str | Path, columns: Iterable[ValueColumn], *, unit: str = "line"
) -> list[Finding]:
    """Return the findings that are harmless; the first that is not is an error.

    For readers that have nobody to ask.

    Raises:
        FormatError: values merge or split groups; it names them and their rows.
    """
    found = [one for column in columns for one in column.findings()]
    refuse_findings(path, found, unit=unit)
    return found


def refuse_findings(path: str | Path, findings: Iterable[Finding], *, unit: str = "line") -> None:
    """Refuse values that merge or split groups.

    Raises:
        FormatError: there are such values; it names them and their rows.
    """
    for one in findings:
        if one.needs_yes:
            raise FormatError(path, one.rows[0], one.message(unit), unit=unit)


def _code_of(text: str, kind: ValueKind) -> Code | None:
    word = text.lower()
    if word in _NO_VALUE:
        return Code.NO_VALUE
    if _ERROR.match(text):
        return Code.ERROR
    if _SCIENTIFIC.match(text):
        return Code.SCIENTIFIC
    if _DECIMAL_COMMA.match(text) and kind is not ValueKind.NAME:
        return Code.DECIMAL_COMMA
    return Code.DATE if _DATE.fullmatch(text) else None


def _label_number(text: str) -> str | None:
    """Return the plainest text of a number, None for another text and for leading zeros."""
    if not (_NUMBER.match(text) or _SCIENTIFIC.match(text)) or re.match(r"[-+]?0[0-9]", text):
        return None
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    if number.adjusted() > 15:
        return None
    plain = format(number.normalize(), "f")
    return "0" if plain in ("-0", "0") else plain


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())


def _without_zeros(text: str) -> str:
    return (text.lstrip("0") or "0") if text.isascii() and text.isdecimal() else ""


def _number_text(text: str) -> str:
    """Return the number that a text means, with a decimal point; "" for none."""
    point = text.replace(".", "").replace(",", ".") if _DECIMAL_COMMA.match(text) else text
    return _label_number(point) or ""
