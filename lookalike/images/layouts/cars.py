"""Stanford Cars (Krause et al., 2013): `cars_annos.mat`, or the lists of its newer kit."""

from __future__ import annotations

import csv
import struct
import zlib
from importlib import import_module
from io import BytesIO, StringIO
from typing import Any

import numpy as np

from lookalike.images.layouts.layout import Layout, Listing
from lookalike.images.layouts.lists import Lists, box
from lookalike.images.sources import Source
from lookalike.io.errors import FormatError

# Krause et al. (3dRR 2013), section 3: 8,144 images to train, 8,041 to test
PUBLISHED = {"images": 16_185, "classes": 196, "train": 8_144, "test": 8_041}
N_SEEN = 98
MAX_BYTES = 64 * 2**20  # of a list, packed and unpacked; the real ones have 2 MB
_HEADER, _PACKED = 128, 15
_DAMAGES = (
    *(ValueError, TypeError, NotImplementedError, LookupError, OverflowError, MemoryError),
    *(struct.error, zlib.error),
)
KINDS = ("manufacturer", "type")
KIT = {
    "train": ("cars_train_annos.mat", "cars_train"),
    "test": ("cars_test_annos_withlabels.mat", "cars_test"),
}


def read_cars(source: Source) -> Layout:
    """Return Stanford Cars: class, year, the authors' split, the one of metric learning, box.

    Metric learning trains on the first 98 classes and tests on the others (Song et al., 2016).
    """
    lists = Lists(source, "Stanford Cars")
    path = lists.find_any("cars_annos.mat")
    listing = Listing(lists.title, path or KIT["train"][0], PUBLISHED)
    if path:
        table = _read(lists, path)
        names = _names(path, table)
        for number, row in enumerate(_rows(path, table), 1):
            image = str(_field(path, number, row, "relative_im_path"))
            split = "test" if _number(path, number, row, "test") else "train"
            known = _attributes(path, number, row, names)
            listing.add(image, "", known | {"split": split}, number)
        _note_kinds(lists, listing)
        return listing.found_in(source)
    meta = lists.find("cars_meta.mat")
    names = _names(meta, _read(lists, meta))
    for split, (name, folder) in KIT.items():
        place = lists.find(name)
        for number, row in enumerate(_rows(place, _read(lists, place)), 1):
            image = f"{folder}/{_field(place, number, row, 'fname')}"
            known = _attributes(place, number, row, names)
            listing.add(image, "", known | {"split": split}, number)
    return listing.found_in(source)


def _note_kinds(lists: Lists, listing: Listing) -> None:
    """Add manufacturer and type where somebody has put InDiReCT's `Cars196.csv` beside the kit."""
    path = lists.find_any("Cars196.csv")
    if path is None:
        return
    text = lists.content(path, MAX_BYTES).decode("utf-8-sig", errors="replace")
    reader = csv.DictReader(StringIO(text))
    wanted = ("img_name", *KINDS)
    if absent := [name for name in wanted if name not in (reader.fieldnames or ())]:
        raise FormatError(path, 1, f"no column {absent[0]}; it has {', '.join(wanted)}")
    for row in reader:
        number = (row["img_name"] or "").strip()
        if not number.isdecimal():
            raise FormatError(path, reader.line_num, f"img_name {number!r} is no number")
        known = {name: (row[name] or "").strip() for name in KINDS}
        listing.note(f"car_ims/{int(number):06d}.jpg", known, path, reader.line_num)


def _attributes(path: str, number: int, row: Any, names: list[str]) -> dict[str, str]:
    kind = _number(path, number, row, "class")
    if not 1 <= kind <= len(names):
        raise FormatError(path, number, f"class {kind} is none of 1 to {len(names)}", unit="row")
    corners = [str(_number(path, number, row, f"bbox_{at}")) for at in ("x1", "y1", "x2", "y2")]
    name = names[kind - 1]
    return {
        "class": name,
        "year": name.rpartition(" ")[2],
        "metric_split": "train" if kind <= N_SEEN else "test",
        "box": box(path, number, corners),
    }


def _read(lists: Lists, path: str) -> dict[str, Any]:
    matlab = import_module("scipy.io")  # here: who only names layouts does not load it
    content = lists.content(path, MAX_BYTES)
    _check_size(path, content)
    try:
        table: dict[str, Any] = matlab.loadmat(BytesIO(content), squeeze_me=True)
    except (matlab.matlab.MatReadError, *_DAMAGES) as problem:
        raise FormatError(path, None, f"not readable as a MATLAB file: {problem}") from problem
    return table


def _check_size(path: str, content: bytes) -> None:
    """Refuse what would unpack to far more than it is, before it is unpacked."""
    place, n_left = _HEADER, MAX_BYTES
    while place + 8 <= len(content):
        kind, n_bytes = struct.unpack_from("<II", content, place)
        if kind == _PACKED:
            unpacked = zlib.decompressobj()
            try:
                part = content[place + 8 : place + 8 + n_bytes]
                n_left -= len(unpacked.decompress(part, n_left + 1))
            except zlib.error as problem:
                raise FormatError(path, None, f"damaged: {problem}") from problem
            if n_left < 0:
                reason = f"it would unpack to more than {MAX_BYTES:,} bytes"
                raise FormatError(path, None, reason)
        place += 8 + n_bytes


def _names(path: str, table: dict[str, Any]) -> list[str]:
    if "class_names" not in table:
        raise FormatError(path, None, "it holds no class_names")
    return [str(name) for name in np.atleast_1d(table["class_names"])]


def _rows(path: str, table: dict[str, Any]) -> list[Any]:
    rows = np.atleast_1d(table.get("annotations"))  # type: ignore[arg-type]
    if rows.dtype.names is None:
        raise FormatError(path, None, "it holds no annotations")
    return list(rows)


def _field(path: str, number: int, row: Any, name: str) -> Any:
    if name not in row.dtype.names:
        raise FormatError(path, number, f"it has no {name}", unit="row")
    return row[name]


def _number(path: str, number: int, row: Any, name: str) -> int:
    value = np.asarray(_field(path, number, row, name))
    if value.size != 1 or not np.issubdtype(value.dtype, np.number):
        raise FormatError(path, number, f"{name} is no number", unit="row")
    return int(value.item())
