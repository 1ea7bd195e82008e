"""Make the golden release of the current schema version.

    python -m tests.lookalike.release.make_golden

While a schema version is in the making, run it whenever derived files change. Once a version is
released its golden release stays: a change of derived files or of their words is a new version.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow.parquet as pq

from lookalike.io.parquet import DEPTH
from lookalike.release.derive import derive
from lookalike.release.format.archive import write_archive
from lookalike.release.format.folder import Folder
from lookalike.release.format.layout import SCHEMA_VERSION
from tests.lookalike.release.derived import current_release, seal
from tests.paths import GOLDEN_RELEASES

TARGET = GOLDEN_RELEASES / f"small-{SCHEMA_VERSION}.0.0.zip"
EXACT_DEPTH = 20


def make_golden(target: Path) -> None:
    """Write a release with intervals, letters and exact depths of runs."""
    with TemporaryDirectory() as temporary:
        folder = current_release(Path(temporary) / "small")
        for model in Folder(folder).scored:
            path = folder / f"runs/{model['id']}.parquet"
            run = pq.read_table(path).replace_schema_metadata({DEPTH: str(EXACT_DEPTH)})
            pq.write_table(run, path)
        derive(folder)
        seal(folder)
        target.unlink(missing_ok=True)
        write_archive(folder, target, target.stem)


if __name__ == "__main__":
    make_golden(TARGET)
