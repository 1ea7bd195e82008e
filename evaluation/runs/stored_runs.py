"""Where the scores of uploaded runs lie: parquet files named by their content."""

from __future__ import annotations

import hashlib
import io
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from django.conf import settings

from lookalike.core.arrays import Ints
from lookalike.core.atomic_files import write_atomically
from lookalike.io.errors import InputError
from lookalike.io.parquet import stated_depth, with_depth
from lookalike.io.tables import Run, sorted_names


def run_path(sha256: str) -> Path:
    """Return where the stored scores of that hash lie (or would lie)."""
    return Path(settings.DATA_DIR) / "runs" / sha256[:2] / f"{sha256}.parquet"


def store_run(run: Run) -> str:
    """Store a run whole or not at all, and return the SHA-256 of its file.

    The file is the parquet that `lookalike.io.runs.read_run` takes: query, candidate, score,
    and the exact depth in its metadata.
    """
    table = pa.table(
        {
            "query": _column(run.query_ids, run.queries),
            "candidate": _column(run.candidate_ids, run.candidates),
            "score": pa.array(run.scores),
        }
    )
    buffer = io.BytesIO()
    table = table.replace_schema_metadata(with_depth(table.schema, run.depth).metadata)
    pq.write_table(table, buffer, compression="zstd")
    sha256 = hashlib.sha256(buffer.getbuffer()).hexdigest()
    path = run_path(sha256)
    if not path.exists() or path.read_bytes() != buffer.getbuffer():  # a damaged one is mended
        write_atomically(path, lambda file: file.write(buffer.getbuffer()))
    return sha256


def load_run(sha256: str, name: str) -> Run:
    """Return stored scores under a name.

    Raises:
        InputError: the file is gone or was changed; the message says what to do.
    """
    path = run_path(sha256)
    again = f"Delete the run “{name}” and upload it again."
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise InputError(f"the scores {path} are missing. {again}") from None
    if hashlib.sha256(content).hexdigest() != sha256:
        raise InputError(f"the scores {path} were changed on disk. {again}")
    table = pq.read_table(io.BytesIO(content), read_dictionary=["query", "candidate"])
    query_ids, queries = _coded(table.column("query"))
    candidate_ids, candidates = _coded(table.column("candidate"))
    scores = table.column("score").to_numpy().astype(np.float64)
    depth = stated_depth(path)
    return Run(name, query_ids, candidate_ids, queries, candidates, scores, depth)


def _column(names: tuple[str, ...], codes: Ints) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32()), pa.array(names))


def _coded(column: pa.ChunkedArray) -> tuple[tuple[str, ...], Ints]:
    """Return the distinct names in ascending order, and each row's place among them."""
    whole = column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
    if isinstance(whole, pa.ChunkedArray):
        whole = whole.unify_dictionaries().combine_chunks()
    return sorted_names(whole.dictionary.to_pylist(), whole.indices.to_numpy())
