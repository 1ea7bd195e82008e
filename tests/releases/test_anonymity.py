"""No byte of a release names a judge: not in a file, a page of parquet, a path or the zip."""

from __future__ import annotations

import io
import json
import shutil
import struct
import uuid
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from django.db import connection

from accounts.models import User
from annotation.models import JudgementEvent, PanelMember
from lookalike.release.format.archive import write_archive
from lookalike.release.format.manifest import paths_in
from lookalike.release.format.tables import ROWS
from releases.models import Release
from releases.storage import archive_path, releases_folder
from tests.releases.conditional_world import add_templates, add_triplets
from tests.worlds import World, build_world, close_world, freeze_now, judge_world, request_for

Table = type[User] | type[PanelMember]
FIRST_ACCOUNT, FIRST_MEMBER = 918_273_645, 564_738_291  # numbers that stand nowhere by chance


@pytest.fixture
def world(transactional_db: None) -> Iterator[World]:
    """The usual world, whose judges have names, addresses and ids that cannot be mistaken."""
    shutil.rmtree(releases_folder(), ignore_errors=True)
    numbers: dict[Table, int] = {User: FIRST_ACCOUNT, PanelMember: FIRST_MEMBER}
    counted = {model: _last_number(model) for model in numbers}
    for model, number in numbers.items():
        _count_from(model, number)
    made = judge_world(build_world())
    for n, judge in enumerate(made.judges):
        judge.email = f"mail-of-{n}@judges.example.org"
        judge.first_name, judge.last_name = f"Ottoline{n}", f"Quillfeather{n}"
        judge.save()
    yield close_world(made)
    for model, number in counted.items():
        _count_from(model, number + 1)


def _last_number(model: Table) -> int:
    with connection.cursor() as cursor:
        cursor.execute(f"select last_value from {model._meta.db_table}_id_seq")  # noqa: S608
        return int(cursor.fetchone()[0])


def _count_from(model: Table, number: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"alter sequence {model._meta.db_table}_id_seq restart with {number}")


def words_of(judges: list[User]) -> list[bytes]:
    """All that could tell who a judge is, as text and as numbers in memory."""
    members = PanelMember.objects.filter(annotator__in=judges)
    texts, numbers = [], [*(judge.pk for judge in judges), *members.values_list("pk", flat=True)]
    for judge in judges:
        texts += [judge.get_username(), judge.email, judge.first_name, judge.last_name]
    given = [*JudgementEvent.objects.filter(member__in=members).values_list("uuid", flat=True)]
    words = [t.encode() for t in [*texts, *map(str, numbers), *map(str, given)] if t]
    words += [form for one in given for form in (one.hex.encode(), one.bytes)]
    return [*words, *(struct.pack("<i", number) for number in numbers)]


def contents(release: Path) -> Iterator[tuple[str, bytes]]:
    """Every byte of a folder and of a zip of it: as it is, unpacked, and without encodings."""
    for path in paths_in(release):
        yield path, path.encode()
        content = (release / path).read_bytes()
        yield path, content
        if path.endswith(".parquet"):
            yield f"pages of {path}", plain(content)
        if path.endswith(".zip"):
            with zipfile.ZipFile(release / path) as archive:
                for entry in archive.infolist():
                    yield f"{path} {entry.filename}", archive.read(entry)
                    if entry.filename.endswith(".parquet"):
                        yield f"{path} pages of {entry.filename}", plain(archive.read(entry))


def plain(content: bytes) -> bytes:
    """A parquet file again, with every value as it lies in memory."""
    out = io.BytesIO()
    pq.write_table(
        pq.read_table(io.BytesIO(content)), out, compression="none", use_dictionary=False,
        row_group_size=ROWS,
    )  # fmt: skip
    return out.getvalue()


