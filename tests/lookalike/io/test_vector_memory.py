"""How much memory a file of vectors takes, and shapes that no array has."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

from lookalike.io.errors import FormatError
from lookalike.io.vectors import read_vectors
from tests.paths import ROOT

N, DIM = 2**15, 1024
MIB = 2**20
READ = """
import json, resource, sys
from lookalike.io.vectors import read_vectors
def megabytes():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
read_vectors(sys.argv[1])
before = megabytes()
table = read_vectors(sys.argv[2])
print(json.dumps([megabytes() - before, list(table.vectors.shape)]))
"""


def write_npz(path: Path, vectors: np.ndarray) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, array in (("ids", np.arange(len(vectors)).astype(str)), ("vectors", vectors)):
            with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
                np.lib.format.write_array(file, np.asarray(array), allow_pickle=False)
    return path


def with_shape(path: Path, shape: str) -> Path:
    """Write a .npz whose header of vectors states this shape."""
    head = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}"
    head = head.ljust(117) + "\n"
    body = b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head.encode() + bytes(24)
    ids = io.BytesIO()
    np.save(ids, np.array(["a", "b"]))
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("ids.npy", ids.getvalue())
        archive.writestr("vectors.npy", body)
    return path


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float64", "float16"])
def test_vectors_take_the_memory_of_float32_and_no_more(tmp_path: Path, dtype: str) -> None:
    block = np.random.default_rng(0).normal(size=(64, DIM)).astype(dtype)
    large = write_npz(tmp_path / "large.npz", np.tile(block, (N // 64, 1)))
    small = write_npz(tmp_path / "small.npz", block)
    command = [sys.executable, "-c", READ, str(small), str(large)]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    megabytes, shape = json.loads(told.stdout)
    assert shape == [N, DIM]
    assert megabytes < 4 * N * DIM / MIB + 90


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["<f2", ">f4", "<f8"])
def test_blocks_give_the_values_of_the_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, order: str, dtype: str
) -> None:
    monkeypatch.setattr("lookalike.io.vector_arrays.BLOCK_BYTES", 100)
    vectors = np.random.default_rng(0).normal(size=(37, 5)).astype(dtype)
    path = write_npz(tmp_path / "v.npz", np.asfortranarray(vectors) if order == "F" else vectors)
    np.testing.assert_array_equal(read_vectors(path).vectors, vectors.astype(np.float32))


@pytest.mark.parametrize("shape", ["(-2, -3)", "(-1, 6)", "(2, -3)", "(-6, -1)"])
def test_negative_shapes_are_refused(tmp_path: Path, shape: str) -> None:
    with pytest.raises(FormatError, match="negative"):
        read_vectors(with_shape(tmp_path / "v.npz", shape))
    with zipfile.ZipFile(tmp_path / "v.npz") as archive:
        (tmp_path / "v.npy").write_bytes(archive.read("vectors.npy"))
    (tmp_path / "ids.txt").write_text("a\nb\n")
    with pytest.raises(FormatError, match="negative"):
        read_vectors(tmp_path / "v.npy", tmp_path / "ids.txt")


def test_a_file_beyond_the_memory_is_refused_by_its_header(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vectors = np.ones((600, 1000), np.float16)  # 2.4 MB as float32, more than 2 MiB
    path = write_npz(tmp_path / "v.npz", vectors)
    np.save(tmp_path / "v.npy", vectors)
    (tmp_path / "ids.txt").write_text("\n".join(map(str, range(600))))
    for n_mebibytes, is_read in ((3, True), (2, False)):
        monkeypatch.setenv("VECTORS_MEMORY_MIB", str(n_mebibytes))
        for files in ([path], [tmp_path / "v.npy", tmp_path / "ids.txt"]):
            if is_read:
                assert len(read_vectors(*files).ids) == 600
            else:
                with pytest.raises(FormatError, match="at most 2,097,152"):
                    read_vectors(*files)


def test_a_site_bounds_them_for_all_its_processes() -> None:
    program = "import os, config.settings; print(os.environ['VECTORS_MEMORY_MIB'])"
    free = {name: text for name, text in os.environ.items() if name != "VECTORS_MEMORY_MIB"}
    told = subprocess.check_output([sys.executable, "-c", program], cwd=ROOT, text=True, env=free)
    assert int(told) == 1024
