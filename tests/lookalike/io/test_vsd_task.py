"""Tasks of the VSD benchmark: in and out byte for byte, what is asked, ranked, wrong."""

from __future__ import annotations

import csv
import json
import zipfile
from pathlib import Path

import numpy as np
import pytest

import lookalike as lk
from lookalike.cli.main import main
from lookalike.io.errors import InputError
from lookalike.io.json_text import read_json
from lookalike.io.labels import read_qrels
from lookalike.io.vsd_defects import find_vsd_defects
from lookalike.io.vsd_task import make_vsd_task, read_vsd_task, write_vsd_task, zip_vsd_task
from lookalike.io.writers import write_csv
from tests.lookalike.metrics.cases import toy
from tests.paths import GOLDEN_RELEASES, shared

TASKS = {
    "in_catalog_retrieval_zero_shot": "catalog",
    "in_catalog_open_catalog": "catalog",
    "in_catalog_closed_catalog": "catalog",
    "consumer-catalog_wild_zero_shot": "wild",
}
KINDS = ("true_pos", "true_neg", "false_pos", "false_neg")
LAYOUTS = [{}, {"indent": 1}, {"indent": 4, "ensure_ascii": False}, {"separators": (",", ":")}]


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def real_task(folder: Path, name: str, layout: dict[str, object]) -> list[dict[str, str]]:
    """Write the real pairs as a task of this name, as its authors lay one out."""
    with (shared("vsd_fashion_examples") / "pairs.csv").open() as file:
        pairs = [row for row in csv.DictReader(file) if row["task"] == TASKS[name]]
    phases = {row["gallery"]: "gallery" for row in pairs} | {row["query"]: "query" for row in pairs}
    images = [
        {"id": path.split("/")[-2], "path": path, "phase": phase, "bbox": [1, 2, 30, 40]}
        for path, phase in phases.items()
    ]
    seen = [
        {"id": f"id_{n}", "path": f"img/é{n}.jpg", "phase": "train", "category": "Röcke"}
        for n in (98, 99)
    ]
    labels = [{"key": [r["query"], r["gallery"]], "value": int(r["value"])} for r in pairs]
    files = {
        "metadata.json": {"images": images + seen},
        "test/gt_tagging.json": labels,
        "test/seeds.json": {"seeds": [row["query"] for row in pairs]},
        "test/manifest.json": {"images": [{"path": image["path"]} for image in images]},
    }
    if name.endswith(("open_catalog", "closed_catalog")):
        files["train/manifest.json"] = {"images": [{"path": image["path"]} for image in seen]}
        files["train/annotations.json"] = [{"key": ["img/é98.jpg", "img/é99.jpg"], "value": 1}]
    if "wild" in name:
        files["task.json"] = {"task": name, "gallery_phases": ["gallery"]}
    for path, value in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(json.dumps(value, **layout), encoding="utf-8")  # type: ignore[arg-type]
    return pairs


@pytest.mark.parametrize("task", ["catalog", "wild"])
@pytest.mark.parametrize("kind", KINDS)
def test_the_official_example_files_are_read_and_written_back_equal(task: str, kind: str) -> None:
    path = shared("vsd_fashion_examples") / f"{task}_{kind}.json"
    file = read_json(path)
    assert file.style
    assert file.style.dumps(file.value).encode() == path.read_bytes()
    with (path.parent / "pairs.csv").open() as table:
        rows = [r for r in csv.DictReader(table) if (r["task"], r["kind"]) == (task, kind)]
    wanted = {(row["query"], row["gallery"]): int(row["value"]) for row in rows}
    assert {(q, c): y for q, c, y in read_qrels(path)} == wanted


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
@pytest.mark.parametrize("name", TASKS)
def test_the_four_tasks_come_back_byte_for_byte(
    name: str, layout: dict[str, object], tmp_path: Path
) -> None:
    source = tmp_path / name
    pairs = real_task(source, name, layout)
    task = read_vsd_task(source)
    assert write_vsd_task(task, tmp_path / "again") == []
    assert contents(tmp_path / "again") == contents(source)
    packed = tmp_path / "task.zip"
    packed.write_bytes(zip_vsd_task(task))
    assert write_vsd_task(read_vsd_task(packed), tmp_path / "unpacked") == []
    assert contents(tmp_path / "unpacked") == contents(source)
    queries, candidates = {row["query"] for row in pairs}, {row["gallery"] for row in pairs}
    assert task.name == name
    assert set(task.queries()) == queries
    # With no phases given, the benchmark ranks the whole test set, queries included.
    assert set(task.gallery()) == (candidates if "wild" in name else candidates | queries)
    assert find_vsd_defects(task) == []
    wanted = {(row["query"], row["gallery"]): int(row["value"]) for row in pairs}
    assert {(q, c): y for q, c, y in task.qrels()} == wanted


