"""What other people's libraries make of a release: each loads it and comes to our numbers."""

from __future__ import annotations

from pathlib import Path

import datasets
import pyarrow.parquet as pq
import pytest

from lookalike.release.format.folder import Folder
from lookalike.release.format.layout import list_tables
from tests.lookalike.release.derived import derive_again

pytestmark = pytest.mark.filterwarnings("ignore")  # of libraries of theirs


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return derive_again(tmp_path_factory.mktemp("release") / "small")


@pytest.fixture(scope="module", autouse=True)
def offline(tmp_path_factory: pytest.TempPathFactory) -> object:
    """Nothing is asked of a hub, and what is prepared is kept nowhere."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(datasets.config, "HF_HUB_OFFLINE", True)
        patch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path_factory.mktemp("cache"))
        yield


def test_datasets_loads_every_config_and_every_table_with_rows_is_one(folder: Path) -> None:
    configs = datasets.get_dataset_config_names(str(folder))
    tables = {table.name: table for table in list_tables(Folder(folder).info)}
    rows = {name: pq.read_metadata(folder / tables[name].path).num_rows for name in tables}
    assert 0 in rows.values()  # or the test would say nothing of them
    assert {name for name in tables if name in configs} == {name for name in rows if rows[name]}
    for name in configs:
        [loaded] = datasets.load_dataset(str(folder), name).values()
        if name in tables:
            expected = pq.read_table(folder / tables[name].path)
            assert loaded.column_names == expected.column_names
            first = loaded.column_names[0]
            assert list(loaded[first]) == expected[first].to_pylist()
