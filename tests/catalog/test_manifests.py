"""Catalogs of pictures that stay where they are: imported, embedded, checked, and killed."""

from __future__ import annotations

import json
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.urls import reverse

from accounts.models import User
from catalog.images.blobs import (
    PREVIEWS,
    blob_path,
    original_on_disk,
    read_blob,
    read_preview,
    remove_unused_blobs,
)
from catalog.images.remote_originals import LostOriginalError
from catalog.models import Catalog, Image, SourceFile
from catalog.services import import_work
from catalog.vectors.embeddings import load_vectors
from jobs.models import Job, JobState
from jobs.services import JobError, JobProgress, run_here
from lookalike.backbones.loading import load_backbone
from lookalike.images import remote as remote_module
from pooling.embedding import shards
from pooling.embedding.embed import embed_catalog
from tests.catalog.import_process import process
from tests.catalog.state import state_of
from tests.clients import signed_in
from tests.picture_host import PictureHost, picture_host, status
from tests.pictures import jpeg, png
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def server() -> Iterator[PictureHost]:
    with picture_host() as host:
        yield host


@pytest.fixture
def host(server: PictureHost, settings: Any, monkeypatch: pytest.MonkeyPatch) -> PictureHost:
    server.files, server.answers, server.asked, server.pause = {}, {}, [], 0.0
    settings.REMOTE_PRIVATE_HOSTS = [server.name]
    monkeypatch.setattr(remote_module, "WAITS", (0.0, 0.0))
    return server


def manifest(place: Path, host: PictureHost, names: list[str], extra: str = "") -> Path:
    lines = [f"{host.url(name)},P{number // 2},red" for number, name in enumerate(names)]
    place.write_text("url,product_id,colour\n" + "\n".join(lines) + extra)
    return place


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict[str, Any]:
    call_command("import_catalog", *map(str, arguments), "--json")
    return dict(json.loads(capsys.readouterr().out))


def embed(catalog: Catalog) -> Job:
    backbone = load_backbone("descriptor:colour-histogram")

    def work(progress: JobProgress) -> dict[str, int]:
        return {"set": embed_catalog(catalog=catalog, backbone=backbone, progress=progress).pk}

    return run_here(task="t", subject=f"e {catalog.pk}", title="t", arguments={}, work=work)


