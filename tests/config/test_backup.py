"""Backups: whole while judges judge, checked before they are trusted, all or nothing to restore."""

from __future__ import annotations

import json
import re
import shutil
import threading
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from urllib.parse import quote

import psycopg
import pytest
from django.core.management import call_command
from django.core.management.base import SystemCheckError
from django.db import connection
from django.test import override_settings

from accounts.models import Role, User
from annotation.models import Campaign, Judgement, Question
from annotation.services import create_campaign, open_campaign
from benchmarks.made_votes import judge_all
from catalog.models import Image
from config import backup, backup_file, embedded, restore
from config.checks import restore_is_complete
from config.running import postgres_programs
from tests.catalogs import catalog_of, catalog_of_photos
from tests.paths import ROOT
from tests.worlds import answer_all

TARGET = "restored_site"
FAIL_LATE = """
create schema guard;
create function guard.refuse() returns event_trigger language plpgsql as
    $$ begin raise exception 'no index today'; end $$;
create event trigger refuse on ddl_command_end when tag in ('CREATE INDEX')
    execute function guard.refuse();
"""


@dataclass
class Site:
    """A site on the test database, with a data folder of its own and judges at work."""

    campaign: Campaign
    judges: list[User]
    services: embedded.Services

    @property
    def data(self) -> Path:
        return self.services.data_dir


def services_of(name: str, data: Path) -> embedded.Services:
    host = quote(str(connection.settings_dict["HOST"]))
    url = f"postgresql://postgres@/{name}?host={host}"
    return embedded.Services(data, url, "redis+socket:///nowhere", True, False)


def judge_by_the_thousand(images: list[Image], judges: list[User]) -> None:
    """870 pairs x 3 judges, as the benchmarks make votes."""
    campaign = Campaign.objects.create(slug="many", name="Many", state="open")
    Question.objects.bulk_create(
        Question(campaign=campaign, query=query, candidate=candidate, position=0)
        for query in images
        for candidate in images
        if query != candidate
    )
    for number, judge in enumerate(judges, 1):
        campaign.panel.create(annotator=judge, number=number)
    judge_all(campaign.pk, percent_similar=60)


@pytest.fixture
def site(transactional_db: None, tmp_path: Path, settings) -> Site:
    """Its rows are committed: other processes are to see them."""
    data = settings.DATA_DIR = tmp_path / "source"
    images = list(catalog_of([f"{row:02d}" for row in range(30)]).images.all())
    judges = [User.objects.create_user(f"judge-{n}", role=Role.ANNOTATOR) for n in range(3)]
    judge_by_the_thousand(images, judges)
    pairs = [(query.pk, images[29].pk) for query in images[:29]]
    live = create_campaign(name="Live", slug="live", pairs=pairs, panel=judges)
    open_campaign(campaign=live)
    catalog_of_photos(2)
    (data / "secret-key").write_text("k" * 60)
    (data / "crops").mkdir()
    (data / "crops" / "made-anew.webp").write_bytes(b"...")
    (data / "blobs" / ".writing-x").write_bytes(b"half a picture")
    return Site(live, judges, services_of(str(connection.settings_dict["NAME"]), data))


@pytest.fixture
def target(site: Site, tmp_path: Path) -> Iterator[embedded.Services]:
    """An empty database and folder."""
    (tmp_path / "target").mkdir()
    with psycopg.connect(site.services.database_url, autocommit=True) as server:
        server.execute(f"drop database if exists {TARGET} with (force)")  # of a killed run
        server.execute(f"create database {TARGET}")
        yield services_of(TARGET, tmp_path / "target")
        server.execute(f"drop database {TARGET} with (force)")


def counts(services: embedded.Services) -> dict[str, int]:
    with psycopg.connect(services.database_url) as database:
        return backup.count_rows(database)


