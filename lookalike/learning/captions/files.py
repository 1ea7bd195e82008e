"""Files of captions, of what was read from them, and of triplets that name images."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from lookalike.core.atomic_files import write_atomically
from lookalike.io.csv_text import csv_lines, unprotected
from lookalike.io.errors import FormatError
from lookalike.io.text_files import not_decodable, text_lines
from lookalike.learning.captions.mining import CaptionTable, MinedTriplet
from lookalike.learning.captions.relations import ParsedCaption, Relation

IMAGE, CAPTION = "image", "caption"
TRIPLET_HEADER = (
    *("reference", "target", "condition", "distractor", "subject", "number"),
    *("reference_row", "target_row", "distractor_row"),
)


class NamedTriplet(NamedTuple):
    """A reference, what is said of the target, and the target; images by their names."""

    reference: str
    target: str
    condition: str


def read_captions(path: str | Path) -> tuple[list[tuple[str, str]], int]:
    """Return image and caption of each image, and how many further captions were left out.

    The first caption of an image counts, as in the paper. A file with commas has the columns
    image and caption; one with tabs may be as Conceptual Captions are: no header, first the
    caption, then the image's address.

    Raises:
        FormatError: other columns, an empty cell, or no caption.
        OSError: it cannot be opened.
    """
    path = Path(path)
    found: dict[str, str] = {}
    n_further = 0
    for line, image, caption in _captions(path):
        if not image or not caption:
            raise FormatError(path, line, f"the {CAPTION if image else IMAGE} is empty")
        n_further += image in found
        found.setdefault(image, caption)
    if not found:
        raise FormatError(path, None, "there is no caption")
    return list(found.items()), n_further


def _captions(path: Path) -> Iterator[tuple[int, str, str]]:
    lines = _tab_lines(path) if path.suffix == ".tsv" else csv_lines(path)
    image_at, caption_at = 1, 0
    for place, (line, cells) in enumerate(lines):
        if place == 0 and {IMAGE, CAPTION} <= set(cells):
            image_at, caption_at = cells.index(IMAGE), cells.index(CAPTION)
        elif place == 0 and path.suffix != ".tsv":
            reason = f"the columns are {','.join(cells)!r}; needed: {IMAGE},{CAPTION}"
            raise FormatError(path, line, reason)
        elif len(cells) <= max(image_at, caption_at):
            raise FormatError(path, line, f"{len(cells)} cells, {CAPTION} and {IMAGE} are needed")
        else:
            yield line, unprotected(cells[image_at]).strip(), unprotected(cells[caption_at]).strip()


def _tab_lines(path: Path) -> Iterator[tuple[int, list[str]]]:
    with path.open(encoding="utf-8-sig", newline="\n") as file:
        try:
            for line, text in text_lines(path, file):
                if text.strip():
                    yield line, text.rstrip("\r\n").split("\t")
        except UnicodeDecodeError as problem:
            raise not_decodable(path) from problem


def write_parsed(parsed: Iterable[ParsedCaption], path: Path) -> None:
    """Write what captions say, a JSON object a line, as the released code lays them out."""
    lines = (json.dumps(_as_json(one), ensure_ascii=False) + "\n" for one in parsed)
    write_atomically(path, lambda file: file.writelines(line.encode() for line in lines))


def read_parsed(path: str | Path) -> list[ParsedCaption]:
    """Return what `write_parsed` wrote.

    Raises:
        FormatError: a line that is no parsed caption.
        OSError: it cannot be opened.
    """
    path = Path(path)
    found = []
    with path.open(encoding="utf-8") as file:
        for line, text in text_lines(path, file):
            try:
                found.append(_from_json(json.loads(text)))
            except (ValueError, KeyError, TypeError, IndexError) as problem:
                raise FormatError(path, line, f"is no caption that was read: {problem}") from None
    return found


def _as_json(one: ParsedCaption) -> dict[str, Any]:
    return {
        "image_id": one.image,
        "captions": [one.caption],
        "entities": list(one.entities),
        "relations": [relation._asdict() for relation in one.relations],
    }


def _from_json(said: Any) -> ParsedCaption:
    relations = [
        Relation(*(str(of[part]) for part in Relation._fields)) for of in said["relations"]
    ]
    return ParsedCaption(
        str(said["image_id"]), str(said["captions"][0]), tuple(map(str, said["entities"])),
        tuple(relations),
    )  # fmt: skip


def triplet_cells(table: CaptionTable, triplet: MinedTriplet) -> tuple[str | int, ...]:
    """Return the cells of a triplet, as TRIPLET_HEADER names them."""
    reference, target, distractor = (table.rows[row] for row in triplet[1:])
    return (
        reference.image, target.image, table.condition(triplet), distractor.image,
        target.subject, triplet.number, *triplet[1:],
    )  # fmt: skip


def read_triplets(path: str | Path) -> list[NamedTriplet]:
    """Return the triplets of a CSV file with the columns reference, target and condition.

    Raises:
        FormatError: other columns, an empty or missing cell, or no triplet.
        OSError: it cannot be opened.
    """
    path = Path(path)
    lines = csv_lines(path)
    line, header = next(lines, (1, []))
    if absent := [name for name in NamedTriplet._fields if name not in header]:
        raise FormatError(path, line, f"there is no column {absent[0]!r}")
    places = [header.index(name) for name in NamedTriplet._fields]
    found = []
    for line, cells in lines:
        if len(cells) != len(header):
            reason = f"{len(cells)} cells where the header names {len(header)}"
            raise FormatError(path, line, reason)
        triplet = NamedTriplet(*(unprotected(cells[place]).strip() for place in places))
        if not all(triplet):
            raise FormatError(path, line, "a cell is empty")
        found.append(triplet)
    if not found:
        raise FormatError(path, None, "there is no triplet")
    return found