def test_previews_and_hashes_are_kept_and_originals_stay(
    host: PictureHost, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    host.files = {f"img/{n}.jpg": jpeg(n, (90, 60)) for n in range(5)}
    result = run(capsys, "far", "--manifest", manifest(tmp_path / "m.csv", host, [*host.files]))
    assert (result["images"], result["products"], result["broken"]) == (5, 3, [])
    catalog = Catalog.objects.get(slug="far")
    for image in catalog.images.all():
        name = image.source_files.get().path
        assert name.startswith(f"{host.name}/img/")
        assert image.attributes == {"colour": "red"}
        content = host.files[name.removeprefix(f"{host.name}/")]
        assert image.sha256 == sha256(content).hexdigest()
        assert not blob_path(image.sha256, "original").exists()
        assert all(blob_path(image.sha256, size).exists() for size in PREVIEWS)
        assert read_blob(image.sha256, "original") == content
        blob_path(image.sha256, "view").unlink()
        assert read_preview(image.sha256, "view")  # made again of the original, where it is


def test_vectors_are_those_of_a_catalog_with_its_originals_here(
    host: PictureHost, tmp_path: Path, import_files: Callable[..., Job]
) -> None:
    host.files = {f"{n}.jpg": jpeg(n, (90, 60)) for n in range(6)}
    sheet = manifest(tmp_path / "m.csv", host, [*host.files])
    call_command("import_catalog", "far", "--manifest", str(sheet))
    assert embed(Catalog.objects.get(slug="far")).state == JobState.SUCCEEDED
    far = load_vectors(Catalog.objects.get(slug="far").embedding_sets.get())[1].tobytes()
    Catalog.objects.get(slug="far").images.all().delete()
    import_files(host.files, slug="near")
    assert embed(Catalog.objects.get(slug="near")).state == JobState.SUCCEEDED
    near = load_vectors(Catalog.objects.get(slug="near").embedding_sets.get())[1].tobytes()
    assert far == near


def test_a_dead_or_changed_original_is_named_and_all_others_are_embedded(
    host: PictureHost, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    host.files = {f"{n}.jpg": jpeg(n) for n in range(12)}
    sheet = manifest(tmp_path / "m.csv", host, [*host.files])
    call_command("import_catalog", "far", "--manifest", str(sheet))
    catalog = Catalog.objects.get(slug="far")
    order = [
        image.source_files.get().path.partition("/")[2]
        for image in catalog.images.order_by("sha256")
    ]
    monkeypatch.setattr(shards, "SHARD_SIZE", 3)
    kept = dict(host.files)
    host.files[order[0]] = jpeg(99)
    del host.files[order[1]], host.files[order[7]]
    with pytest.raises(JobError) as caught:
        embed(catalog)
    told = str(caught.value)
    assert f"{host.name}/{order[0]}: its bytes are not those that were imported" in told
    for name in (order[1], order[7]):
        assert f"{host.name}/{name}: 127.0.0.1 answered 404" in told
    embedding_set = catalog.embedding_sets.get()
    assert [shard.position for shard in embedding_set.shards.order_by("position")] == [1, 3]
    host.files, host.asked = kept, []
    assert embed(catalog).state == JobState.SUCCEEDED
    assert sorted(host.asked) == sorted(order[:3] + order[6:9])


def test_each_row_that_cannot_be_used_is_named_and_the_others_go_in(
    host: PictureHost, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    host.files = {"a.jpg": jpeg(1), "b.jpg": b"no picture", "c.jpg": png(3), "d": jpeg(4)}
    host.answers = {"busy.jpg": status(503), "go.jpg": status(302, Location="http://10.0.0.1/")}
    digest = sha256(host.files["d"]).hexdigest()
    rows = [
        ("url", "sha256"),
        (host.url("a.jpg"), "0" * 64),
        (host.url("b.jpg"), ""),
        (host.url("c.jpg"), ""),
        (host.url("d"), digest.upper()),
        (host.url("busy.jpg"), ""),
        (host.url("go.jpg"), ""),
        (host.url("none.jpg"), ""),
        ("https://evil.example/x.jpg", ""),
        ("http://u:geheim@img.example.org/x.jpg", ""),
        (host.url("c.jpg"), ""),
        (host.url("e.jpg"), "12"),
        ("no address", ""),
    ]
    sheet = tmp_path / "m.csv"
    sheet.write_text("\n".join(",".join(row) for row in rows))
    result = run(capsys, "far", "--manifest", sheet)
    assert (result["images"], result["files"]) == (2, 7)
    told = {entry["reason"].partition(": ")[0]: entry["reason"] for entry in result["broken"]}
    for number, words in {
        2: "the picture was changed",
        3: "no picture at all",
        6: "answered 503",
        7: "10.0.0.1 is not one of REMOTE_HOSTS",
        8: "answered 404",
    }.items():
        assert words in told[f"m.csv row {number}"], told
    for number, words in {
        9: "evil.example is not one of REMOTE_HOSTS",
        10: "a user or password",
        12: "64 hexadecimal digits",
        13: "printable ASCII",
    }.items():
        assert words in told[f"m.csv row {number} was left out"], told
    assert any("row 11 repeats row 4" in entry["reason"] for entry in result["broken"])
    assert "geheim" not in json.dumps(result)
    assert "geheim" not in json.dumps(list(Job.objects.values("arguments", "result", "title")))


@pytest.mark.parametrize("form", ["m.jsonl", "m.parquet"])
def test_json_lines_and_parquet_say_the_same(
    form: str, host: PictureHost, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    host.files = {"1": jpeg(1), "2": jpeg(2)}
    entries = [
        {"url": host.url(name), "path": f"shop/{name}.jpg", "product_id": "P", "price": 2.5}
        for name in host.files
    ]
    if form.endswith("jsonl"):
        (tmp_path / form).write_text("\n".join(map(json.dumps, entries)) + "\n[1]\nnot json\n{}\n")
    else:
        pq.write_table(pa.Table.from_pylist([*entries, {"url": None}]), tmp_path / form)
    result = run(capsys, "far", "--manifest", tmp_path / form)
    assert (result["images"], result["products"]) == (2, 1)
    assert len(result["broken"]) == (3 if form.endswith("jsonl") else 1)
    assert sorted(SourceFile.objects.values_list("path", flat=True)) == ["shop/1.jpg", "shop/2.jpg"]
    assert {image.attributes["price"] for image in Image.objects.all()} == {"2.5"}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "m.csv is empty"),
        (b"path,product_id\na,b\n", "has no column url"),
        (b"\x1f\x8b\x08\x00", "m.csv is a gzip archive"),
        (b"PAR1 and then nothing", "not readable as parquet"),
        (b"\xff\xfeu\x00", "no column url"),
        (b"url,url\na,b\n", "two columns named"),
    ],
)
def test_a_manifest_that_cannot_be_used_leaves_no_catalog(
    content: bytes, words: str, host: PictureHost, tmp_path: Path
) -> None:
    (tmp_path / "m.csv").write_bytes(content)
    with pytest.raises(CommandError, match=words):
        call_command("import_catalog", "far", "--manifest", str(tmp_path / "m.csv"))
    assert not Catalog.objects.exists()


def test_without_the_setting_no_manifest_is_read(
    host: PictureHost, settings: Any, tmp_path: Path, admin: User
) -> None:
    settings.REMOTE_PRIVATE_HOSTS = []
    sheet = manifest(tmp_path / "m.csv", host, ["a.jpg"])
    with pytest.raises(CommandError, match="Name the hosts in REMOTE_HOSTS"):
        call_command("import_catalog", "far", "--manifest", str(sheet))
    assert b"or a manifest" not in signed_in(admin).get(reverse("catalog:new")).content


def test_an_admin_gives_a_manifest_on_the_page_and_nobody_else(
    host: PictureHost, admin: User, researcher: User, tmp_path: Path
) -> None:
    host.files = {"a.jpg": jpeg(1)}
    content = manifest(tmp_path / "m.csv", host, ["a.jpg"]).read_bytes()

    def post(user: User, **more: Any) -> Any:
        given = {"name": "Far", "slug": "far", "manifest": SimpleUploadedFile("m.csv", content)}
        return signed_in(user).post(reverse("catalog:new"), given | more)

    assert post(researcher).status_code == 403
    both = post(admin, metadata=SimpleUploadedFile("x.csv", b"path,product_id\na,b\n"))
    assert b"A manifest says it all" in both.content
    assert not Job.objects.exists()
    assert post(admin).status_code == 302
    job = Job.objects.get()
    job = run_here(task=job.task, subject="x", title="x", arguments=job.arguments, work=import_work)
    assert job.result["images"] == 1, job.error
    page = signed_in(researcher).get(
        reverse("catalog:image", args=["far", Image.objects.get().uid])
    )
    assert host.url("a.jpg") in page.content.decode()


def test_what_was_read_before_is_not_read_again_and_a_changed_row_is(
    host: PictureHost, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    host.files = {f"{n}.jpg": jpeg(n) for n in range(4)}
    sheet = manifest(tmp_path / "m.csv", host, [*host.files])
    first = run(capsys, "far", "--manifest", sheet)
    host.asked = []
    assert run(capsys, "far", "--manifest", sheet) == first
    assert host.asked == []
    host.files["moved/0.jpg"] = host.files.pop("0.jpg")
    sheet.write_text(f"url,path\n{host.url('moved/0.jpg')},{host.name}/0.jpg\n")
    assert run(capsys, "far", "--manifest", sheet)["images"] == 1
    assert host.asked == ["moved/0.jpg"]
    moved = SourceFile.objects.get(path=f"{host.name}/0.jpg")
    assert moved.url == host.url("moved/0.jpg")
    assert moved.catalog.images.count() == 4


def test_check_storage_names_an_original_that_is_gone_or_changed(
    host: PictureHost, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    host.files = {f"{n}.jpg": jpeg(n) for n in range(3)}
    run(capsys, "far", "--manifest", manifest(tmp_path / "m.csv", host, [*host.files]))
    host.files["1.jpg"] = jpeg(9)
    del host.files["2.jpg"]
    with pytest.raises(SystemExit):
        call_command("check_storage", "--json")
    found = json.loads(capsys.readouterr().out)
    assert found["checked"]["remote original"] == 3
    assert {entry["name"].partition("/")[2] for entry in found["damages"]} == {"1.jpg", "2.jpg"}


def test_an_original_that_a_plug_in_needs_as_a_file_is_fetched_and_goes_with_the_clean_up(
    host: PictureHost, tmp_path: Path, data_dir: Path
) -> None:
    host.files = {"1.jpg": jpeg(1)}
    sheet = manifest(tmp_path / "m.csv", host, ["1.jpg"])
    call_command("import_catalog", "far", "--manifest", str(sheet))
    found = original_on_disk(Image.objects.get().sha256)
    assert found.read_bytes() == host.files["1.jpg"]
    assert not found.is_relative_to(data_dir / "blobs")
    remove_unused_blobs()
    assert not found.exists()
    del host.files["1.jpg"]
    with pytest.raises(LostOriginalError, match="answered 404"):
        original_on_disk(Image.objects.get().sha256)


@pytest.mark.faults
@pytest.mark.django_db(transaction=True)
def test_killed_in_mid_import_it_goes_on_where_it_was(
    host: PictureHost, tmp_path: Path, data_dir: Path
) -> None:
    host.files = {f"{n:03}.jpg": jpeg(n) for n in range(160)}
    host.pause = 0.02
    sheet = manifest(tmp_path / "m.csv", host, [*host.files])
    given = ["--manifest", sheet]
    settings_of = {"REMOTE_PRIVATE_HOSTS": host.name}
    killed = process(data_dir, "shaken", *given, **settings_of)
    images = Image.objects.filter(catalog__slug="shaken")
    wait_until(lambda: killed.poll() is not None or images.count() >= 64, pause=0.005)
    assert killed.poll() is None, killed.communicate()
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    assert 64 <= images.count() < 160
    command = process(data_dir, "shaken", *given, **settings_of)
    out, err = command.communicate(timeout=300)
    assert command.returncode == 0, err
    assert json.loads(out)["images"] == 160
    times = Counter(host.asked)
    assert len(times) == 160
    assert sum(times.values()) <= 160 + 32  # a batch may be read twice
    calm = process(tmp_path / "other", "calm", *given, **settings_of)
    assert calm.communicate(timeout=300)[1] is not None
    assert state_of("calm") == state_of("shaken")