def files(folder: Path) -> dict[str, bytes]:
    """The files that a backup is to hold."""
    found = {path.relative_to(folder): path for path in folder.rglob("*") if path.is_file()}
    return {
        str(name): path.read_bytes()
        for name, path in found.items()
        if name.parts[0] in backup.KEPT
        and not path.name.startswith(".writing-")
        and "merged" not in name.parts
    }


def test_a_backup_made_while_judges_judge_comes_back_with_equal_counts(
    site: Site, target: embedded.Services, tmp_path: Path
) -> None:
    before = counts(site.services)["annotation_judgement"]
    assert before == 870 * 3

    def work() -> None:
        answer_all(site.campaign, site.judges[0], lambda query, candidate: True)
        connection.close()

    judging = threading.Thread(target=work)
    judging.start()
    manifest = backup.back_up(tmp_path / "site.backup", site.services)
    judging.join()
    assert (tmp_path / "site.backup").stat().st_mode & 0o777 == 0o600
    assert [path.name for path in tmp_path.glob(".site*")] == []
    assert manifest == backup_file.verify(tmp_path / "site.backup")
    assert manifest.counts["annotation_judgement"] >= before

    restore.restore(tmp_path / "site.backup", target)
    assert counts(target) == manifest.counts
    assert files(target.data_dir) == files(site.data)
    assert (target.data_dir / "secret-key").stat().st_mode & 0o777 == 0o600
    assert not (target.data_dir / "crops").exists()
    folders = {path.name for path in target.data_dir.iterdir()}
    assert folders <= set(backup.KEPT)

    # and what was restored can be backed up and restored in its turn
    again = backup.back_up(tmp_path / "again.backup", replace(target, runs_database=False))
    assert again.counts == manifest.counts
    restore.restore(tmp_path / "again.backup", target, force=True)
    assert counts(target) == manifest.counts
    assert files(target.data_dir) == files(site.data)


