"""Files that would unpack to gigabytes are refused by name, and cost next to no memory.

All of them are opened by one fresh process, which says what it was told and how far its memory
rose above what it had with the libraries loaded.
"""

from __future__ import annotations

import io
import json
import subprocess
import sys
import zipfile
import zlib
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from lookalike.io.errors import FormatError
from lookalike.io.vectors import read_vectors
from lookalike.release.format.layout import ALL_TABLES
from lookalike.release.format.manifest import Entry, Manifest
from tests.paths import ROOT

MOST_MB = 200
DIM = 4096

OPEN = """
import json, sys
from pathlib import Path
import pyarrow.compute
from lookalike.images.decode import PictureError, read_picture
from lookalike.images.sources import open_source
from lookalike.io.errors import InputError
from lookalike.io.runs import read_run
from lookalike.io.vectors import read_vectors
from lookalike.release.format.archive import opened
from lookalike.release.format.tables import read_table
from lookalike.release.format.layout import ALL_TABLES

PAIRS = ALL_TABLES["pairs"].schema

def megabytes(what):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(what)) / 1024

def attempt(read, *arguments):
    try:
        read(*arguments)
    except (InputError, PictureError, MemoryError) as problem:
        return str(problem)
    return "was read"

def zip_report(path):
    with open_source(path) as source:
        return {p.file: p.reason for p in source.problems}

def unpack(path):
    with opened(path):
        pass

folder = Path(sys.argv[1])
before = megabytes("VmRSS")
told = {
    "20 KB parquet": attempt(read_vectors, folder / "20.parquet"),
    "200 KB parquet": attempt(read_vectors, folder / "200.parquet"),
    "npz": attempt(read_vectors, folder / "8.npz"),
    "header of a npz": attempt(read_vectors, folder / "header.npz"),
    "parquet of one long name": attempt(read_vectors, folder / "names.parquet"),
    "run": attempt(read_run, folder / "run.parquet"),
    "run of one long name": attempt(read_run, folder / "run-names.parquet"),
    "run of one line": attempt(read_run, folder / "line.csv"),
    "labels of a release": attempt(read_table, folder / "pairs.parquet", PAIRS),
    "release": attempt(unpack, folder / "release.zip"),
    "100 megapixels": attempt(read_picture, (folder / "100.png").read_bytes(), "100.png"),
    "nested zip": zip_report(folder / "nested.zip"),
}
print(json.dumps({"told": told, "mb": megabytes("VmHWM") - before}))
"""


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    folder = tmp_path_factory.mktemp("bombs")
    write_bombs(folder)
    command = [sys.executable, "-c", OPEN, str(folder)]
    child = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert child.returncode == 0, child.stderr
    found: dict[str, object] = json.loads(child.stdout)
    return found


def write_bombs(folder: Path) -> None:
    write_swollen(folder / "20.parquet", vectors(1000), n_doublings=6)
    write_swollen(folder / "200.parquet", vectors(200), n_doublings=10)
    assert 10_000 < (folder / "20.parquet").stat().st_size < 30_000
    assert 100_000 < (folder / "200.parquet").stat().st_size < 400_000
    write_npz(folder / "8.npz", (2**18, 2**13), stated=8 * 2**30)
    write_npz(folder / "header.npz", (2**40, 2**10), stated=2**20)
    long = pa.DictionaryArray.from_arrays(pa.array([0] * 1000, pa.int32()), ["x" * 2**20])
    one = pa.FixedSizeListArray.from_arrays(pa.array(np.ones(1000, np.float32)), 1)
    pq.write_table(pa.table({"id": long, "vector": one}), folder / "names.parquet")
    names = {"query": long, "candidate": [str(i) for i in range(1000)], "score": [0.5] * 1000}
    pq.write_table(pa.table(names), folder / "run-names.parquet")
    n = 100_000
    same = pa.DictionaryArray.from_arrays(pa.array(np.zeros(n, np.int8)), ["x"])
    flat = {"query": same, "candidate": same, "score": np.zeros(n, np.float32)}
    write_swollen(folder / "run.parquet", pa.table(flat), n_doublings=7)
    numbers = pa.array(np.zeros(n, np.int64))
    schema = ALL_TABLES["pairs"].schema
    columns = [same if pa.types.is_string(f.type) else numbers.cast(f.type) for f in schema]
    table = pa.Table.from_arrays(columns, names=schema.names)
    write_swollen(folder / "pairs.parquet", table, n_doublings=7)
    with (folder / "line.csv").open("wb") as file:
        file.write(b"query,candidate,score")
        file.truncate(2**29)  # of zeros, on no disk
    Image.new("1", (10_000, 10_000)).save(folder / "100.png")
    with zipfile.ZipFile(folder / "inner.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.jpg", bytes(2**20))
    write_zip(folder / "nested.zip", "inner.zip", (folder / "inner.zip").read_bytes())
    manifest = Manifest("r", "1.0.0", {"big.csv": Entry("0" * 64, 2**36, None)})
    write_zip(folder / "release.zip", "r/MANIFEST.json", manifest.text().encode())


