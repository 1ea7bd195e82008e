"""Triplet files: CSV with a header, pairwise tasks of Label Studio, and integer files.

CSV: the columns `anchor,closer,farther` and maybe `condition` and `worker`, in any order; others
are ignored. Label Studio: its JSON, of an anchor and two candidates, one of which was selected.
Integer files of UT-Zappos and Celeb-A (Veit et al., CVPR 2017): `anchor far close` in each line,
positions in a list of image names or, for Celeb-A, image stems; a fourth column, 1 or 0, says
whether the line is as given or has far and close swapped. Note the order: the second image is the
dissimilar one.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lookalike.conditional.formats.json_files import read_json_list
from lookalike.conditional.formats.triplet_repeats import counted_triplets
from lookalike.conditional.types import Defect, Triplet
from lookalike.io.csv_text import csv_lines, protected, unprotected
from lookalike.io.errors import FormatError
from lookalike.io.image_spellings import plain_name
from lookalike.io.json_text import read_json
from lookalike.io.label_studio import pairwise_answers
from lookalike.io.named_images import NameOf
from lookalike.io.runs import sniff
from lookalike.io.text_files import not_decodable
from lookalike.io.vote_options import VoteOptions

COLUMNS = ("anchor", "closer", "farther")
OPTIONAL = ("condition", "worker")
_INTEGER_NAME = re.compile(
    r"(?P<condition>.+?)(_tripletlist)?_(train|val|test)(_half_reverse)?", re.IGNORECASE
)


@dataclass(frozen=True)
class TripletEntries:
    """Triplets in the order of their file.

    Attributes:
        triplets: every usable row, the closer image as the second whatever the file's order.
        swapped: shape (n_triplets,): whether the file presents farther as closer, so that the
            right prediction is "not valid"; all False but in `*_half_reverse` files.
        malformed: the rows that cannot be used; index counts the file's rows from 0, and the
            reason names the line.
    """

    triplets: tuple[Triplet, ...]
    swapped: tuple[bool, ...]
    malformed: tuple[Defect, ...] = ()


def read_triplets(
    path: str | Path,
    *,
    known_images: Collection[str] | None = None,
    conditions: Collection[str] | None = None,
    where: Mapping[str, str] | None = None,
    options: VoteOptions | None = None,
    name_of: NameOf = plain_name,
) -> TripletEntries:
    """Return the triplets of a CSV file, or of the JSON of Label Studio.

    Args:
        path: the file.
        known_images: ids that exist; a row with another one is malformed (`unknown_image`).
        conditions: the conditions that are expected; a row with another one is malformed
            (`unknown_condition`), and one without any triplet is listed at the end
            (`condition_without_triplets`, its index being the number of rows).
        where: {column: value}; other rows are passed over as if they were not there. Of CSV.
        options: of Label Studio control and configuration; and which of a worker's answers to
            one triplet counts. The others are malformed (`repeated`); without `repeats` all count.
        name_of: the name of an image from its address in Label Studio.

    Raises:
        FormatError: no such header or column, broken quoting, not UTF-8, or no usable row.
        OSError: if the file cannot be opened.
    """
    path, options = Path(path), options or VoteOptions()
    if sniff(path) == "json":
        rows = _pairwise_rows(path, options, name_of)
        return counted_triplets(path, _checked(path, rows, known_images, conditions), options)
    lines = csv_lines(path)
    _, header = next(lines, (1, []))
    header = [name.strip().lower() for name in header]
    if any(header.count(name) != 1 for name in COLUMNS) or any(
        header.count(name) > 1 for name in OPTIONAL
    ):
        reason = f"the columns are {','.join(header)!r}; needed: anchor,closer,farther"
        raise FormatError(path, 1, f"{reason}[,condition][,worker]")
    wanted = {name.lower(): value for name, value in (where or {}).items()}
    for name in wanted:
        if header.count(name) != 1:
            reason = f"there is no one column {name!r} among {','.join(header)!r}"
            raise FormatError(path, 1, reason)
    rows = _csv_rows(lines, header, {header.index(name): v for name, v in wanted.items()})
    return counted_triplets(path, _checked(path, rows, known_images, conditions), options)


def read_integer_triplets(
    paths: Sequence[str | Path],
    names: Sequence[str] | None = None,
    called: Mapping[Path, str] | None = None,
) -> TripletEntries:
    """Return the triplets of integer files, one condition a file, named by the file's name.

    `closure_tripletlist_test.txt` and `closure_test_half_reverse.txt` have the condition
    "closure"; other names are the condition as they stand.

    Args:
        paths: the files; rows are counted through all of them.
        names: the images that the integers are positions of (`read_names`); without it the
            integers are the ids.
        called: {path: what the file is called}, where the path does not say it.

    Raises:
        FormatError: a file that is not UTF-8, or without a usable row.
        OSError: if a file cannot be opened.
    """
    triplets: list[Triplet] = []
    swapped: list[bool] = []
    malformed: list[Defect] = []
    n_rows = 0
    for path in map(Path, paths):
        title = (called or {}).get(path, path.name)
        rows = _integer_rows(path, _condition_of(title), names)
        found = _checked(path, rows, None, None)
        triplets += found.triplets
        swapped += found.swapped
        malformed += [
            Defect(n_rows + defect.index, defect.code, f"{title}, {defect.reason}")
            for defect in found.malformed
        ]
        n_rows += len(found.triplets) + len(found.malformed)
    return TripletEntries(tuple(triplets), tuple(swapped), tuple(malformed))


def read_names(path: str | Path) -> list[str]:
    """Return image names: a JSON list, or one name a line (`filenames.json` is either).

    Raises:
        FormatError: not UTF-8, an empty name, or a JSON list of something else.
        OSError: if the file cannot be opened.
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise not_decodable(path) from error
    names: list[object]
    if text.lstrip().startswith("["):
        names = read_json_list(path)
    else:
        names = [line.strip() for line in text.rstrip().splitlines()]
    for place, name in enumerate(names):
        if not isinstance(name, str) or not name:
            raise FormatError(path, None, f"name {place} is empty or no text")
    return [str(name) for name in names]


