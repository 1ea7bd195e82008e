"""What other people's libraries make of a release: each loads it and comes to our numbers.

They load slowly, so only where one is asked: every process of a test run reads this file.
"""

from __future__ import annotations

import csv
import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
import pyarrow.parquet as pq
import pytest
from PIL import Image

import lookalike as lk
from lookalike.io.labels import read_qrels
from lookalike.io.tables import Run
from lookalike.release.format.archive import write_archive
from lookalike.release.format.folder import Folder
from lookalike.release.format.layout import SCHEMA_VERSION, list_tables
from tests.lookalike.release.derived import derive_again

pytestmark = pytest.mark.filterwarnings("ignore")  # of libraries of theirs


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return derive_again(tmp_path_factory.mktemp("release") / "small")


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same, judged by grades from 0 to 3."""
    scale = {"words": ["No", "Hardly", "Rather", "Yes"], "similar_from": 2}
    target = tmp_path_factory.mktemp("release") / "graded"  # datasets tells folders by this name
    found = derive_again(target, grades=scale, schema_version=SCHEMA_VERSION)
    assert set(pq.read_table(found / "data/qrels.parquet")["score"].to_pylist()) == {0, 1, 2, 3}
    return found


@pytest.fixture(scope="module", params=["folder", "graded"])
def either(request: pytest.FixtureRequest) -> Path:
    """The release as it is, and judged by grades."""
    found: Path = request.getfixturevalue(request.param)
    return found


@pytest.fixture(scope="module", autouse=True)
def offline(tmp_path_factory: pytest.TempPathFactory) -> object:
    """Nothing is asked of a hub, and what is prepared is kept nowhere."""
    import datasets

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(datasets.config, "HF_HUB_OFFLINE", True)
        patch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path_factory.mktemp("cache"))
        yield


def test_datasets_loads_every_config_and_every_table_with_rows_is_one(either: Path) -> None:
    import datasets

    folder = either
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


def test_the_tables_for_mteb_hold_the_pictures_themselves(folder: Path) -> None:
    import datasets

    release = Folder(folder)
    for config, expected in {
        "corpus": {image for image, of in release.rows("images", "image_id", "is_candidate") if of},
        "query": {query for query, _, label in release.qrels() if label},
    }.items():
        loaded = datasets.load_dataset(str(folder), config, split="test")
        assert set(loaded["id"]) == expected
        assert isinstance(loaded[0]["image"], Image.Image)
        plain = loaded.cast_column("image", datasets.Image(decode=False))
        assert [sha256(row["image"]["bytes"]).hexdigest() for row in plain] == [
            release.sha256_of[row["id"]] for row in plain
        ]


class Pixels:
    """A model for MTEB: the pixels of a picture as a vector."""

    def __init__(self) -> None:
        from mteb.models import ModelMeta

        self.mteb_model_meta = ModelMeta.create_empty(
            {"name": "test/pixels", "revision": "1", "modalities": ["image"]}
        )

    def encode(self, inputs: Any, **_: object) -> np.ndarray:
        pictures = [picture for batch in inputs for picture in batch["image"]]
        return np.stack([vector_of(picture) for picture in pictures])

    def similarity(self, one: np.ndarray, other: np.ndarray) -> Any:
        return np.asarray(one) @ np.asarray(other).T

    def similarity_pairwise(self, one: np.ndarray, other: np.ndarray) -> Any:
        return (np.asarray(one) * np.asarray(other)).sum(axis=1)


def vector_of(picture: Image.Image) -> Any:
    pixels = np.asarray(picture.convert("RGB"), np.float32).ravel() - 127
    return pixels / np.linalg.norm(pixels)


def pixels_run(folder: Path) -> Run:
    """The same model, as we score it: every query with every candidate."""
    release = Folder(folder)
    images = release.rows("images", "image_id", "file", "is_candidate")
    files = {image: file for image, file, is_ranked in images if is_ranked}
    names = tuple(sorted(files))
    unit = np.stack([vector_of(Image.open(folder / files[name])) for name in names])
    at = np.arange(len(names))
    return Run("pixels", names, names, np.repeat(at, at.size), np.tile(at, at.size),
               (unit @ unit.T).ravel().astype(np.float64))  # fmt: skip


@pytest.mark.parametrize("kind", ["folder", "zip", "graded", "with the own product"])
def test_mteb_comes_to_our_ndcg(request: pytest.FixtureRequest, tmp_path: Path, kind: str) -> None:
    import mteb

    if kind == "with the own product":
        folder = derive_again(tmp_path / "all", exclude_same_product=False)
    else:
        folder = request.getfixturevalue("folder" if kind == "zip" else kind)
    source = folder
    if kind == "zip":
        source = tmp_path / "small-1.0.0.zip"
        write_archive(folder, source, "small-1.0.0")
    products = Folder(folder).products
    assert (products is None) is (kind == "with the own product")
    [ours] = lk.score(Folder(folder).qrels(), pixels_run(folder), ["nDCG@10"], products=products)
    task = lk.mteb_task(str(source))
    theirs: dict[str, float] = {}

    def keep(scores: dict[str, dict[str, float]], *_: object, **__: object) -> dict[str, float]:
        theirs.update({query: of["ndcg_cut_10"] for query, of in scores.items()})
        return {}

    task.task_specific_scores = keep  # before they are rounded
    result = mteb.evaluate(Pixels(), task, cache=None, show_progress_bar=False)
    value = ours.outcomes["nDCG@10"].value
    assert 0.05 < value < 0.9
    assert len(theirs) == ours.outcomes["nDCG@10"].n_defined
    assert np.mean(list(theirs.values())) == pytest.approx(value, abs=1e-6)
    [shown] = result.task_results[0].scores["test"]
    assert shown["ndcg_at_10"] == pytest.approx(value, abs=1e-5)


def test_ir_measures_comes_to_our_ndcg_from_the_shipped_files(either: Path) -> None:
    folder, release = either, Folder(either)
    qrels = read_qrels(folder / "trec/qrels.txt", min_rel=2 if release.scale else None)
    gains = qrels.labels if qrels.grades is None else qrels.grades
    similar = {qrels.query_ids[q] for q in qrels.queries[gains > 0]}
    asked = [
        row for row in ir_measures.read_trec_qrels(str(folder / "trec/qrels.txt"))
        if row.query_id in similar
    ]  # fmt: skip
    for model in release.scored:
        run = list(ir_measures.read_trec_run(str(folder / f"trec/runs/{model['id']}.txt")))
        theirs = ir_measures.calc_aggregate([ir_measures.nDCG @ 10], asked, run)
        [ours] = lk.score(
            qrels, release.run(model["id"]), ["nDCG@10"], products=release.products, missing="worst"
        )
        value = ours.outcomes["nDCG@10"].value
        assert value == pytest.approx(theirs[ir_measures.nDCG @ 10], abs=1e-9)


def test_mlcroissant_validates_version_1_1_and_loads_every_table(either: Path) -> None:
    import mlcroissant

    folder = either
    found = mlcroissant.Dataset(jsonld=folder / "croissant.json")
    assert not found.metadata.ctx.issues.errors
    assert not found.metadata.ctx.issues.warnings
    assert found.metadata.ctx.is_v1_1()
    for table in list_tables(Folder(folder).info):
        n_rows = pq.read_metadata(folder / table.path).num_rows
        if n_rows:
            records = list(found.records(table.name))
            assert len(records) == n_rows
            assert set(records[0]) == {f"{table.name}/{column.name}" for column in table.columns}


RESPONSIBLE = (
    *("data_collection", "data_collection_type", "data_collection_missing_data"),
    *("data_collection_timeframe", "data_imputation_protocol", "data_preprocessing_protocol"),
    *("data_annotation_protocol", "data_annotation_platform", "data_annotation_analysis"),
    *("annotations_per_item", "annotator_demographics", "machine_annotation_tools"),
    *("data_biases", "data_use_cases", "data_limitations", "data_social_impact"),
    *("personal_sensitive_information", "data_release_maintenance_plan"),
)


def test_the_rai_properties_say_what_the_curators_and_the_datasheet_say(folder: Path) -> None:
    import mlcroissant

    metadata = mlcroissant.Dataset(jsonld=folder / "croissant.json").metadata
    said = {name: getattr(metadata, name) for name in RESPONSIBLE}
    assert not [name for name, value in said.items() if not value]
    demographics = " ".join(said["annotator_demographics"])
    for words in ("All read German; aged 25 to 60", "Ten years of knits", "15 EUR an hour"):
        assert words in demographics
    assert said["data_social_impact"] == "None expected: drawn squares."
    assert "The images show no people" in " ".join(said["personal_sensitive_information"])
    counts = json.loads((folder / "statistics.json").read_bytes())
    assert (
        f"{counts['n_votes']:,} votes in all; {counts['n_pairs']:,} pairs"
        in said["annotations_per_item"]
    )
    sheet = (folder / "datasheet.md").read_text()
    for name in ("data_biases", "data_limitations", "data_annotation_protocol"):
        for words in said[name][:1]:
            assert words.removesuffix(".") in sheet, name


def test_what_curators_left_unsaid_is_said_to_be_unsaid(tmp_path: Path) -> None:
    import mlcroissant

    folder = derive_again(tmp_path / "less", panel={}, uses={"intended": "", "excluded": ""})
    metadata = mlcroissant.Dataset(jsonld=folder / "croissant.json").metadata
    assert "Demographics: not stated by the curators." in metadata.annotator_demographics
    assert metadata.data_social_impact == "not stated by the curators."


def test_ir_datasets_reads_images_queries_and_labels(folder: Path) -> None:
    import ir_datasets

    release, trec = Folder(folder), folder / "trec"
    found = ir_datasets.create_dataset(
        str(trec / "images.tsv"), str(trec / "queries.tsv"), str(trec / "qrels.txt")
    )
    assert {one.doc_id: one.text for one in found.docs_iter()} == release.path_of
    queries = {query for (query,) in release.rows("queries", "query_id")}
    assert {one.query_id for one in found.queries_iter()} == queries
    labels = {(one.query_id, one.doc_id): one.relevance for one in found.qrels_iter()}
    assert labels == {(query, image): label for query, image, label in release.qrels()}


def test_the_csv_of_images_is_one_that_fiftyone_reads(folder: Path) -> None:
    """CSVDataset: a header, and a column of media paths relative to data_path."""
    with (folder / "csv/images.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    names = [row["file"] for row in rows]
    assert sorted(names) == sorted(f"images/{path.name}" for path in (folder / "images").iterdir())
    assert len(rows) == pq.read_metadata(folder / "data/images.parquet").num_rows
