"""An import puts in what is good, names what is not, and can be done again without harm."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from catalog.images.blobs import SIZES, blob_path
from catalog.importing.origins import Origin
from catalog.models import Catalog, Image, NearDuplicate, SourceFile
from catalog.services import create_catalog, import_job, import_work
from jobs.models import Job
from jobs.services import JobError, JobLostError, JobProgress, cancel_job, run_here, run_job
from lookalike.images.decode import Picture, read_picture
from lookalike.images.picture_processes import PictureProcesses
from tests.catalog.state import files_in, state_of
from tests.pictures import BAD_PICTURES, encoded, jpeg, picture, png, write_folder

pytestmark = pytest.mark.django_db

Importer = Callable[..., Job]
THREE = {"a.jpg": jpeg(1), "b/c.png": png(2), "d.jpg": jpeg(3)}
SHEET = "path,product_id,color\na.jpg,P1,red\nb/c.png,P1,blue\nd.jpg,,\n"


def test_images_products_and_attributes_go_in(import_files: Importer, data_dir: Path):
    result = import_files(THREE, SHEET).result
    assert (result["images"], result["products"], result["duplicates"]) == (3, 1, 0)
    assert result["broken"] == result["warnings"] == []
    image = Image.objects.get(source_files__path="b/c.png")
    assert (image.product_id, image.attributes) == ("P1", {"color": "blue"})
    assert image.sha256 == hashlib.sha256(png(2)).hexdigest()
    assert (image.width, image.height, image.image_format) == (40, 30, "PNG")
    assert image.n_bytes == len(png(2))
    assert blob_path(image.sha256, "original").read_bytes() == png(2)
    assert len(files_in(data_dir)) == 3 * len(SIZES)


def test_no_name_from_outside_is_a_name_on_our_disk(import_files: Importer, data_dir: Path):
    import_files({"secret name.jpg": jpeg()})
    assert not [name for name in files_in(data_dir) if "secret" in name]


def test_identical_bytes_under_another_path_are_one_image_with_two_paths(import_files: Importer):
    sheet = "path,product_id\nz.jpg,P9\na.jpg,P1\n"
    result = import_files({"z.jpg": jpeg(1), "a.jpg": jpeg(1), "k.jpg": jpeg(1)}, sheet).result
    assert (result["images"], result["duplicates"], result["files"]) == (1, 2, 3)
    image = Image.objects.get()
    assert [file.path for file in image.source_files.all()] == ["a.jpg", "k.jpg", "z.jpg"]
    assert image.product_id == "P1"  # the first path in order that has a row
    (contrary,) = result["warnings"]  # k.jpg has no row, but shares that of a.jpg
    assert contrary["file"] == "z.jpg"
    assert "same bytes as a.jpg" in contrary["reason"]


def test_pictures_that_look_alike_are_recorded(import_files: Importer):
    one = picture(1, (200, 160))
    files = {"a.png": encoded(one, "PNG"), "b.jpg": encoded(one, "JPEG"), "c.png": png(2)}
    assert import_files(files).result["near_duplicates"] == 1
    pair = NearDuplicate.objects.get()
    assert pair.first_id < pair.second_id
    assert {pair.first.image_format, pair.second.image_format} == {"PNG", "JPEG"}
    again = import_files({"d.webp": encoded(one, "WEBP", lossless=True)}).result
    assert again["near_duplicates"] == 3


def test_every_bad_picture_is_named_and_the_good_ones_go_in(import_files: Importer):
    files = {
        f"{number:02}/{name}": content
        for number, (name, content, _) in enumerate(BAD_PICTURES.values())
    }
    result = import_files({**files, "good.jpg": jpeg(99)}).result
    assert result["images"] == 1
    broken = {entry["file"]: entry["reason"] for entry in result["broken"]}
    assert broken.keys() == files.keys()
    for number, (name, _, words) in enumerate(BAD_PICTURES.values()):
        assert words in broken[f"{number:02}/{name}"]
    assert SourceFile.objects.count() == 1


def test_rows_without_files_and_files_without_rows_are_named(import_files: Importer):
    sheet = "path,product_id\na.jpg,P1\nB/c.png,P2\ngone.jpg,P3\na.jpg,P4\n../x.jpg,P5\n"
    result = import_files(THREE, sheet).result
    assert result["images"] == 3
    assert {(e["file"], e["reason"]) for e in result["broken"]} == {
        ("gone.jpg", "metadata.csv row 4: there is no such file."),
        (
            "B/c.png",
            "metadata.csv row 3: there is no such file, but one called b/c.png "
            "(mind capital letters).",
        ),
        ("a.jpg", "metadata.csv row 5 repeats row 2, which is used."),
        (
            "../x.jpg",
            "metadata.csv row 6 was left out: the path leads out of the folder with “..”.",
        ),
    }
    assert [entry["file"] for entry in result["warnings"]] == ["b/c.png", "d.jpg"]
    assert Image.objects.get(source_files__path="a.jpg").product_id == "P1"


def test_the_row_of_a_refused_file_is_not_reported_twice(import_files: Importer):
    result = import_files({"a.jpg": b"", "b.jpg": jpeg()}, "path,product_id\na.jpg,P\nb.jpg,P\n")
    assert [entry["file"] for entry in result.result["broken"]] == ["a.jpg"]


def test_a_folder_zipped_as_a_whole_still_finds_its_rows(import_files: Importer):
    files = {f"photos/{name}": content for name, content in THREE.items()}
    result = import_files(files, SHEET).result
    assert result["broken"] == result["warnings"] == []
    assert Image.objects.get(source_files__path="photos/a.jpg").product_id == "P1"


@pytest.mark.parametrize("inside", ["", "photos/"])
def test_metadata_beside_the_pictures_are_read_where_none_are_given(
    import_files: Importer, inside: str
):
    files = {f"{inside}{name}": content for name, content in THREE.items()}
    own = {f"{inside}metadata.csv": SHEET.encode(), f"{inside}readme.txt": b"words"}
    result = import_files({**files, **own}).result
    assert (result["metadata"], result["others"]) == (
        f"{inside}metadata.csv",
        [f"{inside}readme.txt"],
    )
    assert Image.objects.get(source_files__path=f"{inside}a.jpg").product_id == "P1"
    given = import_files({**files, **own}, "path,product_id\na.jpg,P8\n").result
    assert given["metadata"] == "metadata.csv"
    assert Image.objects.get(source_files__path=f"{inside}a.jpg").product_id == "P8"


def test_metadata_beside_the_pictures_that_cannot_be_used_say_what_to_do(import_files: Importer):
    with pytest.raises(JobError, match=r"no column product_id.*It lies in photos: correct it"):
        import_files({**THREE, "metadata.csv": b"path\na.jpg\n"})
    assert Image.objects.count() == 0
    deeper = {**THREE, "b/metadata.csv": b"path\na.jpg\n"}  # beside one picture only
    result = import_files(deeper, folder="deeper").result
    assert (result["metadata"], result["others"]) == ("", ["b/metadata.csv"])


def test_importing_again_updates_attributes_and_keeps_the_images(import_files: Importer):
    import_files(THREE, SHEET)
    uids = set(Image.objects.values_list("uid", flat=True))
    import_files(THREE, "path,product_id,size\na.jpg,P7,XL\n")
    assert set(Image.objects.values_list("uid", flat=True)) == uids
    first, second = (Image.objects.get(source_files__path=p) for p in ("a.jpg", "b/c.png"))
    assert (first.product_id, first.attributes) == ("P7", {"size": "XL"})
    assert (second.product_id, second.attributes) == ("P1", {"color": "blue"})  # no row, no change
    import_files(THREE)  # without metadata nothing is forgotten
    assert Image.objects.get(source_files__path="a.jpg").product_id == "P7"


def test_a_path_with_new_bytes_names_the_new_image_and_the_old_one_stays(import_files: Importer):
    import_files({"a.jpg": jpeg(1)})
    old = Image.objects.get()
    import_files({"a.jpg": jpeg(2)})
    assert Image.objects.count() == 2
    assert SourceFile.objects.get(path="a.jpg").image != old
    assert old.source_files.count() == 0


def test_a_lost_preview_is_made_again(import_files: Importer, data_dir: Path):
    import_files(THREE)
    before = files_in(data_dir)
    lost = sorted((data_dir / "blobs").rglob("*.webp"))[0]
    lost.unlink()
    import_files(THREE)
    assert files_in(data_dir) == before


@settings(
    max_examples=8,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    names=st.lists(
        st.tuples(st.integers(0, 3), st.sampled_from(["jpg", "png", "txt", "gif"])), max_size=6
    ),
    rows=st.lists(st.tuples(st.integers(0, 7), st.sampled_from(["", "P1", "P2"])), max_size=6),
)
def test_importing_twice_is_importing_once(
    import_files: Importer,
    data_dir: Path,
    names: list[tuple[int, str]],
    rows: list[tuple[int, str]],
):
    Catalog.objects.all().delete()
    files = {
        f"{position}.{ending}": jpeg(seed) if ending != "png" else png(seed)
        for position, (seed, ending) in enumerate(names)
    }
    sheet = "path,product_id\n" + "".join(f"{n}.jpg,{product}\n" for n, product in rows)
    folder = f"photos-{abs(hash(tuple(names)))}"
    first = import_files(files, sheet, folder=folder).result
    before, on_disk = state_of("shoes"), files_in(data_dir)
    second = import_files(files, sheet, folder=folder).result
    assert second == first
    assert state_of("shoes") == before
    assert files_in(data_dir) == on_disk


def test_batches_do_not_show(import_files: Importer, monkeypatch: pytest.MonkeyPatch):
    files = {f"{i:02}.jpg": jpeg(i % 7) for i in range(20)}
    sheet = "path,product_id\n" + "".join(f"{i:02}.jpg,P{i % 5}\n" for i in range(20))
    whole = import_files(files, sheet, slug="whole").result
    monkeypatch.setattr("catalog.importing.batches.BATCH", 3)
    parts = import_files(files, sheet, slug="parts").result
    assert parts == whole
    assert state_of("parts") == state_of("whole")


def test_the_same_picture_in_two_catalogs_is_stored_once(import_files: Importer, data_dir: Path):
    import_files(THREE, slug="one")
    on_disk = files_in(data_dir)
    import_files(THREE, slug="two")
    assert Image.objects.count() == 6
    assert files_in(data_dir) == on_disk


def test_a_cancelled_import_stops_and_keeps_whole_batches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("catalog.importing.batches.BATCH", 2)
    files = {f"{i}.jpg": jpeg(i) for i in range(10)}
    origin = Origin(path=str(write_folder(tmp_path / "p", files)), is_restricted=False)
    catalog = create_catalog(slug="c", name="C")
    job = Job.objects.create(**import_job(catalog, origin))

    def work(progress: JobProgress) -> dict[str, object]:
        honest = progress.update

        def update(n_done: int, *rest: Any, **more: Any) -> None:
            if n_done == 4:
                cancel_job(job=job)
                progress.renew()  # as the heartbeat does
            honest(n_done, *rest, **more)

        progress.update = update  # type: ignore[method-assign]
        with pytest.raises(JobLostError):
            import_work(progress)
        raise JobLostError

    run_job(job.uid, work)
    job.refresh_from_db()
    assert job.state == "cancelled"
    assert catalog.images.count() == 4


def test_a_batch_read_after_the_job_was_lost_is_not_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    origin = Origin(path=str(write_folder(tmp_path / "p", {"a.jpg": jpeg()})), is_restricted=False)
    catalog = create_catalog(slug="c", name="C")
    job = Job.objects.create(**import_job(catalog, origin))

    def work(progress: JobProgress) -> dict[str, object]:
        def read_late(_processes: PictureProcesses, content: bytes, name: str) -> Picture:
            progress._lost.set()  # what the heartbeat does when another worker holds the job
            return read_picture(content, name)

        monkeypatch.setattr(PictureProcesses, "read", read_late)
        with pytest.raises(JobLostError):
            import_work(progress)
        raise JobLostError

    run_job(job.uid, work)
    assert catalog.images.count() == 0


def test_a_catalog_deleted_meanwhile_fails_the_job(tmp_path: Path):
    origin = Origin(path=str(write_folder(tmp_path / "p", THREE)), is_restricted=False)
    catalog = create_catalog(slug="c", name="C")
    job = import_job(catalog, origin)

    def work(progress: JobProgress) -> dict[str, object]:
        honest = progress.check

        def check() -> None:
            Catalog.objects.all().delete()
            honest()

        progress.check = check  # type: ignore[method-assign]
        return import_work(progress)

    with pytest.raises(JobError, match="deleted during the import"):
        run_here(**job, work=work)
    with pytest.raises(JobError, match="was deleted"):
        run_here(**job, work=import_work)


@pytest.mark.parametrize(
    ("path", "metadata", "words"),
    [
        ("nowhere", "", "no folder or zip"),
        ("photos", "nowhere.csv", "cannot be read"),
        ("photos", "bad.csv", "no column product_id"),
    ],
)
def test_an_unusable_source_or_sheet_fails_before_anything_is_written(
    path: str, metadata: str, words: str, tmp_path: Path, data_dir: Path
):
    write_folder(tmp_path / "photos", THREE)
    (tmp_path / "bad.csv").write_text("path\na.jpg\n")
    origin = Origin(
        path=str(tmp_path / path),
        metadata_path=str(tmp_path / metadata) if metadata else "",
        is_restricted=False,
    )
    job = import_job(create_catalog(slug="c", name="C"), origin)
    with pytest.raises(JobError, match=words):
        run_here(**job, work=import_work)
    assert Image.objects.count() == 0
    assert not data_dir.exists()