def named_in(release: Path, words: list[bytes]) -> set[str]:
    """Where one of the words stands.

    Four bytes of a number stand in packed bytes by chance; there the pages tell, unpacked.
    """
    long = [word for word in words if len(word) > 4]
    return {
        place
        for place, content in contents(release)
        if any(w in content for w in (long if _is_packed(place) else words))
    }


def _is_packed(place: str) -> bool:
    return place.endswith((".parquet", ".zip")) and "pages of " not in place


def test_no_byte_of_a_release_names_a_judge(world: World) -> None:
    words = words_of(world.judges)
    assert len(words) > 3 * (4 + 2 * 2)
    assert str(FIRST_ACCOUNT).encode() in words
    verification = add_templates(world)
    add_triplets(world)
    words += words_of([seat.annotator for seat in verification.panel.all()])
    words += [b"Worker-7"]
    release = freeze_now(
        request_for(
            world, is_public=True, with_runs=True, template_sets=("focus",),
            triplet_sets=("triplets",),
        )
    )  # fmt: skip
    assert named_in(archive_path(release).parent, words) == set()
    judged = pq.read_table(archive_path(release).parent / "files/data/judgements.parquet")
    names = set(judged["annotator"].to_pylist())  # three of all whom the release names
    assert len(names) == 3
    assert names <= {f"a{number:02d}" for number in range(1, 10)}


def test_nor_does_a_release_with_hidden_labels(world: World) -> None:
    release = freeze_now(request_for(world, hidden_percent=50))
    assert named_in(archive_path(release).parent, words_of(world.judges)) == set()


Plant = Callable[[Path, World], None]


def in_csv(files: Path, world: World) -> None:
    with (files / "csv/judgements.csv").open("a") as file:
        file.write(f"{world.judges[0].get_username()}\n")


def in_json(files: Path, world: World) -> None:
    content = json.loads((files / "statistics.json").read_text())
    (files / "statistics.json").write_text(json.dumps({**content, "by": world.judges[1].email}))


def in_table(values: Callable[[World], object]) -> Plant:
    """Replace the judges' names in the table of judgements."""

    def plant(files: Path, world: World) -> None:
        path = files / "data/judgements.parquet"
        table = pq.read_table(path)
        column = pa.array([values(world)] * table.num_rows)
        at = table.schema.get_field_index("annotator")
        pq.write_table(table.set_column(at, "annotator", column), path, compression="zstd")

    return plant


def in_schema(files: Path, world: World) -> None:
    path = files / "data/labels.parquet"
    table = pq.read_table(path)
    pq.write_table(table.replace_schema_metadata({"by": world.judges[0].last_name}), path)


def in_name(files: Path, world: World) -> None:
    (files / f"guidelines/{world.judges[2].pk}.md").write_text("x")


PLANTS: dict[str, Plant] = {
    "a user name in a list": in_csv,
    "an address in a document": in_json,
    "a user name in a compressed page": in_table(lambda world: world.judges[0].get_username()),
    "an id in a compressed page": in_table(lambda world: world.judges[0].pk),
    "a seat in a compressed page": in_table(lambda world: FIRST_MEMBER),
    "an answer's uuid in a compressed page": in_table(
        lambda world: JudgementEvent.objects.latest("pk").uuid.bytes
    ),
    "a name beside the columns": in_schema,
    "an id in a file's name": in_name,
}


@pytest.mark.parametrize("name", PLANTS)
def test_a_judge_that_is_planted_is_found_in_the_folder_and_in_the_zip(
    world: World, tmp_path: Path, name: str
) -> None:
    release: Release = freeze_now(request_for(world))
    files = Path(shutil.copytree(archive_path(release).parent / "files", tmp_path / "files"))
    PLANTS[name](files, world)
    write_archive(files, tmp_path / "planted.zip", uuid.UUID(int=0).hex)
    words = words_of(world.judges)
    assert named_in(files, words), name
    assert any(place.startswith("planted.zip ") for place in named_in(tmp_path, words)) or any(
        word in (tmp_path / "planted.zip").read_bytes() for word in words
    )