def toy_task(folder: Path) -> Path:
    """Write the toy of the protocol, with an image that the task does not rank."""
    qrels, run, products = toy()
    images = [
        {"id": products.get(path, path), "path": path, "phase": "test"}
        for path in sorted({*run.query_ids, *run.candidate_ids})
    ]
    images.append({"id": "Z", "path": "z", "phase": "train"})
    manifest = [image["path"] for image in images[:-1]]
    task = make_vsd_task("toy", images, qrels, seeds=["q1", "q2", "q3"], manifest=manifest)
    write_vsd_task(task, folder)
    return folder


def test_the_toy_of_the_paper_scores_as_its_code_does(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    task = toy_task(tmp_path / "toy")
    rows = [(q, c, s) for q, row in toy()[1].by_query().items() for c, s in row.items()]
    rows += [(query, "z", 0.99) for query in ("q1", "q2", "q3")]
    with (tmp_path / "run.csv").open("w") as out:
        write_csv(out, rows, ("query", "candidate", "score"))
    measures = "vsd_hr@1,vsd_hr@2,vsd_hr@3,vsd_hr@5,vsd_mrr@1,vsd_mrr@2,vsd_mrr@3,vsd_mrr@5"
    measures += ",vsd_pair_mrr,micro_roc_auc,micro_pr_auc,macro_roc_auc,macro_pr_auc"
    words = ["score", "--vsd-task", str(task), "--run", str(tmp_path / "run.csv"), "--json"]
    assert main([*words, "--measures", measures]) == 0
    printed = capsys.readouterr()
    found = json.loads(printed.out)["runs"][0]["measures"]
    wanted = [1 / 3, 1 / 3, 0.444444, 0.266667, 1 / 3, 1 / 3, 0.393939, 0.316302]
    wanted += [0.433333, 0.675, 0.668333, 0.666667, 0.805556]
    values = [found[name]["value"] for name in measures.split(",")]
    assert values == pytest.approx(wanted, abs=1e-6)
    assert "3 scores of images that the task does not rank are left out" in printed.err


def test_embeddings_are_ranked_on_the_task_s_gallery(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    images = [{"id": name, "path": name, "phase": "gallery"} for name in "abc"]
    images.append({"id": "q", "path": "q", "phase": "query"})
    task = make_vsd_task("wild", images, [("q", "a", 1), ("q", "b", 0)], gallery_phases=["gallery"])
    write_vsd_task(task, tmp_path / "wild")
    vectors = np.array([[0.9, 0.1], [0.1, 0.9], [1, 0], [1, 0]], np.float32)
    np.savez(tmp_path / "mine.npz", ids=np.array(["a", "b", "c", "q"]), vectors=vectors)
    np.savez(tmp_path / "less.npz", ids=np.array(["a", "b", "q"]), vectors=vectors[[0, 1, 3]])
    words = ["score", "--vsd-task", str(tmp_path / "wild"), "--measures", "vsd_mrr@5", "--json"]
    assert main([*words, "--run", str(tmp_path / "mine.npz")]) == 0
    [run] = json.loads(capsys.readouterr().out)["runs"]
    assert run["measures"]["vsd_mrr@5"]["value"] == pytest.approx(0.5 / (137 / 60))
    assert main([*words, "--run", str(tmp_path / "less.npz")]) == 2
    assert "it has no vector of 1 images of the task, such as 'c'" in capsys.readouterr().err


def test_each_defect_is_named_by_file_and_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    images = [{"id": i, "path": f"{p}.jpg", "phase": "test"} for i, p in ("Aa", "Ab", "Bc", "Cd")]
    images[3]["phase"] = "spring"
    labels = [("a.jpg", "b.jpg", 1), ("a.jpg", "x.jpg", 0), ("b.jpg", "c.jpg", 1)]
    labels.append(("a.jpg", "d.jpg", 1))
    task = make_vsd_task("broken", images, labels, seeds=["a.jpg", "y.jpg"], manifest=["a.jpg",
                         "b.jpg", "c.jpg", "d.jpg"])  # fmt: skip
    write_vsd_task(task, tmp_path / "broken")
    assert main(["vsd", "validate", str(tmp_path / "broken"), "--json"]) == 1
    printed = capsys.readouterr()
    found = [(d["file"], d["line"], d["code"]) for d in json.loads(printed.out)["defects"]]
    assert found == [
        ("metadata.json", 5, "unknown_phase"),
        ("seeds.json", 3, "unknown_image"),
        ("annotations.json", 2, "own_product"),
        ("annotations.json", 3, "unknown_image"),
        ("annotations.json", 4, "not_a_query"),
        ("annotations.json", 5, "not_ranked"),
    ]
    assert "KeyError" in printed.err


def test_an_open_catalog_tests_no_product_that_training_has_seen(tmp_path: Path) -> None:
    images = [{"id": "A", "path": f"{name}.jpg", "phase": "test"} for name in "ab"]
    task = make_vsd_task("in_catalog_open_catalog", images, [("a.jpg", "a.jpg", 0)],
                         manifest=["a.jpg"])  # fmt: skip
    write_vsd_task(task, tmp_path / "open")
    (tmp_path / "open/train_manifest.json").write_text('{"images": [\n{"path": "b.jpg"}\n]}\n')
    (tmp_path / "open/task.json").write_text('{"task": "in_catalog_open_catalog"}')
    codes = {defect.code for defect in find_vsd_defects(read_vsd_task(tmp_path / "open"))}
    assert codes == {"own_product", "in_training"}


IMAGES = '{"images": [{"id": "A", "path": "a.jpg", "phase": "test"}]}'


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({"a.json": "[]"}, "no file holds metadata of a VSD task"),
        ({"a.json": IMAGES}, "no file holds annotations of a VSD task"),
        ({"a.json": '{"people": []}'}, "a.json, line 1: it holds neither images, annotations"),
        ({"a.json": "[", "m.json": IMAGES}, "a.json, line 1: not JSON"),
        ({"a.json": "[]", "b.json": "[]"}, "b.json: annotations of the test split stand in a.json"),
        ({"a.json": "[]", "m.json": '{"images": [\n{"id": "A", "path": "a.jpg"}]}'},
         'm.json, line 2: entry 1 lacks "phase"'),
        ({"a.json": "[]", "m.json": IMAGES[:-2] + "," + IMAGES[12:]}, "stands in an entry before"),
        ({"a.json": "[]", "m.json": IMAGES, "t.json": '{"gallery_phases": ["winter"]}'},
         '"gallery_phases" is no list of gallery, query'),
        ({"a.json": b"\xff", "m.json": IMAGES}, "a.json, line 1: byte 0xff is not UTF-8"),
    ],
)  # fmt: skip
def test_what_is_no_task_is_refused_in_one_line(
    files: dict[str, str | bytes], reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, text in files.items():
        (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    assert main(["vsd", "validate", str(tmp_path)]) == 2
    assert reason in capsys.readouterr().err


def test_a_zip_that_swells_is_refused_by_what_it_states(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("t/a.json", b" " * 200_000_000)
    with pytest.raises(InputError, match=r"bomb\.zip/a\.json: it would unpack to 200,000,000"):
        read_vsd_task(tmp_path / "bomb.zip")


def test_a_task_is_written_into_a_new_folder_or_not_at_all(tmp_path: Path) -> None:
    task = make_vsd_task("t", [], [])
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/notes.txt").write_text("mine")
    with pytest.raises(InputError, match="is there already; name a new folder"):
        write_vsd_task(task, tmp_path / "mine")
    assert [path.name for path in tmp_path.rglob("*")] == ["mine", "notes.txt"]


def test_labels_become_a_task_with_the_products_of_a_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [shared("vsd_fashion_examples") / f"wild_{kind}.json" for kind in KINDS]
    pairs = {(q, c): label for file in files for q, c, label in read_qrels(file)}
    images = sorted({path for pair in pairs for path in pair})
    with (tmp_path / "products.csv").open("w") as out:
        write_csv(out, [(path, path.split("/")[-2]) for path in images], ("path", "product_id"))
    words = ["vsd", "convert", *map(str, files), str(tmp_path / "wild")]
    assert main(words) == 2
    assert "labels need --metadata" in capsys.readouterr().err
    words += ["--metadata", str(tmp_path / "products.csv"), "--gallery-phases"]
    assert main([*words, "winter"]) == 2
    assert "is no list of gallery" in capsys.readouterr().err
    assert not (tmp_path / "wild").exists()
    assert main([*words, "gallery"]) == 0
    task = read_vsd_task(tmp_path / "wild")
    assert {(q, c): label for q, c, label in task.qrels()} == pairs
    assert set(task.gallery()) == {candidate for _, candidate in pairs}
    assert find_vsd_defects(task) == []


def test_a_release_becomes_a_task_that_scores_as_it_does(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "task"
    assert main(["vsd", "convert", str(GOLDEN_RELEASES / "small-4.0.0.zip"), str(folder)]) == 0
    assert main(["vsd", "validate", str(folder)]) == 0
    release = lk.open_release(GOLDEN_RELEASES / "small-4.0.0.zip")
    run, path = release.run("descriptor-hog-shape"), release.path_of
    rows = [(path[q], path[c], s) for q, row in run.by_query().items() for c, s in row.items()]
    with (tmp_path / "run.csv").open("w") as out:
        write_csv(out, rows, ("query", "candidate", "score"))
    capsys.readouterr()
    words = ["score", "--vsd-task", str(folder), "--run", str(tmp_path / "run.csv"), "--json"]
    assert main([*words, "--measures", "vsd_hr@5,vsd_mrr@9,micro_roc_auc"]) == 0
    printed = json.loads(capsys.readouterr().out)["runs"][0]["measures"]
    [scored] = release.score(run, list(printed))
    for name, outcome in scored.outcomes.items():
        assert printed[name]["value"] == pytest.approx(outcome.value, abs=1e-12)