def write_triplets(path: str | Path, triplets: Iterable[Triplet]) -> None:
    """Write a CSV file that `read_triplets` reads; ids are guarded against spreadsheets."""
    with Path(path).open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*COLUMNS, *OPTIONAL])
        writer.writerows([protected(cell) for cell in triplet] for triplet in triplets)


_Row = tuple[int, Triplet | str, bool]  # line, what it says or why it says nothing, swapped


def _csv_rows(
    lines: Iterator[tuple[int, list[str]]], header: list[str], wanted: Mapping[int, str]
) -> Iterator[_Row]:
    places = [header.index(name) if name in header else None for name in (*COLUMNS, *OPTIONAL)]
    for line, cells in lines:
        if len(cells) != len(header):
            yield line, f"{len(cells)} cells where the header names {len(header)}", False
        elif all(cells[place] == value for place, value in wanted.items()):
            values = ["" if place is None else unprotected(cells[place]) for place in places]
            yield line, Triplet(*values), False


def _pairwise_rows(path: Path, options: VoteOptions, name_of: NameOf) -> Iterator[_Row]:
    for answer in pairwise_answers(read_json(path), options, name_of):
        if answer.reason:
            yield answer.line, answer.reason, False
        else:
            yield answer.line, Triplet(*(*answer.images, answer.condition, answer.worker)), False


def _condition_of(title: str) -> str:
    stem = Path(title).stem
    matched = _INTEGER_NAME.fullmatch(stem)
    return matched["condition"] if matched else stem


def _integer_rows(path: Path, condition: str, names: Sequence[str] | None) -> Iterator[_Row]:
    try:
        with path.open(encoding="utf-8-sig") as file:
            for line, text in enumerate(file, 1):
                if fields := text.split():
                    yield _integer_row(line, fields, condition, names)
    except UnicodeDecodeError as error:
        raise not_decodable(path) from error


def _integer_row(line: int, fields: list[str], condition: str, names: Sequence[str] | None) -> _Row:
    if len(fields) not in (3, 4):
        return line, f"{len(fields)} fields where there are 3 or 4", False
    if len(fields) == 4 and fields[3] not in ("0", "1"):
        return line, f"the fourth field is {fields[3]!r}, not 0 or 1", False
    images = fields[:3]
    if names is not None:
        for field in images:
            if not (field.isascii() and field.isdecimal() and int(field) < len(names)):
                return line, f"{field!r} is no position in a list of {len(names):,} names", False
        images = [names[int(field)] for field in images]
    swapped = fields[3:] == ["0"]
    anchor, far, close = images
    closer, farther = (far, close) if swapped else (close, far)
    return line, Triplet(anchor, closer, farther, condition), swapped


def _checked(
    path: Path,
    rows: Iterable[_Row],
    known: Collection[str] | None,
    conditions: Collection[str] | None,
) -> TripletEntries:
    known = None if known is None else frozenset(known)
    triplets: list[Triplet] = []
    swapped: list[bool] = []
    malformed: list[Defect] = []
    index = -1
    for index, (line, said, is_swapped) in enumerate(rows):
        if isinstance(said, str):
            malformed.append(Defect(index, "malformed", f"line {line}: {said}"))
        elif fault := _fault(said, known, conditions):
            malformed.append(Defect(index, fault[0], f"line {line}: {fault[1]}"))
        else:
            triplets.append(said)
            swapped.append(is_swapped)
    if not triplets:
        why = f" (the first: {malformed[0].reason})" if malformed else ""
        raise FormatError(path, None, f"it holds no usable triplet{why}")
    used = {triplet.condition for triplet in triplets}
    malformed += [
        Defect(index + 1, "condition_without_triplets", f"no triplet has the condition {name!r}")
        for name in conditions or ()
        if name not in used
    ]
    return TripletEntries(tuple(triplets), tuple(swapped), tuple(malformed))


def _fault(
    triplet: Triplet, known: Collection[str] | None, conditions: Collection[str] | None
) -> tuple[str, str] | None:
    """Return code and reason of what is wrong with a triplet; None where nothing is."""
    anchor, closer, farther = triplet[:3]
    for role, image in zip(COLUMNS, (anchor, closer, farther), strict=True):
        if not image:
            return "malformed", f"{role} is empty"
        if known is not None and image not in known:
            return "unknown_image", f"{role}: no image {image!r}"
    if anchor in (closer, farther):
        return "anchor_is_candidate", f"the anchor {anchor!r} is also a candidate"
    if closer == farther:
        return "one_candidate", f"both candidates are {closer!r}"
    if conditions is not None and triplet.condition not in conditions:
        return "unknown_condition", f"the condition {triplet.condition!r} is not known"
    return None