def test_what_comes_and_goes_during_a_backup_is_in_it_as_its_rows_are(
    site: Site, target: embedded.Services, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy_new = backup._copy_new
    passes: list[int] = []

    def copy_and_meddle(*arguments) -> None:
        if passes:  # the snapshot is taken: judging goes on, rows of files stay
            with psycopg.connect(site.services.database_url) as other:
                other.execute("set lock_timeout = '50ms'")
                other.execute("update annotation_campaign set name = 'Judged on'")
                with pytest.raises(psycopg.errors.LockNotAvailable):
                    other.execute("delete from catalog_sourcefile; delete from catalog_image")
        copy_new(*arguments)
        if not passes:
            catalog_of_photos(3, slug="late", first_seed=50)
            changed = next((site.data / "blobs" / "original").glob("*/*"))
            changed.with_suffix(".new").write_bytes(b"other bytes under the same name")
            changed.with_suffix(".new").replace(changed)
        passes.append(1)

    monkeypatch.setattr(backup, "_copy_new", copy_and_meddle)
    backup.back_up(tmp_path / "site.backup", site.services)
    restore.restore(tmp_path / "site.backup", target)
    assert len(passes) == 2
    with psycopg.connect(target.database_url) as database:
        late = database.execute(
            "select sha256 from catalog_image join catalog_catalog c on c.id = catalog_id "
            "where slug = 'late'"
        ).fetchall()
    assert len(late) == 3
    for (sha256,) in late:
        assert (target.data_dir / "blobs" / "original" / sha256[:2] / sha256).exists()
    assert files(target.data_dir) == files(site.data)


def flip(path: Path, member: str) -> None:
    """Change one bit in the middle of a stored file."""
    with zipfile.ZipFile(path) as archive:
        info = archive.getinfo(member)
    with path.open("r+b") as file:
        file.seek(info.header_offset + 30 + len(member) + 20 + info.file_size // 2)
        byte = file.read(1)[0]
        file.seek(-1, 1)
        file.write(bytes([byte ^ 1]))


def cut(path: Path) -> None:
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size - 10)


def forge(path: Path) -> None:
    """Another key, with its own checksum of zip, under the old list."""
    rewritten = path.with_suffix(".forged")
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(rewritten, "w") as new:
        for name in old.namelist():
            new.writestr(name, b"x" * 60 if name == "files/secret-key" else old.read(name))
    rewritten.replace(path)


def drop(path: Path) -> None:
    rewritten = path.with_suffix(".dropped")
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(rewritten, "w") as new:
        for name in old.namelist():
            if name != "files/secret-key":
                new.writestr(name, old.read(name))
    rewritten.replace(path)


def of_the_future(path: Path) -> None:
    with zipfile.ZipFile(path) as old:
        manifest = json.loads(old.read("manifest.json")) | {"format": 99, "version": "9.9"}
    with zipfile.ZipFile(path, "w") as new:
        new.writestr("manifest.json", json.dumps(manifest))


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda path: flip(path, "database.dump"), r"damaged.*database\.dump"),
        (lambda path: flip(path, "files/secret-key"), "damaged.*secret-key"),
        (lambda path: flip(path, "manifest.json"), "damaged"),
        (cut, "cut short"),
        (forge, "files/secret-key is not what was stored"),
        (drop, "list of files is wrong at files/secret-key"),
        (of_the_future, r"Lookalike 9\.9"),
        (lambda path: path.write_text("some mail"), "no backup"),
    ],
)
def test_a_damaged_backup_is_refused_before_anything_is_touched(
    damage: Callable[[Path], object], words: str, tmp_path: Path, archive: Path
) -> None:
    path = Path(shutil.copy(archive, tmp_path / "bad.backup"))
    backup_file.verify(path)
    damage(path)
    nowhere = embedded.Services(tmp_path / "untouched", "postgresql://nowhere", "", True, False)
    with pytest.raises(backup_file.BackupError, match=words):
        restore.restore(path, nowhere, force=True)
    assert not nowhere.data_dir.exists()


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small backup, without a database."""
    path = tmp_path_factory.mktemp("archive") / "small.backup"
    contents = {"files/secret-key": b"k" * 60, "database.dump": b"PGDMP" + bytes(500)}
    hashes = {}
    with zipfile.ZipFile(path, "w") as target:
        for name, content in contents.items():
            info = zipfile.ZipInfo(name)
            source = path.with_name("source")
            source.write_bytes(content)
            with source.open("rb") as stream:
                hashes[name] = backup._add(target, info, stream)
        manifest = backup_file.Manifest("0.2.0", "2026-11-22T20:00:00+00:00", 18, "", {}, hashes)
        target.writestr("manifest.json", json.dumps(vars(manifest)))
    return path


def test_a_site_that_holds_something_or_runs_is_kept(
    site: Site, target: embedded.Services, tmp_path: Path
) -> None:
    made = tmp_path / "site.backup"
    backup.back_up(made, site.services)
    (target.data_dir / "blobs").mkdir()
    (target.data_dir / "blobs" / "a").write_bytes(b"somebody's")
    with pytest.raises(backup_file.BackupError, match="--force"):
        restore.restore(made, target)
    with (
        psycopg.connect(target.database_url),
        pytest.raises(backup_file.BackupError, match="is running"),
    ):
        restore.restore(made, target, force=True)
    assert counts(target) == {}
    assert files(target.data_dir) == {"blobs/a": b"somebody's"}


def test_a_restore_that_fails_leaves_the_old_site_and_can_be_run_again(
    site: Site, target: embedded.Services, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = tmp_path / "site.backup"
    backup.back_up(made, site.services)
    with psycopg.connect(target.database_url) as database:
        database.execute("create table old (n int); insert into old values (7)")
        database.execute(FAIL_LATE)
    (target.data_dir / "secret-key").write_text("the old key")
    with pytest.raises(backup_file.BackupError, match="no index today"):
        restore.restore(made, target, force=True)
    assert counts(target) == {"old": 1}
    assert [path.name for path in target.data_dir.iterdir()] == ["secret-key"]
    assert (target.data_dir / "secret-key").read_text() == "the old key"
    with psycopg.connect(target.database_url) as database:
        database.execute("drop event trigger refuse; drop schema guard cascade")

    # killed when the database is committed and the files are about to take their places
    with monkeypatch.context() as killed:
        killed.setattr(restore, "_take_place", lambda data: (_ for _ in ()).throw(SystemExit))
        with pytest.raises(SystemExit):
            restore.restore(made, target, force=True)
    with override_settings(DATA_DIR=target.data_dir):
        assert [message.id for message in restore_is_complete()] == ["lookalike.E001"]
    restore.restore(made, target, force=True)
    with override_settings(DATA_DIR=target.data_dir):
        assert restore_is_complete() == []
    assert counts(target)["annotation_judgement"] == Judgement.objects.count()
    assert files(target.data_dir) == files(site.data)


@pytest.mark.daily
def test_a_drill_restores_a_backup_elsewhere_and_deletes_it(
    transactional_db: None, tmp_path: Path, settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = settings.DATA_DIR = tmp_path / "source"
    data.mkdir()
    (data / "secret-key").write_text("k" * 60)
    User.objects.create_user("judge", role=Role.ANNOTATOR)
    made = tmp_path / "site.backup"
    backup.back_up(made, services_of(str(connection.settings_dict["NAME"]), data))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert restore.drill(made) == 0
    assert files(data) == {"secret-key": b"k" * 60}
    cut(made)
    assert restore.drill(made) == 1
    assert list(tmp_path.glob("lookalike-drill-*")) == []


def test_a_site_whose_restore_was_cut_short_does_not_start(tmp_path: Path, settings) -> None:
    settings.DATA_DIR = tmp_path
    import_module("config.urls")  # as each start does
    (tmp_path / "restored").mkdir()
    with pytest.raises(SystemCheckError, match="restore FILE --force"):
        call_command("check")


def test_every_folder_of_the_data_folder_is_kept_or_made_anew() -> None:
    named = re.compile(r'DATA_DIR\)? / "([a-z-]+)"')
    folders = (path.parent for path in ROOT.glob("*/__init__.py"))
    sources = [path for folder in folders if folder.name not in {"tests", "benchmarks"}
               for path in folder.rglob("*.py")]  # fmt: skip
    used = {name for path in sources for name in named.findall(path.read_text())}
    assert {"blobs", "embeddings", "releases", "secret-key"} <= used
    assert used - set(backup.KEPT) <= {
        "crops",
        "engines",
        "fetched",
        "figures",
        "learning",
        "run",
        "static",
        restore.RESTORED,
    }


def test_the_password_is_on_no_command_line() -> None:
    url = "postgresql://me:s3cret@db.example:6000/site?sslmode=require"
    services = embedded.Services(Path(), url, "", False, False)
    assert "s3cret" not in backup.address_of(services)
    assert "sslmode=require" in backup.address_of(services)
    assert backup.password_of(services)["PGPASSWORD"] == "s3cret"


def test_a_program_fits_the_server_or_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for major in (16, 18):
        program = tmp_path / str(major) / "pg_dump"
        program.parent.mkdir()
        program.write_text(f"#!/bin/sh\necho 'pg_dump (PostgreSQL) {major}.2'\n")
        program.chmod(0o755)
    monkeypatch.setattr(postgres_programs, "_folders", lambda: iter(tmp_path.iterdir()))
    find = postgres_programs.folder_with
    assert find(["pg_dump"], 15, or_newer=True).name == "16"
    assert find(["pg_dump"], 17, or_newer=True).name == "18"
    with pytest.raises(postgres_programs.MissingProgramError, match="postgresql-client-19"):
        find(["pg_dump"], 19, or_newer=True)
    with pytest.raises(postgres_programs.MissingProgramError, match="pg_dump and psql"):
        find(["pg_dump", "psql"], 16)