def vectors(n_rows: int) -> pa.Table:
    ends = pa.array(np.arange(0, n_rows * DIM + 1, DIM, dtype=np.int32))
    ones = pa.ListArray.from_arrays(ends, pa.array(np.ones(n_rows * DIM, np.float32)))
    return pa.table({"id": ["x"] * n_rows, "vector": ones})


def write_swollen(path: Path, table: pa.Table, *, n_doublings: int) -> None:
    """Write a table whose footer names its only group of rows again and again."""
    pq.write_table(table, path, compression="zstd")
    content = path.read_bytes()
    footer = pq.read_metadata(path)
    for _ in range(n_doublings):
        footer.append_row_groups(footer)
    alone = io.BytesIO()
    footer.write_metadata_file(alone)
    start = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    path.write_bytes(content[:start] + alone.getvalue()[4:])


def write_zip(path: Path, name: str, content: bytes) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(name, content)


def write_npz(path: Path, shape: tuple[int, int], *, stated: int) -> None:
    """Write an array of zeros that unpacks to `stated` bytes, whatever its header says."""
    head = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        head, {"descr": "<f4", "fortran_order": False, "shape": shape}
    )
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    first = packer.compress(head.getvalue().ljust(2**20, b"\0")) + packer.flush(zlib.Z_FULL_FLUSH)
    block = packer.compress(bytes(2**20)) + packer.flush(zlib.Z_FULL_FLUSH)
    packed = first + block * (stated // 2**20 - 1) + packer.flush()
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("vectors.npy", packed)
        entry = archive.infolist()[0]
        entry.compress_type, entry.file_size = zipfile.ZIP_DEFLATED, stated
        ids = io.BytesIO()
        np.save(ids, np.array(["a"]))
        archive.writestr("ids.npy", ids.getvalue())


def test_each_is_refused_by_name(outcome):
    told = outcome["told"]
    assert told.pop("nested zip") == {
        "inner.zip": "An archive inside is not opened. Unpack it, and pack its pictures."
    }
    wanted = {
        "20 KB parquet": "20.parquet: it would unpack to 1,0",
        "200 KB parquet": "200.parquet: it would unpack to 3,3",
        "npz": "8.npz: it would unpack to 8,589,",
        "header of a npz": "header.npz: vectors.npy states 4,503,599,627,370,496 bytes and holds",
        "parquet of one long name": "names.parquet, row 1: the id has 1,048,576 characters",
        "run of one long name": "run-names.parquet, row 1: the query has 1,048,576 characters",
        "run": "run.parquet: it would unpack to ",
        "run of one line": "line.csv, line 1: the line has more than 1,048,576 characters",
        "labels of a release": "pairs.parquet: it would unpack to ",
        "release": "release.zip: it would unpack to 68,719,",
        "100 megapixels": "It would unpack to 10,000 × 10,000 pixels; at most 64,000,000",
    }
    assert told.keys() == wanted.keys()
    wrong = {name: told[name] for name, words in wanted.items() if words not in told[name]}
    assert not wrong


def test_memory_stays_where_it_was(outcome):
    assert outcome["mb"] < MOST_MB


def test_an_honest_file_of_the_same_size_is_read(tmp_path):
    """The bound is on what a file unpacks to, so real vectors of the same shape pass."""
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(500, 4096)).astype(np.float32)
    ids = [f"{i}.jpg" for i in range(500)]
    path = tmp_path / "honest.parquet"
    pq.write_table(pa.table({"id": ids, "vector": list(vectors)}), path, row_group_size=70)
    table = read_vectors(path)
    assert table.ids == ids
    assert (table.vectors == vectors).all()


def test_a_footer_that_states_too_little_is_found_out(tmp_path):
    path = tmp_path / "lie.parquet"
    vectors = np.random.default_rng(0).normal(size=(2000, 64)).astype(np.float32)
    pq.write_table(pa.table({"id": [str(i) for i in range(2000)], "vector": list(vectors)}), path)
    content = path.read_bytes()
    start = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    footer = content[start:].replace(zigzag(2000 * 64, 3), zigzag(64, 3))
    path.write_bytes(content[:start] + footer)
    with pytest.raises(FormatError, match=r"lie\.parquet, row 2: more numbers than the footer"):
        read_vectors(path)


def zigzag(number: int, n_bytes: int) -> bytes:
    """Return a number as the footer writes it (Thrift's compact varint), in so many bytes."""
    left = number * 2
    parts = [(left >> 7 * i & 0x7F) | 0x80 for i in range(n_bytes)]
    return bytes([*parts[:-1], parts[-1] & 0x7F])
