"""`manage.py import_catalog`, as a person runs it: output, exit code, and kill -9."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from django.core.management import CommandError, call_command

from catalog.importing.origins import Origin
from catalog.models import Catalog, Image
from catalog.services import create_catalog, import_job
from jobs.models import Job, JobState
from tests.catalog.import_process import process
from tests.catalog.state import files_in, state_of
from tests.pictures import jpeg, write_folder
from tests.published_sets import write_published_set
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict[str, Any]:
    call_command("import_catalog", *map(str, arguments), "--json")
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 1
    return dict(json.loads(lines[0]))


def test_one_json_object_on_stdout(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    folder = write_folder(tmp_path / "p", {"a.jpg": jpeg(1), "b.jpg": jpeg(1), "c.jpg": b""})
    (tmp_path / "m.csv").write_text("path,product_id\na.jpg,P\nb.jpg,P\nc.jpg,P\n")
    result = run(capsys, "shoes", folder, "--metadata", tmp_path / "m.csv", "--name", "Shoes")
    assert (result["images"], result["products"], result["duplicates"]) == (1, 1, 1)
    assert result["broken"] == [
        {"file": "c.jpg", "reason": "The file is empty (0 bytes). Copy it again from its source."}
    ]
    assert Catalog.objects.get(slug="shoes").name == "Shoes"
    assert run(capsys, "shoes", folder, "--metadata", tmp_path / "m.csv") == result
    assert Job.objects.filter(state=JobState.SUCCEEDED).count() == 2


def test_words_for_people_without_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    folder = write_folder(tmp_path / "p", {"a.jpg": jpeg(1), "c.gif": b"GIF89a"})
    call_command("import_catalog", "shoes", str(folder))
    out = capsys.readouterr().out
    assert "1 images of 0 products" in out
    assert "Refused: c.gif: " in out
    assert "Hard to compare: a.jpg: " in out


@pytest.mark.parametrize(
    ("slug", "source", "metadata", "words"),
    [
        ("shoes", "nowhere", None, "no folder or zip file"),
        ("shoes", "good/text.txt", None, "not a readable zip"),
        ("shoes", "good", "nowhere.csv", "nowhere.csv cannot be read"),
        ("shoes", "good", "bad.csv", "no column product_id"),
        ("shoes", "empty", None, "holds no pictures"),
        ("shoes", "broken", None, "x.jpg: The file is empty"),
        ("no slug!", "good", None, "no short name"),
        ("s" * 81, "good", None, "80 characters"),
    ],
)
def test_a_failure_says_why_and_leaves_no_catalog(
    slug: str, source: str, metadata: str | None, words: str, tmp_path: Path
):
    write_folder(tmp_path / "good", {"a.jpg": jpeg(), "text.txt": b"x"})
    write_folder(tmp_path / "broken", {"x.jpg": b""})
    write_folder(tmp_path / "empty", {})
    (tmp_path / "bad.csv").write_text("path\na.jpg\n")
    options = ["--metadata", str(tmp_path / metadata)] if metadata else []
    with pytest.raises(CommandError, match=words):
        call_command("import_catalog", slug, str(tmp_path / source), *options)
    assert Catalog.objects.count() == 0


def test_a_catalog_that_exists_survives_an_import_of_nothing(tmp_path: Path):
    create_catalog(slug="shoes", name="Shoes")
    with pytest.raises(CommandError):
        call_command("import_catalog", "shoes", str(write_folder(tmp_path / "e", {})))
    assert Catalog.objects.count() == 1


def test_an_import_under_way_elsewhere_is_a_conflict(tmp_path: Path):
    folder = write_folder(tmp_path / "p", {"a.jpg": jpeg()})
    catalog = create_catalog(slug="shoes", name="Shoes")
    Job.objects.create(**import_job(catalog, Origin(path=str(folder), is_restricted=False)))
    with pytest.raises(CommandError, match="already queued or running"):
        call_command("import_catalog", "shoes", str(folder))


# ---- as a process ----
def test_a_failure_has_an_exit_code(tmp_path: Path, data_dir: Path):
    command = process(data_dir, "shoes", tmp_path / "nowhere")
    out, err = command.communicate(timeout=60)
    assert command.returncode != 0
    assert out == ""
    assert "no folder or zip file" in err


@pytest.mark.faults
@pytest.mark.django_db(transaction=True)
def test_killed_in_mid_import_and_started_again_ends_like_an_undisturbed_run(
    tmp_path: Path, data_dir: Path
):
    files = {f"{i:03}.jpg": jpeg(i % 230, (600, 400)) for i in range(240)}
    files |= {"100.jpg": b"\xff\xd8\xff broken", "239.jpg": b""}
    folder = write_folder(tmp_path / "p", files)
    sheet = tmp_path / "m.csv"
    rows = [f"{i:03}.jpg,P{i // 4},{i % 3}" for i in range(0, 250)]
    sheet.write_text("path,product_id,shade\n" + "\n".join(rows))
    wanted = ["--metadata", sheet]

    undisturbed = process(tmp_path / "other", "calm", folder, *wanted)
    expected, _ = undisturbed.communicate(timeout=300)
    assert undisturbed.returncode == 0

    for n_stored in (32, 128):
        command = process(data_dir, "shaken", folder, *wanted)
        images = Image.objects.filter(catalog__slug="shaken")
        wait_until(
            lambda command=command, n_stored=n_stored, images=images: (  # type: ignore[misc]
                command.poll() is not None or images.count() >= n_stored
            ),
            pause=0.005,
        )
        assert command.poll() is None, command.communicate()
        command.send_signal(signal.SIGKILL)
        command.communicate()
        assert Image.objects.filter(catalog__slug="shaken").count() < 228
    finished = process(data_dir, "shaken", folder, *wanted)
    out, err = finished.communicate(timeout=300)
    assert finished.returncode == 0, err
    assert json.loads(out) == json.loads(expected)
    assert state_of("shaken") == state_of("calm")
    kept = {k: v for k, v in files_in(data_dir / "blobs").items() if "/.writing-" not in k}
    assert kept == files_in(tmp_path / "other" / "blobs")
    job = Job.objects.get(title__endswith="shaken")
    assert (job.state, job.n_attempts) == (JobState.SUCCEEDED, 3)


def test_a_published_data_set_comes_in_with_what_its_lists_say(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    folder = write_published_set("in-shop", tmp_path / "set")
    (folder / "Img/stray.jpg").write_bytes(jpeg(99))
    result = run(capsys, "shop", folder, "--layout", "in-shop")
    assert (result["images"], result["products"], result["files"]) == (4, 2, 4)
    assert result["broken"] == []
    [note] = result["warnings"]
    assert note["reason"].endswith("(published 12,612).")
    image = Image.objects.get(source_files__path="Img/img/MEN/Denim/id_00000080/01_1_front.jpg")
    assert (image.product_id, image.attributes["split"]) == ("id_00000080", "query")
    assert image.attributes["box"] == "[10, 20, 100, 200]"
    result = run(capsys, "queries", folder, "--layout", "in-shop", "--where", "split=query")
    assert (result["images"], result["files"]) == (1, 1)


def test_cub_comes_in_from_its_own_folder_with_the_attributes_next_to_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], settings: Any
):
    folder = write_published_set("cub", tmp_path / "set") / "CUB_200_2011"
    assert run(capsys, "birds", folder, "--layout", "cub")["images"] == 3
    path = "images/001.Black_footed_Albatross/a_0001.jpg"
    image = Image.objects.get(source_files__path=path)
    assert image.attributes["has_bill_shape"] == "dagger"
    for allowed, is_read in ((folder.parent, True), (folder, False)):
        settings.IMPORT_FOLDERS = [allowed.resolve()]
        with Origin(path=str(folder), layout="cub").open_source() as source:
            assert ("attributes.txt" in source.others) is is_read


def test_a_data_set_that_is_none_leaves_no_catalog(tmp_path: Path):
    folder = write_published_set("sop", tmp_path / "set")
    for words, reason in (
        (("--layout", "cub"), "CUB-200-2011 has a file images.txt, which is not there"),
        (("--layout", "sop", "--where", "split=val"), "no row has split=val; it is test, train"),
        (("--where", "split=train"), "Nothing says which images have split=train"),
        (("--layout", "sop", "--metadata", tmp_path / "m.csv"), "give one of them"),
    ):
        with pytest.raises(CommandError, match=reason):
            call_command("import_catalog", "shop", str(folder), *map(str, words))
        assert not Catalog.objects.exists()


def test_metadata_may_choose_the_images_that_go_in(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    folder = write_folder(tmp_path / "p", {f"{name}.jpg": jpeg(ord(name)) for name in "abc"})
    images = [{"id": "A", "path": "a.jpg", "phase": "gallery"},
              {"id": "B", "path": "b.jpg", "phase": "query"}]  # fmt: skip
    (tmp_path / "m.json").write_text(json.dumps({"images": images}))
    words = ("--metadata", tmp_path / "m.json", "--where", "phase=gallery")
    result = run(capsys, "gallery", folder, *words)
    assert (result["images"], result["broken"], result["warnings"]) == (1, [], [])


def test_a_hugging_face_data_set_is_imported_from_its_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    image = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    cells = pa.array([{"bytes": jpeg(seed), "path": None} for seed in (1, 2)], image)
    (tmp_path / "set/data").mkdir(parents=True)
    table = pa.table({"image": cells, "product_id": ["A", "B"], "color": ["red", None]})
    pq.write_table(table, tmp_path / "set/data/test-00000-of-00001.parquet")
    result = run(capsys, "hub", tmp_path / "set", "--layout", "hugging-face")
    assert (result["images"], result["products"], result["broken"]) == (2, 2, [])
    assert Image.objects.get(product_id="A").attributes == {"color": "red", "split": "test"}
